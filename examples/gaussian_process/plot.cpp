#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "structmat/core/error.hpp"

namespace gaussian_process {
namespace {

constexpr double width = 900, height = 420, left = 60, right = 20, top = 40, bottom = 40;

/// Data to picture.
class Frame {
 public:
  Frame(double t0, double t1, double y0, double y1) : t0_(t0), t1_(t1), y0_(y0), y1_(y1) {}
  double x(double t) const { return left + (t - t0_) / (t1_ - t0_) * (width - left - right); }
  double y(double v) const {
    return height - bottom - (v - y0_) / (y1_ - y0_) * (height - top - bottom);
  }

 private:
  double t0_, t1_, y0_, y1_;
};

std::string point(const Frame& frame, double t, double v) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(1);
  text << std::fixed << frame.x(t) << ',' << frame.y(v) << ' ';
  return text.str();
}

/// A distance between ticks of which about five fit.
double tick_distance(double span) {
  const double power = std::pow(10.0, std::floor(std::log10(span / 5)));
  const double ratio = span / 5 / power;
  return power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

void write_axes(std::ostream& out, const Frame& frame, const Plot& plot, double y0, double y1) {
  const auto text = [&](double x, double y, const char* anchor, double value) {
    out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">" << value
        << "</text>\n";
  };
  const double dt = tick_distance(plot.to - plot.from), dy = tick_distance(y1 - y0);
  for (double t = std::ceil(plot.from / dt) * dt; t <= plot.to; t += dt) {
    text(frame.x(t), height - bottom + 18, "middle", t);
  }
  for (double v = std::ceil(y0 / dy) * dy; v <= y1; v += dy) {
    out << "<path d=\"M" << left << ' ' << frame.y(v) << 'H' << width - right
        << "\" stroke=\"#ddd\"/>\n";
    text(left - 6, frame.y(v) + 4, "end", v);
  }
  out << "<text x=\"" << left << "\" y=\"24\">" << plot.title << "</text>\n";
}

void write_dots(std::ostream& out, const Frame& frame, const Plot& plot, const Series& series,
                const char* colour) {
  out << "<g fill=\"" << colour << "\">\n";
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    if (series.time[i] < plot.from || series.time[i] > plot.to) continue;
    out << "<circle cx=\"" << frame.x(series.time[i]) << "\" cy=\"" << frame.y(series.value[i])
        << "\" r=\"1.6\"/>\n";
  }
  out << "</g>\n";
}

}  // namespace

void write_svg(const std::filesystem::path& path, const Plot& plot) {
  const Curve& c = plot.curve;
  double y0 = INFINITY, y1 = -INFINITY;
  for (std::size_t i = 0; i < c.time.size(); ++i) {
    if (c.time[i] < plot.from || c.time[i] > plot.to) continue;
    y0 = std::min(y0, c.value[i] - c.half_width[i]);
    y1 = std::max(y1, c.value[i] + c.half_width[i]);
  }
  const Frame frame(plot.from, plot.to, y0, y1);
  std::string band, line;
  for (std::size_t i = 0; i < c.time.size(); ++i) {
    line += point(frame, c.time[i], c.value[i]);
    band += point(frame, c.time[i], c.value[i] + c.half_width[i]);
  }
  for (std::size_t i = c.time.size(); i-- > 0;) {
    band += point(frame, c.time[i], c.value[i] - c.half_width[i]);
  }

  std::ofstream out(path);
  out.imbue(std::locale::classic());
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  write_axes(out, frame, plot, y0, y1);
  out << "<polygon points=\"" << band << "\" fill=\"#9ecae1\" fill-opacity=\"0.6\"/>\n"
      << "<polyline points=\"" << line << "\" fill=\"none\" stroke=\"#08519c\"/>\n";
  write_dots(out, frame, plot, plot.seen, "#333");
  write_dots(out, frame, plot, plot.unseen, "#d94801");
  out << "</svg>\n";
  if (!out.flush()) throw structmat::FileError(path.string() + ": cannot write");
}

}  // namespace gaussian_process
