#include "svg.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace structmat::io::detail {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Length in bytes of the UTF-8 character at the start of `text` if it is well formed and XML 1.0
/// has it, else 0.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r';
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool absent = code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF;
  return code < smallest[length] || surrogate || absent ? 0 : length;
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

}  // namespace

std::string coordinate(double x) {
  char digits[32];
  const double rounded = std::round(x * 100) / 100 + 0.0;
  const auto [end, code] = std::to_chars(digits, digits + sizeof digits, rounded);
  return {digits, end};
}

std::string three_digits(double x) {
  char digits[32];
  const auto [end, code] =
      std::to_chars(digits, digits + sizeof digits, x, std::chars_format::general, 3);
  return {digits, end};
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length);
    const std::string_view named = length == 1 ? entity(text[0]) : std::string_view{};
    result += length == 0 ? replacement : named.empty() ? character : named;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t limit) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts && ++characters > limit) return std::string(text.substr(0, i)) + "\u2026";
  }
  return std::string(text);
}

Svg::Svg(double width, double height, std::string_view title) {
  const std::string w = coordinate(width), h = coordinate(height);
  text_ =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"" +
      w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " + h +
      "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" "
      "fill=\"#1a1a1a\">\n<title>" +
      escaped(title) + "</title>\n";
  rect(0, 0, width, height, "fill=\"#ffffff\"");
}

void Svg::open(std::string_view attributes) {
  text_.append("<g ").append(attributes).append(">\n");
}

void Svg::rect(double x, double y, double width, double height, std::string_view attributes) {
  text_ += "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" width=\"" +
           coordinate(width) + "\" height=\"" + coordinate(height) + "\" ";
  text_.append(attributes).append("/>\n");
}

void Svg::path(std::string_view commands, std::string_view attributes) {
  text_.append("<path d=\"").append(commands).append("\" ").append(attributes).append("/>\n");
}

void Svg::line(double x0, double y0, double x1, double y1) {
  text_ += "<line x1=\"" + coordinate(x0) + "\" y1=\"" + coordinate(y0) + "\" x2=\"" +
           coordinate(x1) + "\" y2=\"" + coordinate(y1) + "\"/>\n";
}

void Svg::text(double x, double y, std::string_view text, std::string_view attributes) {
  text_ += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\"";
  if (!attributes.empty()) text_ += ' ';
  text_.append(attributes).append(">").append(escaped(text)).append("</text>\n");
}

void Svg::vertical_text(double x, double y, std::string_view text) {
  text_ += "<text text-anchor=\"middle\" transform=\"translate(" + coordinate(x) + " " +
           coordinate(y) + ") rotate(-90)\">" + escaped(text) + "</text>\n";
}

}  // namespace structmat::io::detail
