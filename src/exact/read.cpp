#include "structmat/exact/read.hpp"

#include <optional>

#include "io/file_bytes.hpp"
#include "io/matrix_market_parser.hpp"
#include "structmat/exact/convert.hpp"
#include "structmat/io/npy.hpp"

namespace structmat::exact {
namespace {

using io::detail::excerpt;
using Parser = io::detail::MatrixMarketParser;

constexpr const char* operation = "exact::read_matrix";

std::optional<Rational> number(std::string_view text) {
  try {
    return Rational::parse(text);
  } catch (const DomainError&) {
    return std::nullopt;
  }
}

std::string not_a_number(std::string_view text) {
  return excerpt(text) + " is not a number (expected 3, -3/4, 0.125, 1e-3)";
}

/// What MatrixMarketParser asks for.
struct Numbers {
  using Value = Rational;
  using Matrix = exact::Matrix<RationalField>;
  static constexpr bool is_complex = false;

  static Matrix zeros(index_t rows, index_t cols) { return {{}, rows, cols}; }

  static Rational value(Parser& parser) {
    if (parser.field() == Parser::Field::pattern) return Rational(1);
    const std::string_view text = parser.word("the value");
    if (parser.field() == Parser::Field::integer &&
        text.find_first_not_of("+-0123456789") != std::string_view::npos) {
      parser.fail("the value is " + excerpt(text) + ", which is not an integer");
    }
    auto result = number(text);
    if (!result) parser.fail(not_a_number(text));
    return std::move(*result);
  }

  static Rational sum(const Parser&, const Rational& a, const Rational& b) { return a + b; }
};

/// Rows of numbers.
class Text {
 public:
  Text(std::span<const std::byte> bytes, io::detail::Source source)
      : lines_(bytes), source_(std::move(source)) {}

  Matrix<RationalField> matrix() {
    std::vector<Rational> values;
    index_t rows = 0, cols = 0;
    for (std::string_view line; lines_.next(line);) {
      constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
      if (lines_.number() == 1 && line.starts_with(byte_order_mark)) {
        line.remove_prefix(byte_order_mark.size());
      }
      line = io::detail::trim(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      const std::size_t before = values.size();
      append(line, values);
      const auto width = static_cast<index_t>(values.size() - before);
      if (rows == 0) cols = width;
      if (width != cols) {
        fail("the row has " + std::to_string(width) + " numbers, the first one " +
             std::to_string(cols));
      }
      ++rows;
    }
    if (rows == 0) source_.fail("line 1", "the file has no numbers");
    Matrix<RationalField> result({}, rows, cols);
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < cols; ++j) result(i, j) = std::move(values[i * cols + j]);
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { source_.fail(lines_.place(), reason); }

  /// Commas or semicolons, where there are any, separate; else blanks do.
  void append(std::string_view line, std::vector<Rational>& values) const {
    const auto take = [&](std::string_view field) {
      auto value = number(field);
      if (!value) fail(not_a_number(field));
      values.push_back(std::move(*value));
    };
    if (line.find_first_of(",;") == std::string_view::npos) {
      while (!line.empty()) take(io::detail::next_word(line));
      return;
    }
    for (;;) {
      const std::size_t end = line.find_first_of(",;");
      const std::string_view field = io::detail::trim(line.substr(0, end));
      if (field.empty()) fail("a number is missing between separators");
      take(field);
      if (end == std::string_view::npos) return;
      line.remove_prefix(end + 1);
    }
  }

  io::detail::Lines lines_;
  io::detail::Source source_;
};

Matrix<RationalField> from_npy(std::span<const std::byte> bytes, const std::string& name) {
  io::DenseMatrix matrix = io::parse_npy(bytes, name);
  const bool is_complex =
      std::visit([]<Scalar T>(const Array<T, 2>&) { return is_complex_v<T>; }, matrix);
  if (is_complex) {
    throw Unsupported(std::string(operation) + ": " + name + ": complex matrices are not read");
  }
  return from_double(io::convert<double>(std::move(matrix)));
}

}  // namespace

Matrix<RationalField> parse_matrix(std::span<const std::byte> bytes, const std::string& name,
                                   const ReadOptions& options) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\x93NUMPY")) return from_npy(bytes, name);
  if (!text.starts_with("%%MatrixMarket")) return Text(bytes, {operation, name}).matrix();
  Parser parser(bytes, {operation, name}, options.limit_bytes);
  if (parser.banner().field == Parser::Field::complex) {
    parser.fail<Unsupported>("complex matrices are not read");
  }
  return parser.body<Numbers>();
}

Matrix<RationalField> read_matrix(const std::filesystem::path& path, const ReadOptions& options) {
  const io::detail::FileBytes file(path, operation);
  return parse_matrix(file.bytes(), path.string(), options);
}

}  // namespace structmat::exact
