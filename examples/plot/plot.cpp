#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "structmat/core/error.hpp"

namespace plot {
namespace {

constexpr double width = 900, height = 420, left = 60, right = 20, top = 40, bottom = 40;

/// Data to picture.
class Frame {
 public:
  Frame(double x0, double x1, double y0, double y1) : x0_(x0), x1_(x1), y0_(y0), y1_(y1) {}
  double x(double t) const { return left + (t - x0_) / (x1_ - x0_) * (width - left - right); }
  double y(double v) const {
    return height - bottom - (v - y0_) / (y1_ - y0_) * (height - top - bottom);
  }
  std::string point(double t, double v) const {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(1);
    text << std::fixed << x(t) << ',' << y(v) << ' ';
    return text.str();
  }

 private:
  double x0_, x1_, y0_, y1_;
};

double band_of(const Curve& curve, std::size_t i) {
  return curve.half_width.empty() ? 0 : curve.half_width[i];
}

Frame frame_of(const Picture& picture, double& y0, double& y1) {
  y0 = INFINITY, y1 = -INFINITY;
  for (const Curve& c : picture.curves) {
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (c.x[i] < picture.from || c.x[i] > picture.to) continue;
      y0 = std::min(y0, c.y[i] - band_of(c, i));
      y1 = std::max(y1, c.y[i] + band_of(c, i));
    }
  }
  return {picture.from, picture.to, y0, y1};
}

/// A distance between ticks of which about five fit.
double tick_distance(double span) {
  const double power = std::pow(10.0, std::floor(std::log10(span / 5)));
  const double ratio = span / 5 / power;
  return power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

void write_axes(std::ostream& out, const Frame& frame, const Picture& picture, double y0,
                double y1) {
  const auto text = [&](double x, double y, const char* anchor, double value) {
    out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">" << value
        << "</text>\n";
  };
  const double dx = tick_distance(picture.to - picture.from), dy = tick_distance(y1 - y0);
  for (double t = std::ceil(picture.from / dx) * dx; t <= picture.to; t += dx) {
    text(frame.x(t), height - bottom + 18, "middle", t);
  }
  for (double v = std::ceil(y0 / dy) * dy; v <= y1; v += dy) {
    out << "<path d=\"M" << left << ' ' << frame.y(v) << 'H' << width - right
        << "\" stroke=\"#ddd\"/>\n";
    text(left - 6, frame.y(v) + 4, "end", v);
  }
  out << "<text x=\"" << left << "\" y=\"24\">" << picture.title << "</text>\n";
}

void write_legend(std::ostream& out, const Picture& picture) {
  double y = top + 14;
  for (const Curve& c : picture.curves) {
    if (c.name.empty()) continue;
    out << "<text x=\"" << left + 10 << "\" y=\"" << y << "\" fill=\"" << c.colour << "\">"
        << c.name << "</text>\n";
    y += 16;
  }
}

void write_curve(std::ostream& out, const Frame& frame, const Curve& c) {
  std::string band, line;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    line += frame.point(c.x[i], c.y[i]);
    band += frame.point(c.x[i], c.y[i] + band_of(c, i));
  }
  for (std::size_t i = c.x.size(); i-- > 0;) band += frame.point(c.x[i], c.y[i] - band_of(c, i));
  if (!c.half_width.empty()) {
    out << "<polygon points=\"" << band << "\" fill=\"#9ecae1\" fill-opacity=\"0.6\"/>\n";
  }
  out << "<polyline points=\"" << line << "\" fill=\"none\" stroke=\"" << c.colour << "\"/>\n";
}

void write_dots(std::ostream& out, const Frame& frame, const Picture& picture, const Dots& dots) {
  out << "<g fill=\"" << dots.colour << "\">\n";
  for (std::size_t i = 0; i < dots.x.size(); ++i) {
    if (dots.x[i] < picture.from || dots.x[i] > picture.to) continue;
    out << "<circle cx=\"" << frame.x(dots.x[i]) << "\" cy=\"" << frame.y(dots.y[i])
        << "\" r=\"1.6\"/>\n";
  }
  out << "</g>\n";
}

}  // namespace

void write_svg(const std::filesystem::path& path, const Picture& picture) {
  double y0 = 0, y1 = 0;
  const Frame frame = frame_of(picture, y0, y1);
  std::ofstream out(path);
  out.imbue(std::locale::classic());
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  write_axes(out, frame, picture, y0, y1);
  for (const Curve& c : picture.curves) write_curve(out, frame, c);
  for (const Dots& d : picture.dots) write_dots(out, frame, picture, d);
  write_legend(out, picture);
  out << "</svg>\n";
  if (!out.flush()) throw structmat::FileError(path.string() + ": cannot write");
}

}  // namespace plot
