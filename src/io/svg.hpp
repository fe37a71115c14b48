/// \file
/// Pieces of SVG text.
#pragma once

#include <string>
#include <string_view>

namespace structmat::io::detail {

/// With at most two decimals, in every locale: "12", "0.5".
std::string coordinate(double x);

/// With three significant digits: "1.23e-15", "0".
std::string three_digits(double x);

/// Fit for XML text and attributes: markup is escaped, what XML 1.0 cannot hold (control
/// characters, bytes that are not UTF-8) becomes U+FFFD.
std::string escaped(std::string_view text);

/// The first `limit` characters of UTF-8 text, with an ellipsis if there are more.
std::string shortened(std::string_view text, std::size_t limit);

/// Collects elements. Numbers are in user units, colours and attributes in SVG's own words.
class Svg {
 public:
  Svg(double width, double height, std::string_view title);

  void open(std::string_view attributes);
  void close() { text_ += "</g>\n"; }
  void rect(double x, double y, double width, double height, std::string_view attributes);
  void path(std::string_view commands, std::string_view attributes);
  void line(double x0, double y0, double x1, double y1);
  /// `text` is escaped here.
  void text(double x, double y, std::string_view text, std::string_view attributes = {});
  /// Reads upwards, centred at (x, y).
  void vertical_text(double x, double y, std::string_view text);

  /// The whole file.
  std::string finish() && { return std::move(text_ += "</svg>\n"); }

 private:
  std::string text_;
};

}  // namespace structmat::io::detail
