/// \file
/// Lines and numbers of text files, the same in every locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "source.hpp"

namespace structmat::io::detail {

inline constexpr std::string_view blanks = " \t\v\f";

inline std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Takes the next word off the front of `text`; empty when there is none.
inline std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

/// Takes the next line, without its end (LF or CR LF), off the front of a text.
class Lines {
 public:
  explicit Lines(std::span<const std::byte> bytes)
      : rest_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
  }

  /// Of the line that next() gave last, from 1.
  std::size_t number() const { return number_; }
  std::string place() const { return "line " + std::to_string(number_); }
  std::size_t bytes_left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

enum class NumberStatus { ok, malformed, out_of_range };

/// The whole word as a number; a leading plus sign is allowed. Real numbers may be nan and inf.
template <class T>
NumberStatus parse_number(std::string_view word, T& value) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  const char* const end = word.data() + word.size();
  const auto [stop, code] = std::from_chars(word.data(), end, value);
  if (code == std::errc::result_out_of_range) return NumberStatus::out_of_range;
  return code == std::errc() && stop == end ? NumberStatus::ok : NumberStatus::malformed;
}

}  // namespace structmat::io::detail
