#include "heat_map.hpp"

#include <cstdio>

namespace structmat::io::detail {

namespace {

constexpr int levels = 24;
/// What lies further below the largest entry is rounding to it.
constexpr double most_decades = 16;

/// Level 0 (zero) is white, the last one a medium blue grey, so that coloured ranks stand out.
std::string grey(int level) {
  const double t = static_cast<double>(level) / (levels - 1);
  return rgb_colour({255 - 125 * t, 255 - 113 * t, 255 - 97 * t});
}

}  // namespace

std::string rgb_colour(const std::array<double, 3>& rgb) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned char>(std::lround(rgb[0])),
                static_cast<unsigned char>(std::lround(rgb[1])),
                static_cast<unsigned char>(std::lround(rgb[2])));
  return text;
}

void HeatMap::set_scale() {
  for (const double x : largest_) {
    if (x == 0) continue;
    const double decade = std::log10(x);
    low_ = all_zero_ ? decade : std::min(low_, decade);
    high_ = all_zero_ ? decade : std::max(high_, decade);
    all_zero_ = false;
  }
  cut_ = low_ < high_ - most_decades;
  if (cut_) low_ = high_ - most_decades;
  if (high_ - low_ < 1) low_ = high_ - 1;
}

/// 0 for zero, 1 to levels - 1 otherwise.
int HeatMap::level(double value) const {
  if (value == 0) return 0;
  const double t = std::clamp((std::log10(value) - low_) / (high_ - low_), 0.0, 1.0);
  return 1 + static_cast<int>(std::lround(t * (levels - 2)));
}

void HeatMap::draw(Svg& svg, double x, double y, double side) const {
  if (cells_ == 0) return;
  // One path a level: a stroke of one cell's height for each run of equal cells in a row.
  std::array<std::string, levels> runs;
  for (index_t i = 0; i < cells_; ++i) {
    const double* row = largest_.data() + i * cells_;
    for (index_t j = 0, end = 0; j < cells_; j = end) {
      const int l = level(row[j]);
      while (end < cells_ && level(row[end]) == l) ++end;
      runs[l] += "M" + std::to_string(j) + " " + std::to_string(i) + "h" + std::to_string(end - j);
    }
  }
  // Half a cell down: strokes are centred on their path.
  svg.open("class=\"entries\" fill=\"none\" shape-rendering=\"crispEdges\" transform=\"translate(" +
           coordinate(x) + " " + coordinate(y) + ") scale(" +
           std::to_string(side / static_cast<double>(cells_)) + ") translate(0 .5)\"");
  for (int l = 1; l < levels; ++l) {
    if (!runs[l].empty()) svg.path(runs[l], "stroke=\"" + grey(l) + "\"");
  }
  svg.close();
}

void HeatMap::draw_legend(Svg& svg, double x, double y, double width) const {
  if (all_zero_) {
    svg.text(x, y + 11, "all entries are zero");
    return;
  }
  const double step = width / (levels - 1);
  for (int l = 1; l < levels; ++l) {
    svg.rect(x + step * (l - 1), y, step + 0.3, 14, "fill=\"" + grey(l) + "\"");
  }
  svg.rect(x, y, width, 14, "fill=\"none\" stroke=\"#8c8c8c\"");
  const char* attributes = "text-anchor=\"middle\" font-size=\"12\"";
  svg.text(x, y + 28, (cut_ ? "\u2264 " : "") + three_digits(std::pow(10, low_)), attributes);
  svg.text(x + width, y + 28, three_digits(std::pow(10, high_)), attributes);
}

}  // namespace structmat::io::detail
