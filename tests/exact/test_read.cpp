#include "structmat/exact/read.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "structmat/exact/convert.hpp"
#include "structmat/io/npy.hpp"
#include "support/files.hpp"

using namespace structmat;
using namespace structmat::exact;

namespace {

Matrix<RationalField> parse(const std::string& text) {
  return parse_matrix(std::as_bytes(std::span(text)), "m.txt", {.limit_bytes = 1 << 16});
}

Matrix<RationalField> rationals(const std::vector<std::vector<Rational>>& rows) {
  Matrix<RationalField> m({}, static_cast<index_t>(rows.size()),
                          static_cast<index_t>(rows.front().size()));
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = 0; j < m.cols(); ++j) m(i, j) = rows[i][j];
  }
  return m;
}

/// The message with which the text is refused.
std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("rows of numbers are read as they are written") {
  const auto expected =
      rationals({{Rational(1, 10), Rational(-3, 4)}, {Rational(2), Rational(1, 1000)}});
  CHECK(parse("0.1 -3/4\n2 1e-3\n") == expected);
  CHECK(parse("# head\n\n 0.1,\t-3/4 # tail\r\n2 , 1e-3") == expected);
  CHECK(parse("\xEF\xBB\xBF"
              "0.1;-3/4\n+2;1E-3") == expected);
  CHECK(parse("123456789012345678901234567891/2\n")(0, 0).numerator() ==
        "123456789012345678901234567891");
}

TEST_CASE("Matrix Market files are read as they are written") {
  CHECK(parse("%%MatrixMarket matrix array real general\n% c\n2 2\n0.1\n2\n-3/4\n1e-3\n") ==
        rationals({{Rational(1, 10), Rational(-3, 4)}, {Rational(2), Rational(1, 1000)}}));
  CHECK(
      parse("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1/3\n2 1 1/6\n1 1 5\n") ==
      rationals({{Rational(5), Rational(1, 2)}, {Rational(1, 2), Rational(0)}}));
  CHECK(
      parse("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n36893488147419103233\n")(0, 1)
          .text() == "-36893488147419103233");
  CHECK(parse("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n") ==
        rationals({{Rational(0), Rational(1)}}));
  CHECK(parse("%%MatrixMarket matrix array real general\n0 5\n").cols() == 5);
}

TEST_CASE(".npy files hold fractions") {
  const test::TemporaryFolder folder;
  Array<double, 2> m({2, 3});
  for (index_t i = 0; i < 6; ++i) m.data()[i] = 0.1 * double(i) - 0.25;
  io::write_npy(folder / "m.npy", m.view());
  const auto exact = read_matrix(folder / "m.npy");
  CHECK(exact == from_double(m.view()));
  const Array<double, 2> back = to_double(exact);
  for (index_t i = 0; i < 6; ++i) CHECK(back.data()[i] == m.data()[i]);
  m(1, 1) = std::numeric_limits<double>::quiet_NaN();
  io::write_npy(folder / "nan.npy", m.view());
  CHECK_THROWS_AS(read_matrix(folder / "nan.npy"), Error);
  const Array<std::complex<double>, 2> complex({1, 1});
  io::write_npy(folder / "complex.npy", complex.view());
  CHECK_THROWS_AS(read_matrix(folder / "complex.npy"), Unsupported);
  CHECK_THROWS_AS(read_matrix(folder / "absent.npy"), FileError);
}

TEST_CASE("what is no matrix is refused with its place") {
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal("1 2\n3 x4\n"), Contains("exact::read_matrix: m.txt, line 2: \"x4\""));
  CHECK_THAT(refusal("1 2\n\n3\n"), Contains("line 3: the row has 1 numbers, the first one 2"));
  CHECK_THAT(refusal("1,,2\n"), Contains("line 1: a number is missing"));
  CHECK_THAT(refusal("1,2,\n"), Contains("line 1: a number is missing"));
  CHECK_THAT(refusal("1 nan\n"), Contains("\"nan\" is not a number"));
  CHECK_THAT(refusal("1/0\n"), Contains("line 1: \"1/0\" is not a number"));
  CHECK_THAT(refusal(""), Contains("line 1: the file has no numbers"));
  CHECK_THAT(refusal("# nothing\n"), Contains("no numbers"));
  const std::string banner = "%%MatrixMarket matrix ";
  CHECK_THAT(refusal(banner + "array complex general\n1 1\n1 2\n"), Contains("line 1: complex"));
  CHECK_THAT(refusal(banner + "array integer general\n1 1\n1.5\n"),
             Contains("line 3: the value is \"1.5\", which is not an integer"));
  CHECK_THAT(refusal(banner + "array real general\n1 1\none\n"), Contains("line 3: \"one\""));
  CHECK_THAT(refusal(banner + "array real general\n2 1\n1.00\n"),
             Contains("the file ends after 1 of 2"));
  CHECK_THAT(refusal(banner + "array real skew-symmetric\n2 1\n1\n"), Contains("not square"));
  CHECK_THAT(refusal(banner + "coordinate real skew-symmetric\n2 2 1\n1 1 1/2\n"),
             Contains("diagonal of a skew-symmetric"));
  CHECK_THAT(refusal(banner + "coordinate real general\n100000 100000 0\n"),
             Contains("exceeds the limit"));
}
