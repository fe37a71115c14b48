/// \file
/// A picture of curves, bands and dots over one axis.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace plot {

struct Curve {
  std::vector<double> x, y;
  std::string colour = "#08519c";
  std::vector<double> half_width{};  ///< a band y +- half_width; none if empty
  std::string name{};                ///< of the legend; none if empty
};

struct Dots {
  std::vector<double> x, y;
  std::string colour = "#333";
};

/// The vertical axis spans the curves with their bands.
struct Picture {
  std::string title;
  std::vector<Curve> curves;
  std::vector<Dots> dots;
  double from, to;  ///< what is shown of the horizontal axis
};

/// Writes SVG. Throws structmat::FileError.
void write_svg(const std::filesystem::path& path, const Picture& picture);

}  // namespace plot
