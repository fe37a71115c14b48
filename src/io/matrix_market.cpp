#include "structmat/io/matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "file_bytes.hpp"
#include "source.hpp"
#include "structmat/io/atomic_file.hpp"
#include "text.hpp"

namespace structmat::io {

namespace {

using detail::excerpt;
using detail::Lines;
using detail::NumberStatus;
using detail::Source;

constexpr const char* read_operation = "io::read_matrix_market";

enum class Field { real, integer, complex, pattern };
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

struct Banner {
  bool coordinate = false;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, Source source, const MatrixMarketOptions& options)
      : lines_(bytes), source_(std::move(source)), options_(options) {}

  DenseMatrix matrix() {
    banner();
    return banner_.field == Field::complex ? DenseMatrix(body<std::complex<double>>())
                                           : DenseMatrix(body<double>());
  }

 private:
  template <class E = FileError>
  [[noreturn]] void fail(const std::string& reason) const {
    source_.fail<E>(lines_.place(), reason);
  }

  template <class Value>
  Value choose(const char* what, std::string word,
               std::initializer_list<std::pair<std::string_view, Value>> choices) const {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    std::string all;
    for (const auto& [name, value] : choices) {
      if (word == name) return value;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    fail(std::string(what) + " is " + excerpt(word) + "; read are " + all);
  }

  void banner() {
    if (!lines_.next(line_)) source_.fail("line 1", "the file is empty");
    const std::string_view first = detail::next_word(line_);
    if (first != "%%MatrixMarket") fail("not a Matrix Market file (no %%MatrixMarket)");
    const auto word = [&] { return std::string(detail::next_word(line_)); };

    const std::string object = word();
    const bool is_matrix =
        choose<bool>("the object", object, {{"matrix", true}, {"vector", false}});
    if (!is_matrix) fail<Unsupported>("objects of kind \"vector\" are not read");
    banner_.coordinate =
        choose<bool>("the format", word(), {{"array", false}, {"coordinate", true}});
    banner_.field = choose<Field>("the field", word(),
                                  {{"real", Field::real},
                                   {"double", Field::real},
                                   {"integer", Field::integer},
                                   {"complex", Field::complex},
                                   {"pattern", Field::pattern}});
    banner_.symmetry = choose<Symmetry>("the symmetry", word(),
                                        {{"general", Symmetry::general},
                                         {"symmetric", Symmetry::symmetric},
                                         {"skew-symmetric", Symmetry::skew_symmetric},
                                         {"hermitian", Symmetry::hermitian}});
    expect_end();
    const bool pattern = banner_.field == Field::pattern;
    if (pattern && !banner_.coordinate) fail("an array cannot be a pattern");
    if (pattern && banner_.symmetry == Symmetry::skew_symmetric) {
      fail("a pattern cannot be skew-symmetric");
    }
    if (banner_.symmetry == Symmetry::hermitian && banner_.field != Field::complex) {
      fail("a hermitian matrix must be complex");
    }
  }

  /// Goes to the next line that is neither blank nor a comment.
  bool advance() {
    while (lines_.next(line_)) {
      line_ = detail::trim(line_);
      if (!line_.empty() && line_.front() != '%') return true;
    }
    return false;
  }

  void expect_end() {
    const std::string_view word = detail::next_word(line_);
    if (!word.empty()) fail("unexpected " + excerpt(word) + " at the end");
  }

  template <class Number>
  Number number(const char* what) {
    const std::string_view word = detail::next_word(line_);
    if (word.empty()) fail(std::string(what) + " is missing");
    Number value = 0;
    switch (detail::parse_number(word, value)) {
      case NumberStatus::ok:
        return value;
      case NumberStatus::malformed:
        fail(std::string(what) + " is " + excerpt(word) + ", which is not " +
             (std::is_integral_v<Number> ? "an integer" : "a number"));
      case NumberStatus::out_of_range:
        break;
    }
    fail(std::string(what) + " is " + excerpt(word) + ", outside the range of " +
         (std::is_integral_v<Number> ? "64-bit integers" : "double"));
  }

  index_t extent(const char* what) {
    const auto value = number<index_t>(what);
    if (value < 0) fail(std::string(what) + " is negative");
    return value;
  }

  index_t index(const char* what, index_t end) {
    const auto value = number<index_t>(what);
    if (value < 1 || value > end) {
      fail(std::string(what) + " " + std::to_string(value) + " is not between 1 and " +
           std::to_string(end));
    }
    return value - 1;
  }

  template <Scalar T>
  T value() {
    if constexpr (is_complex_v<T>) {
      const auto re = number<double>("the real part");
      return {re, number<double>("the imaginary part")};
    } else {
      if (banner_.field == Field::pattern) return 1;
      if (banner_.field == Field::real) return number<double>("the value");
      const auto integer = number<std::int64_t>("the value");
      const auto result = static_cast<double>(integer);
      // 2^63 is the one rounded value that does not convert back.
      if (result >= 0x1p63 || static_cast<std::int64_t>(result) != integer) not_exact();
      return result;
    }
  }

  [[noreturn]] void not_exact() const {
    fail("the integer is beyond 2^53 and no double equals it");
  }

  template <Scalar T>
  T sum(T a, T b) const {
    const T s = a + b;
    if constexpr (!is_complex_v<T>) {
      if (banner_.field == Field::integer && (s - a != b || s - b != a)) not_exact();
    }
    return s;
  }

  template <Scalar T>
  void check_dense_size(index_t rows, index_t cols) const {
    index_t bytes = 0;
    if (__builtin_mul_overflow(rows, cols, &bytes) ||
        __builtin_mul_overflow(bytes, static_cast<index_t>(sizeof(T)), &bytes) ||
        static_cast<std::size_t>(bytes) > options_.limit_bytes) {
      fail("a dense matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
           " exceeds the limit of " + std::to_string(options_.limit_bytes) + " bytes");
    }
  }

  /// `shortest`: bytes of the shortest entry with its line end, which the last line may lack.
  void check_entries(index_t entries, index_t shortest) const {
    if (entries > static_cast<index_t>(lines_.bytes_left() + 1) / shortest) {
      fail(std::to_string(entries) + " entries cannot be in the " +
           std::to_string(lines_.bytes_left()) + " bytes that follow");
    }
  }

  template <Scalar T>
  Array<T, 2> body() {
    if (!advance()) fail("the file ends before the line of sizes");
    const index_t rows = extent("the number of rows");
    const index_t cols = extent("the number of columns");
    const index_t entries = banner_.coordinate ? extent("the number of entries") : 0;
    expect_end();
    if (banner_.symmetry != Symmetry::general && rows != cols) {
      fail(std::to_string(rows) + " x " + std::to_string(cols) +
           " is not square, as its symmetry demands");
    }
    check_dense_size<T>(rows, cols);
    Array<T, 2> result =
        banner_.coordinate ? coordinate<T>(rows, cols, entries) : array<T>(rows, cols);
    if (advance()) fail("text follows the last entry");
    return result;
  }

  void next_entry(index_t done, const std::string& all) {
    if (!advance()) {
      fail("the file ends after " + std::to_string(done) + " of " + all + " entries");
    }
  }

  template <Scalar T>
  Array<T, 2> coordinate(index_t rows, index_t cols, index_t entries) {
    const index_t shortest = 4 + 2 * (banner_.field != Field::pattern) + 2 * is_complex_v<T>;
    check_entries(entries, shortest);
    Array<T, 2> result({rows, cols});
    for (index_t k = 0; k < entries; ++k) {
      next_entry(k, std::to_string(entries));
      const index_t i = index("the row", rows);
      const index_t j = index("the column", cols);
      if (banner_.symmetry != Symmetry::general && i < j) {
        fail("an entry above the diagonal, in a matrix that is given by its lower triangle");
      }
      put(result, i, j, sum(result(i, j), value<T>()));
      expect_end();
    }
    return result;
  }

  template <Scalar T>
  Array<T, 2> array(index_t rows, index_t cols) {
    const bool triangle = banner_.symmetry != Symmetry::general;
    const bool strict = banner_.symmetry == Symmetry::skew_symmetric;
    const index_t entries = triangle ? rows * (strict ? rows - 1 : rows + 1) / 2 : rows * cols;
    check_entries(entries, is_complex_v<T> ? 4 : 2);
    Array<T, 2> result({rows, cols});
    if (entries == 0) return result;  // 0 rows can have 10^18 columns to walk through
    index_t done = 0;
    for (index_t j = 0; j < cols; ++j) {
      for (index_t i = triangle ? j + strict : 0; i < rows; ++i) {
        next_entry(done++, std::to_string(entries));
        put(result, i, j, value<T>());
        expect_end();
      }
    }
    return result;
  }

  /// Sets an entry, and its mirror image where the symmetry asks for one.
  template <Scalar T>
  void put(Array<T, 2>& matrix, index_t i, index_t j, T x) const {
    if (i == j && banner_.symmetry == Symmetry::skew_symmetric && x != T(0)) {
      fail("the diagonal of a skew-symmetric matrix is zero");
    }
    if constexpr (is_complex_v<T>) {
      if (i == j && banner_.symmetry == Symmetry::hermitian && x.imag() != 0) {
        fail("the diagonal of a hermitian matrix is real");
      }
    }
    matrix(i, j) = x;
    if (i == j || banner_.symmetry == Symmetry::general) return;
    matrix(j, i) = banner_.symmetry == Symmetry::symmetric        ? x
                   : banner_.symmetry == Symmetry::skew_symmetric ? -x
                                                                  : conjugate(x);
  }

  Lines lines_;
  Source source_;
  MatrixMarketOptions options_;
  std::string_view line_;
  Banner banner_;
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
  return Parser(bytes, {read_operation, name}, options).matrix();
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
