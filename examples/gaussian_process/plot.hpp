/// \file
/// A picture of a series, its prediction and the error band.
#pragma once

#include <filesystem>
#include <string>

#include "model.hpp"

namespace gaussian_process {

struct Curve {
  std::vector<double> time, value, half_width;  ///< the band is value +- half_width
};

struct Plot {
  std::string title;
  Series seen, unseen;  ///< what the model knew, and what it did not
  Curve curve;
  double from, to;  ///< times shown
};

/// Writes SVG. Throws structmat::FileError.
void write_svg(const std::filesystem::path& path, const Plot& plot);

}  // namespace gaussian_process
