#include "structmat/io/matrix_market.hpp"

#include <charconv>
#include <cstdint>

#include "file_bytes.hpp"
#include "matrix_market_parser.hpp"
#include "structmat/io/atomic_file.hpp"

namespace structmat::io {

namespace {

constexpr const char* read_operation = "io::read_matrix_market";

using Parser = detail::MatrixMarketParser;
using Field = Parser::Field;

[[noreturn]] void not_exact(const Parser& parser) {
  parser.fail("the integer is beyond 2^53 and no double equals it");
}

template <Scalar T>
struct Numbers {
  using Value = T;
  using Matrix = Array<T, 2>;
  static constexpr bool is_complex = is_complex_v<T>;

  static Matrix zeros(index_t rows, index_t cols) { return Matrix({rows, cols}); }
  static T conjugated(T x) { return conjugate(x); }

  static T value(Parser& parser) {
    if constexpr (is_complex) {
      const auto re = parser.number<double>("the real part");
      return {re, parser.number<double>("the imaginary part")};
    } else {
      if (parser.field() == Field::pattern) return 1;
      if (parser.field() == Field::real) return parser.number<double>("the value");
      const auto integer = parser.number<std::int64_t>("the value");
      const auto result = static_cast<double>(integer);
      // 2^63 is the one rounded value that does not convert back.
      if (result >= 0x1p63 || static_cast<std::int64_t>(result) != integer) not_exact(parser);
      return result;
    }
  }

  static T sum(const Parser& parser, T a, T b) {
    const T s = a + b;
    if constexpr (!is_complex) {
      if (parser.field() == Field::integer && (s - a != b || s - b != a)) not_exact(parser);
    }
    return s;
  }
};

void append(std::string& text, double value) {
  char digits[32];
  const auto [end, code] = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, end);
}

template <Scalar T>
void write_matrix(const std::filesystem::path& path, const View<const T, 2>& matrix) {
  AtomicFile file(path, "io::write_matrix_market");
  file.write(std::string("%%MatrixMarket matrix array ") + (is_complex_v<T> ? "complex" : "real") +
             " general\n" + std::to_string(matrix.extent(0)) + " " +
             std::to_string(matrix.extent(1)) + "\n");
  std::string line;
  const index_t cols = matrix.empty() ? 0 : matrix.extent(1);
  for (index_t j = 0; j < cols; ++j) {
    for (index_t i = 0; i < matrix.extent(0); ++i) {
      line.clear();
      if constexpr (is_complex_v<T>) {
        append(line, matrix(i, j).real());
        line += ' ';
        append(line, matrix(i, j).imag());
      } else {
        append(line, matrix(i, j));
      }
      file.write(line += '\n');
    }
  }
  file.commit();
}

}  // namespace

DenseMatrix parse_matrix_market(std::span<const std::byte> bytes, const std::string& name,
                                const MatrixMarketOptions& options) {
  Parser parser(bytes, {read_operation, name}, options.limit_bytes);
  return parser.banner().field == Field::complex
             ? DenseMatrix(parser.body<Numbers<std::complex<double>>>())
             : DenseMatrix(parser.body<Numbers<double>>());
}

DenseMatrix read_matrix_market(const std::filesystem::path& path,
                               const MatrixMarketOptions& options) {
  const detail::FileBytes file(path, read_operation);
  return parse_matrix_market(file.bytes(), path.string(), options);
}

void write_matrix_market(const std::filesystem::path& path, View<const float, 2> matrix) {
  write_matrix(path, matrix);
}
void write_matrix_market(const std::filesystem::path& path, View<const double, 2> matrix) {
  write_matrix(path, matrix);
}
void write_matrix_market(const std::filesystem::path& path,
                         View<const std::complex<float>, 2> matrix) {
  write_matrix(path, matrix);
}
void write_matrix_market(const std::filesystem::path& path,
                         View<const std::complex<double>, 2> matrix) {
  write_matrix(path, matrix);
}

}  // namespace structmat::io
