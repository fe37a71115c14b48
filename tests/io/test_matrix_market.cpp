#include <catch2/catch.hpp>
#include <clocale>
#include <cmath>
#include <limits>

#include "../support/files.hpp"
#include "structmat/io/matrix_market.hpp"

using namespace structmat;
using namespace structmat::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

const std::string banner = "%%MatrixMarket matrix ";

template <class T = double>
Array<T, 2> parse(const std::string& text) {
  return std::get<Array<T, 2>>(io::parse_matrix_market(bytes_of(text), "f.mtx"));
}

std::string error(const std::string& text) {
  return message_of<FileError>([&] { io::parse_matrix_market(bytes_of(text), "f.mtx"); });
}

template <class T>
void check_equal(const Array<T, 2>& a, std::initializer_list<std::initializer_list<T>> rows) {
  REQUIRE(a.extent(0) == static_cast<index_t>(rows.size()));
  index_t i = 0;
  for (const auto& row : rows) {
    REQUIRE(a.extent(1) == static_cast<index_t>(row.size()));
    index_t j = 0;
    for (const T& value : row) {
      INFO("entry " << i << ", " << j);
      CHECK(a(i, j) == value);
      ++j;
    }
    ++i;
  }
}

}  // namespace

TEMPLATE_TEST_CASE("write_matrix_market and read_matrix_market give the same bits", "[mtx]", float,
                   double, std::complex<float>, std::complex<double>) {
  using R = real_t<TestType>;
  using Wide = std::conditional_t<is_complex_v<TestType>, std::complex<double>, double>;
  using Limits = std::numeric_limits<R>;
  const R values[] = {R(1) / 3,      R(-0.0), Limits::infinity(), Limits::denorm_min(),
                      Limits::max(), R(0.1)};
  Array<TestType, 2> a({2, 3});
  for (int i = 0; i < 6; ++i) {
    if constexpr (is_complex_v<TestType>) {
      a.data()[i] = {values[i], values[5 - i]};
    } else {
      a.data()[i] = values[i];
    }
  }
  const TemporaryFolder folder;
  const auto round_trip = [&](View<const TestType, 2> view) {
    io::write_matrix_market(folder / "a.mtx", view);
    return std::get<Array<Wide, 2>>(io::read_matrix_market(folder / "a.mtx"));
  };
  CHECK(same_bits(round_trip(a), io::convert<Wide>(a)));
  const auto transposed = to_array(a.view().transposed());
  CHECK(same_bits(round_trip(a.view().transposed()), io::convert<Wide>(transposed)));
  CHECK(round_trip(Array<TestType, 2>({0, 3})).extents() == std::array<index_t, 2>{0, 3});
}

TEST_CASE("write_matrix_market gives this text", "[mtx]") {
  const TemporaryFolder folder;
  Array<double, 2> a({2, 2});
  a(0, 0) = 1, a(0, 1) = 0.1, a(1, 0) = -2.5, a(1, 1) = 1e300;
  io::write_matrix_market(folder / "a.mtx", a);
  CHECK(read_text(folder / "a.mtx") == banner + "array real general\n2 2\n1\n-2.5\n0.1\n1e+300\n");
  Array<std::complex<double>, 2> z({1, 1});
  z(0, 0) = {1, -2};
  io::write_matrix_market(folder / "z.mtx", z);
  CHECK(read_text(folder / "z.mtx") == banner + "array complex general\n1 1\n1 -2\n");
}

TEST_CASE("read_matrix_market of arrays", "[mtx]") {
  using C = std::complex<double>;
  check_equal(parse(banner + "array real general\n% a comment\n\n2 2\n1\n+2\n\n3e0\n% more\n4"),
              {{1., 3.}, {2., 4.}});
  check_equal(parse(banner + "ARRAY Double General\r\n 1\t2 \r\n 1 \r\n2\r\n"), {{1., 2.}});
  check_equal(parse(banner + "array integer symmetric\n2 2\n1\n2\n3\n"), {{1., 2.}, {2., 3.}});
  check_equal(parse(banner + "array real skew-symmetric\n3 3\n1\n2\n3\n"),
              {{0., -1., -2.}, {1., 0., -3.}, {2., 3., 0.}});
  check_equal(parse<C>(banner + "array complex hermitian\n2 2\n1 0\n2 5\n3 0\n"),
              {{C(1), C(2, -5)}, {C(2, 5), C(3)}});
  check_equal(parse<C>(banner + "array complex symmetric\n2 2\n1 1\n2 5\n3 0\n"),
              {{C(1, 1), C(2, 5)}, {C(2, 5), C(3)}});
  check_equal(parse<C>(banner + "array complex skew-symmetric\n2 2\n2 5\n"),
              {{C(0), C(-2, -5)}, {C(2, 5), C(0)}});
  CHECK(std::isnan(parse(banner + "array real general\n1 1\nnan\n")(0, 0)));
  CHECK(parse(banner + "array real skew-symmetric\n0 0\n").extents() ==
        std::array<index_t, 2>{0, 0});
  // Found by the fuzzer: took a step for each of the columns.
  CHECK(parse(banner + "array real general\n0 9223372036854775807\n").empty());
}

TEST_CASE("read_matrix_market of coordinates", "[mtx]") {
  using C = std::complex<double>;
  check_equal(parse(banner + "coordinate real general\n2 3 2\n1 3 5\n2 1 -1.5\n"),
              {{0., 0., 5.}, {-1.5, 0., 0.}});
  check_equal(parse(banner + "coordinate pattern general\n2 2 2\n1 1\n1 2\n"),
              {{1., 1.}, {0., 0.}});
  check_equal(parse(banner + "coordinate pattern symmetric\n2 2 1\n2 1\n"), {{0., 1.}, {1., 0.}});
  check_equal(parse(banner + "coordinate integer skew-symmetric\n2 2 2\n2 1 3\n1 1 0\n"),
              {{0., -3.}, {3., 0.}});
  check_equal(parse<C>(banner + "coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 2\n"),
              {{C(4), C(1, -2)}, {C(1, 2), C(0)}});
}

TEST_CASE("read_matrix_market sums what is at the same place", "[mtx]") {
  check_equal(parse(banner + "coordinate real general\n1 1 3\n1 1 1\n1 1 2\n1 1 4\n"), {{7.}});
  check_equal(parse(banner + "coordinate real symmetric\n2 2 2\n2 1 1\n2 1 2\n"),
              {{0., 3.}, {3., 0.}});
  CHECK_THAT(error(banner + "coordinate integer general\n1 1 2\n1 1 9007199254740992\n1 1 1\n"),
             Contains("line 4: the integer is beyond 2^53"));
}

TEST_CASE("read_matrix_market never rounds an integer", "[mtx]") {
  const std::string start = banner + "array integer general\n1 1\n";
  CHECK(parse(start + "9007199254740992\n")(0, 0) == 0x1p53);
  CHECK(parse(start + "-9223372036854775808\n")(0, 0) == -0x1p63);
  CHECK_THAT(error(start + "9007199254740993\n"),
             Equals("io::read_matrix_market: f.mtx, line 3: the integer is beyond 2^53 and no "
                    "double equals it"));
  CHECK_THAT(error(start + "9223372036854775807\n"), Contains("2^53"));
  CHECK_THAT(error(start + "9223372036854775808\n"), Contains("range of 64-bit integers"));
  CHECK_THAT(error(start + "1.0\n"), Contains("\"1.0\", which is not an integer"));
}

TEST_CASE("read_matrix_market refuses sizes before it takes memory", "[mtx]") {
  CHECK_THAT(error(banner + "array real general\n1000000000 1000000000\n"),
             Contains("line 2: a dense matrix of 1000000000 x 1000000000 exceeds the limit"));
  CHECK_THAT(error(banner + "array real general\n10000 10000\n1\n"),
             Contains("100000000 entries cannot be in the 2 bytes that follow"));
  CHECK_THAT(error(banner + "coordinate real general\n5 5 9223372036854775807\n1 1 1\n"),
             Contains("entries cannot be in the 6 bytes"));
  CHECK_THAT(error(banner + "coordinate real general\n9223372036854775807 2 0\n"),
             Contains("exceeds the limit of 17179869184 bytes"));
  const std::string sparse = banner + "coordinate real general\n10 10 0\n";
  CHECK(std::get<1>(io::parse_matrix_market(bytes_of(sparse), "f", {.limit_bytes = 800})).size() ==
        100);
  CHECK_THROWS_AS(io::parse_matrix_market(bytes_of(sparse), "f", {.limit_bytes = 799}), FileError);
}

TEST_CASE("read_matrix_market names file, line and reason", "[mtx]") {
  const auto wrong = [](const std::string& text, const std::string& expected) {
    INFO(text);
    CHECK_THAT(error(text), Equals("io::read_matrix_market: f.mtx, " + expected));
  };
  const std::string square = "coordinate real general\n2 2 1\n";
  wrong("", "line 1: the file is empty");
  wrong("1 2 3\n", "line 1: not a Matrix Market file (no %%MatrixMarket)");
  wrong(banner + "sparse real general\n",
        "line 1: the format is \"sparse\"; read are array, coordinate");
  wrong(banner + "array quaternion general\n",
        "line 1: the field is \"quaternion\"; read are real, double, integer, complex, pattern");
  wrong(
      banner + "array real lower\n",
      "line 1: the symmetry is \"lower\"; read are general, symmetric, skew-symmetric, hermitian");
  wrong(banner + "array real general x\n", "line 1: unexpected \"x\" at the end");
  wrong(banner + "array pattern general\n", "line 1: an array cannot be a pattern");
  wrong(banner + "coordinate pattern skew-symmetric\n",
        "line 1: a pattern cannot be skew-symmetric");
  wrong(banner + "array real hermitian\n", "line 1: a hermitian matrix must be complex");
  wrong(banner + "array real general\n%\n", "line 2: the file ends before the line of sizes");
  wrong(banner + "array real general\n2\n", "line 2: the number of columns is missing");
  wrong(banner + "array real general\n2 -2\n", "line 2: the number of columns is negative");
  wrong(banner + "array real symmetric\n2 3\n",
        "line 2: 2 x 3 is not square, as its symmetry demands");
  wrong(banner + "array real general\n2 1\n1\n% no\n%%%\n",
        "line 5: the file ends after 1 of 2 entries");
  wrong(banner + "array real general\n1 1\n1 2\n", "line 3: unexpected \"2\" at the end");
  wrong(banner + "array real general\n1 1\n1\n2\n", "line 4: text follows the last entry");
  wrong(banner + "array real general\n1 1\n1,5\n",
        "line 3: the value is \"1,5\", which is not a number");
  wrong(banner + "array real general\n1 1\n1e999\n",
        "line 3: the value is \"1e999\", outside the range of double");
  wrong(banner + "array real general\n1 1\n+-1\n",
        "line 3: the value is \"+-1\", which is not a number");
  wrong(banner + "array complex general\n1 1\n1.25\n", "line 3: the imaginary part is missing");
  wrong(banner + square + "3 1 1\n", "line 3: the row 3 is not between 1 and 2");
  wrong(banner + square + "1 0 1\n", "line 3: the column 0 is not between 1 and 2");
  wrong(banner + "coordinate real symmetric\n2 2 1\n1 2 1\n",
        "line 3: an entry above the diagonal, in a matrix that is given by its lower triangle");
  wrong(banner + "coordinate real skew-symmetric\n2 2 1\n1 1 1\n",
        "line 3: the diagonal of a skew-symmetric matrix is zero");
  wrong(banner + "coordinate complex hermitian\n2 2 1\n1 1 1 1\n",
        "line 3: the diagonal of a hermitian matrix is real");
  CHECK_THROWS_AS(
      io::parse_matrix_market(bytes_of("%%MatrixMarket vector array real general\n1\n1\n"), "f"),
      Unsupported);
  CHECK_THROWS_AS(io::read_matrix_market("/nowhere/a.mtx"), FileError);
}

TEST_CASE("read_matrix_market of a truncated file is an error at every length", "[mtx]") {
  const auto parse_all = [](auto bytes) { io::parse_matrix_market(bytes, "f.mtx"); };
  // Each ends in a one-digit number without a line end, so that no proper prefix is whole.
  check_truncated(banner + "array real general\n2 2\n1\n2\n3\n4", parse_all);
  check_truncated(banner + "coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 2", parse_all);
}

TEST_CASE("Matrix Market is the same in every locale", "[mtx]") {
  // Without such a locale on this system the test still passes, and shows nothing.
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  const double value = parse(banner + "array real general\n1 1\n1.5\n")(0, 0);
  std::setlocale(LC_ALL, before.c_str());
  CHECK(value == 1.5);
}
