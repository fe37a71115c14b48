#include "structmat/io/csv.hpp"

#include <cmath>
#include <limits>

#include "file_bytes.hpp"
#include "source.hpp"
#include "text.hpp"

namespace structmat::io {

namespace {

using detail::NumberStatus;

constexpr const char* read_operation = "io::read_columns";

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, detail::Source source, const ColumnsOptions& options)
      : lines_(bytes), source_(std::move(source)), options_(options) {}

  Columns columns() {
    Columns result;
    bool first = true;
    for (std::string_view line; lines_.next(line);) {
      constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
      if (lines_.number() == 1 && line.starts_with(byte_order_mark)) {
        line.remove_prefix(byte_order_mark.size());
      }
      line = detail::trim(without_comment(line));
      if (line.empty()) continue;
      if (first) separator_ = separator_of(line);
      split(line);
      if (first) result.values.resize(fields_.size());
      if (first && is_header()) {
        result.names = fields_;
      } else {
        append_row(result);
      }
      first = false;
    }
    if (first) source_.fail("line 1", "the file has no columns");
    return result;
  }

 private:
  [[noreturn]] void fail(std::size_t column, const std::string& reason) const {
    source_.fail(lines_.place() + ", column " + std::to_string(column + 1), reason);
  }

  static std::string_view without_comment(std::string_view line) {
    bool in_quotes = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') in_quotes = !in_quotes;
      if (line[i] == '#' && !in_quotes) return line.substr(0, i);
    }
    return line;
  }

  /// A blank stands for a run of any blanks.
  static char separator_of(std::string_view line) {
    bool in_quotes = false, comma = false;
    for (char c : line) {
      if (c == '"') in_quotes = !in_quotes;
      if (c == ';' && !in_quotes) return ';';
      if (c == ',' && !in_quotes) comma = true;
    }
    return comma ? ',' : ' ';
  }

  bool separates(char c) const {
    return separator_ == ' ' ? detail::blanks.find(c) != std::string_view::npos : c == separator_;
  }

  void split(std::string_view line) {
    fields_.clear();
    for (;;) {
      fields_.push_back(line.starts_with('"') ? take_quoted(line) : take_plain(line));
      if (line.empty()) return;
      line.remove_prefix(1);  // the separator
      line.remove_prefix(std::min(line.find_first_not_of(detail::blanks), line.size()));
    }
  }

  std::string take_plain(std::string_view& line) const {
    std::size_t end = 0;
    while (end < line.size() && !separates(line[end])) ++end;
    const std::string_view field = detail::trim(line.substr(0, end));
    line.remove_prefix(end);
    return std::string(field);
  }

  /// A doubled quote inside stands for one.
  std::string take_quoted(std::string_view& line) const {
    std::string field;
    std::size_t at = 1;
    for (;; ++at) {
      if (at == line.size()) fail(fields_.size(), "the quoted field does not end");
      if (line[at] == '"' && line.substr(at + 1).starts_with('"')) {
        ++at;
      } else if (line[at] == '"') {
        break;
      }
      field += line[at];
    }
    line.remove_prefix(at + 1);
    while (!line.empty() && !separates(line.front())) {
      if (detail::blanks.find(line.front()) == std::string_view::npos) {
        fail(fields_.size(), "text follows the closing quote");
      }
      line.remove_prefix(1);
    }
    return field;
  }

  bool is_header() const {
    for (const std::string& field : fields_) {
      double value = 0;
      if (field.empty() || detail::parse_number(field, value) != NumberStatus::malformed) {
        return false;
      }
    }
    return true;
  }

  double number(std::size_t column) const {
    const std::string& field = fields_[column];
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!field.empty()) {
      switch (detail::parse_number(field, value)) {
        case NumberStatus::ok:
          break;
        case NumberStatus::malformed:
          fail(column, detail::excerpt(field) + " is not a number");
        case NumberStatus::out_of_range:
          fail(column, detail::excerpt(field) + " is outside the range of double");
      }
    }
    if (std::isnan(value) && options_.missing == Missing::refuse) {
      fail(column, field.empty() ? "the field is empty" : "the value is not a number (NaN)");
    }
    if (std::isinf(value) && !options_.allow_infinite) fail(column, "the value is infinite");
    return value;
  }

  void append_row(Columns& result) {
    const std::size_t width = result.values.size();
    if (fields_.size() != width) {
      fail(std::min(width, fields_.size()), "the line has " + std::to_string(fields_.size()) +
                                                " fields, the first one " + std::to_string(width));
    }
    row_.resize(width);
    bool complete = true;
    for (std::size_t j = 0; j < width; ++j) {
      row_[j] = number(j);
      complete = complete && !std::isnan(row_[j]);
    }
    if (!complete && options_.missing == Missing::skip_row) return;
    for (std::size_t j = 0; j < width; ++j) result.values[j].push_back(row_[j]);
  }

  detail::Lines lines_;
  detail::Source source_;
  ColumnsOptions options_;
  char separator_ = ' ';
  std::vector<std::string> fields_;  // of the current line
  std::vector<double> row_;
};

}  // namespace

Columns parse_columns(std::span<const std::byte> bytes, const std::string& name,
                      const ColumnsOptions& options) {
  return Parser(bytes, {read_operation, name}, options).columns();
}

Columns read_columns(const std::filesystem::path& path, const ColumnsOptions& options) {
  const detail::FileBytes file(path, read_operation);
  return parse_columns(file.bytes(), path.string(), options);
}

}  // namespace structmat::io
