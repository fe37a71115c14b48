/// \file
/// The grammar of Matrix Market files, for numbers of any kind.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "source.hpp"
#include "structmat/core/scalar.hpp"
#include "text.hpp"

namespace structmat::io::detail {

/// Reads one file. `Numbers` says what its numbers become:
///   Value, Matrix, is_complex, zeros(rows, cols) -> Matrix,
///   value(parser) -> Value: takes the next number off the line,
///   sum(parser, a, b) -> Value: of entries at the same place,
/// and, when complex, conjugated(x).
class MatrixMarketParser {
 public:
  enum class Field { real, integer, complex, pattern };
  enum class Symmetry { general, symmetric, skew_symmetric, hermitian };
  struct Banner {
    bool coordinate = false;
    Field field = Field::real;
    Symmetry symmetry = Symmetry::general;
  };

  /// A matrix of more than `limit_bytes` is refused.
  MatrixMarketParser(std::span<const std::byte> bytes, Source source, std::size_t limit_bytes)
      : lines_(bytes), source_(std::move(source)), limit_bytes_(limit_bytes) {}

  /// Reads the first line.
  const Banner& banner() {
    if (!lines_.next(line_)) source_.fail("line 1", "the file is empty");
    const std::string_view first = next_word(line_);
    if (first != "%%MatrixMarket") fail("not a Matrix Market file (no %%MatrixMarket)");
    const auto next = [&] { return std::string(next_word(line_)); };

    const std::string object = next();
    const bool is_matrix =
        choose<bool>("the object", object, {{"matrix", true}, {"vector", false}});
    if (!is_matrix) fail<Unsupported>("objects of kind \"vector\" are not read");
    banner_.coordinate =
        choose<bool>("the format", next(), {{"array", false}, {"coordinate", true}});
    banner_.field = choose<Field>("the field", next(),
                                  {{"real", Field::real},
                                   {"double", Field::real},
                                   {"integer", Field::integer},
                                   {"complex", Field::complex},
                                   {"pattern", Field::pattern}});
    banner_.symmetry = choose<Symmetry>("the symmetry", next(),
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
    return banner_;
  }

  /// Reads what follows the first line.
  template <class Numbers>
  typename Numbers::Matrix body() {
    if (!advance()) fail("the file ends before the line of sizes");
    const index_t rows = extent("the number of rows");
    const index_t cols = extent("the number of columns");
    const index_t entries = banner_.coordinate ? extent("the number of entries") : 0;
    expect_end();
    if (banner_.symmetry != Symmetry::general && rows != cols) {
      fail(std::to_string(rows) + " x " + std::to_string(cols) +
           " is not square, as its symmetry demands");
    }
    check_dense_size<Numbers>(rows, cols);
    typename Numbers::Matrix result =
        banner_.coordinate ? coordinate<Numbers>(rows, cols, entries) : array<Numbers>(rows, cols);
    if (advance()) fail("text follows the last entry");
    return result;
  }

  Field field() const { return banner_.field; }

  /// Throws E with the place reached.
  template <class E = FileError>
  [[noreturn]] void fail(const std::string& reason) const {
    source_.fail<E>(lines_.place(), reason);
  }

  /// The next word of the line. `what` stands for it in messages.
  std::string_view word(const char* what) {
    const std::string_view text = next_word(line_);
    if (text.empty()) fail(std::string(what) + " is missing");
    return text;
  }

  /// The next word of the line as a number.
  template <class Number>
  Number number(const char* what) {
    const std::string_view text = word(what);
    Number value = 0;
    switch (parse_number(text, value)) {
      case NumberStatus::ok:
        return value;
      case NumberStatus::malformed:
        fail(std::string(what) + " is " + excerpt(text) + ", which is not " +
             (std::is_integral_v<Number> ? "an integer" : "a number"));
      case NumberStatus::out_of_range:
        break;
    }
    fail(std::string(what) + " is " + excerpt(text) + ", outside the range of " +
         (std::is_integral_v<Number> ? "64-bit integers" : "double"));
  }

 private:
  template <class Value>
  Value choose(const char* what, std::string text,
               std::initializer_list<std::pair<std::string_view, Value>> choices) const {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    std::string all;
    for (const auto& [name, value] : choices) {
      if (text == name) return value;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    fail(std::string(what) + " is " + excerpt(text) + "; read are " + all);
  }

  /// Goes to the next line that is neither blank nor a comment.
  bool advance() {
    while (lines_.next(line_)) {
      line_ = trim(line_);
      if (!line_.empty() && line_.front() != '%') return true;
    }
    return false;
  }

  void expect_end() {
    const std::string_view rest = next_word(line_);
    if (!rest.empty()) fail("unexpected " + excerpt(rest) + " at the end");
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

  template <class Numbers>
  void check_dense_size(index_t rows, index_t cols) const {
    index_t bytes = 0;
    if (__builtin_mul_overflow(rows, cols, &bytes) ||
        __builtin_mul_overflow(bytes, static_cast<index_t>(sizeof(typename Numbers::Value)),
                               &bytes) ||
        static_cast<std::size_t>(bytes) > limit_bytes_) {
      fail("a dense matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
           " exceeds the limit of " + std::to_string(limit_bytes_) + " bytes");
    }
  }

  /// `shortest`: bytes of the shortest entry with its line end, which the last line may lack.
  void check_entries(index_t entries, index_t shortest) const {
    if (entries > static_cast<index_t>(lines_.bytes_left() + 1) / shortest) {
      fail(std::to_string(entries) + " entries cannot be in the " +
           std::to_string(lines_.bytes_left()) + " bytes that follow");
    }
  }

  void next_entry(index_t done, const std::string& all) {
    if (!advance()) {
      fail("the file ends after " + std::to_string(done) + " of " + all + " entries");
    }
  }

  template <class Numbers>
  typename Numbers::Matrix coordinate(index_t rows, index_t cols, index_t entries) {
    const index_t shortest = 4 + 2 * (banner_.field != Field::pattern) + 2 * Numbers::is_complex;
    check_entries(entries, shortest);
    typename Numbers::Matrix result = Numbers::zeros(rows, cols);
    for (index_t k = 0; k < entries; ++k) {
      next_entry(k, std::to_string(entries));
      const index_t i = index("the row", rows);
      const index_t j = index("the column", cols);
      if (banner_.symmetry != Symmetry::general && i < j) {
        fail("an entry above the diagonal, in a matrix that is given by its lower triangle");
      }
      put<Numbers>(result, i, j, Numbers::sum(*this, result(i, j), Numbers::value(*this)));
      expect_end();
    }
    return result;
  }

  template <class Numbers>
  typename Numbers::Matrix array(index_t rows, index_t cols) {
    const bool triangle = banner_.symmetry != Symmetry::general;
    const bool strict = banner_.symmetry == Symmetry::skew_symmetric;
    const index_t entries = triangle ? rows * (strict ? rows - 1 : rows + 1) / 2 : rows * cols;
    check_entries(entries, Numbers::is_complex ? 4 : 2);
    typename Numbers::Matrix result = Numbers::zeros(rows, cols);
    if (entries == 0) return result;  // 0 rows can have 10^18 columns to walk through
    index_t done = 0;
    for (index_t j = 0; j < cols; ++j) {
      for (index_t i = triangle ? j + strict : 0; i < rows; ++i) {
        next_entry(done++, std::to_string(entries));
        put<Numbers>(result, i, j, Numbers::value(*this));
        expect_end();
      }
    }
    return result;
  }

  /// Sets an entry, and its mirror image where the symmetry asks for one.
  template <class Numbers>
  void put(typename Numbers::Matrix& matrix, index_t i, index_t j,
           const typename Numbers::Value& x) const {
    if (i == j && banner_.symmetry == Symmetry::skew_symmetric && x != typename Numbers::Value(0)) {
      fail("the diagonal of a skew-symmetric matrix is zero");
    }
    if constexpr (Numbers::is_complex) {
      if (i == j && banner_.symmetry == Symmetry::hermitian && x.imag() != 0) {
        fail("the diagonal of a hermitian matrix is real");
      }
    }
    matrix(i, j) = x;
    if (i == j || banner_.symmetry == Symmetry::general) return;
    if constexpr (Numbers::is_complex) {
      if (banner_.symmetry == Symmetry::hermitian) {
        matrix(j, i) = Numbers::conjugated(x);
        return;
      }
    }
    matrix(j, i) = banner_.symmetry == Symmetry::skew_symmetric ? -x : x;
  }

  Lines lines_;
  Source source_;
  std::size_t limit_bytes_;
  std::string_view line_;
  Banner banner_;
};

}  // namespace structmat::io::detail
