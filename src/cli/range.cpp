#include "range.hpp"

#include <fmt/format.h>

#include <charconv>

#include "command.hpp"

namespace structmat::cli {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view reason) {
  throw UsageError(fmt::format("\"{}\": {}", text, reason));
}

index_t parse_count(std::string_view text, std::string_view item) {
  index_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stop != end) {
    refuse(item, "expected NUMBER, FIRST-LAST, FIRST-LAST*FACTOR or FIRST-LAST+STEP");
  }
  if (value < 1) refuse(item, "numbers must be at least 1");
  return value;
}

void append_item(std::string_view item, std::vector<index_t>& values) {
  constexpr std::size_t most = 1000;
  const std::size_t dash = item.find('-');
  const std::size_t sign = item.find_first_of("*+");
  const index_t first = parse_count(item.substr(0, dash), item);
  index_t last = first, step = 1;
  if (dash != std::string_view::npos) {
    last = parse_count(
        item.substr(dash + 1, sign == std::string_view::npos ? sign : sign - dash - 1), item);
    if (last < first) refuse(item, "the last number is below the first");
    if (sign != std::string_view::npos) step = parse_count(item.substr(sign + 1), item);
  }
  const bool multiply = sign != std::string_view::npos && item[sign] == '*';
  if (multiply && step == 1) refuse(item, "the factor must be at least 2");
  for (index_t value = first; value <= last;) {
    if (values.size() == most) refuse(item, "more than 1000 numbers");
    values.push_back(value);
    const bool overflow = multiply ? __builtin_mul_overflow(value, step, &value)
                                   : __builtin_add_overflow(value, step, &value);
    if (overflow) break;
  }
}

}  // namespace

std::vector<index_t> parse_range(std::string_view text) {
  std::vector<index_t> values;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    append_item(rest.substr(0, comma), values);
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace structmat::cli
