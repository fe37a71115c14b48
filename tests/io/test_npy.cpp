#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../support/files.hpp"
#include "structmat/io/npy.hpp"

using namespace structmat;
using namespace structmat::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

/// An .npy file, byte by byte as the format says.
std::string npy(const std::string& descr, bool fortran, const std::string& shape,
                const std::string& data, int version = 1) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  const std::size_t width = version == 1 ? 2 : 4;
  while ((8 + width + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (std::size_t i = 0; i < width; ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

template <class Raw>
std::string raw(std::initializer_list<Raw> values, bool big_endian = false) {
  std::string bytes;
  for (const Raw& value : values) {
    std::string one(reinterpret_cast<const char*>(&value), sizeof(Raw));
    if (big_endian) one.assign(one.rbegin(), one.rend());
    bytes += one;
  }
  return bytes;
}

template <class T>
Array<T, 2> parse(const std::string& file) {
  return std::get<Array<T, 2>>(io::parse_npy(bytes_of(file), "f.npy"));
}

std::string error(const std::string& file) {
  return message_of<FileError>([&] { io::parse_npy(bytes_of(file), "f.npy"); });
}

template <class T>
Array<T, 2> sample() {
  using R = real_t<T>;
  using Limits = std::numeric_limits<R>;
  Array<T, 2> a({2, 4});
  const R values[] = {R(1) / 3,      R(-0.0), Limits::infinity(),  Limits::denorm_min(),
                      Limits::max(), R(-2.5), Limits::quiet_NaN(), R(1e-10)};
  for (int i = 0; i < 8; ++i) {
    if constexpr (is_complex_v<T>) {
      a.data()[i] = {values[i], values[7 - i]};
    } else {
      a.data()[i] = values[i];
    }
  }
  return a;
}

}  // namespace

TEMPLATE_TEST_CASE("write_npy and read_npy give the same bits", "[npy]", float, double,
                   std::complex<float>, std::complex<double>) {
  const TemporaryFolder folder;
  const auto a = sample<TestType>();
  io::write_npy(folder / "a.npy", a);
  CHECK(same_bits(std::get<Array<TestType, 2>>(io::read_npy(folder / "a.npy")), a));

  io::write_npy(folder / "t.npy", a.view().transposed());
  CHECK(same_bits(std::get<Array<TestType, 2>>(io::read_npy(folder / "t.npy")),
                  to_array(a.view().transposed())));

  for (const auto& extents : {std::array<index_t, 2>{0, 3}, {3, 0}, {0, 0}}) {
    io::write_npy(folder / "empty.npy", Array<TestType, 2>(extents));
    CHECK(std::get<Array<TestType, 2>>(io::read_npy(folder / "empty.npy")).extents() == extents);
  }
}

TEST_CASE("write_npy gives the bytes that the format prescribes", "[npy]") {
  const TemporaryFolder folder;
  Array<double, 2> a({1, 2});
  a(0, 0) = 1.5;
  a(0, 1) = -2;
  io::write_npy(folder / "a.npy", a);
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
  expected.resize(127, ' ');
  expected += '\n';
  expected += std::string("\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0", 16);
  CHECK(read_text(folder / "a.npy") == expected);
}

TEMPLATE_TEST_CASE("write_npy_vector writes one dimension", "[npy]", float, double,
                   std::complex<float>, std::complex<double>) {
  const TemporaryFolder folder;
  Array<TestType, 1> v({5});
  for (index_t i = 0; i < 5; ++i) v(i) = TestType(real_t<TestType>(i));
  io::write_npy_vector(folder / "v.npy", View<const TestType, 1>(v.view().reversed(0)));
  CHECK(io::npy_dimensions(folder / "v.npy") == 1);
  CHECK_THAT(read_text(folder / "v.npy"), Contains("'shape': (5,), }"));
  const auto column = std::get<Array<TestType, 2>>(io::read_npy(folder / "v.npy"));
  REQUIRE(column.extents() == std::array<index_t, 2>{5, 1});
  for (index_t i = 0; i < 5; ++i) CHECK(column(i, 0) == v(4 - i));
  io::write_npy(folder / "m.npy", column);
  CHECK(io::npy_dimensions(folder / "m.npy") == 2);
}

TEMPLATE_TEST_CASE("read_npy serves every order, version and real type", "[npy]", float, double,
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t) {
  using Result = std::conditional_t<std::is_same_v<TestType, float>, float, double>;
  const char kind = std::is_floating_point_v<TestType> ? 'f'
                    : std::is_signed_v<TestType>       ? 'i'
                                                       : 'u';
  const TestType low = std::is_signed_v<TestType> ? TestType(-100) : TestType(0);
  for (int version : {1, 2, 3}) {
    for (bool big_endian : {false, true}) {
      for (bool fortran : {false, true}) {
        INFO("version " << version << (big_endian ? " big-endian" : "") << (fortran ? " F" : ""));
        const std::string descr =
            (big_endian ? ">" : "<") + (kind + std::to_string(sizeof(TestType)));
        const std::string data = raw<TestType>({low, 1, 2, 3, 4, 5}, big_endian);
        const auto a = parse<Result>(npy(descr, fortran, "(2, 3)", data, version));
        REQUIRE(a.extents() == std::array<index_t, 2>{2, 3});
        CHECK(a(0, 0) == static_cast<Result>(low));
        CHECK(a(0, 1) == (fortran ? 2 : 1));
        CHECK(a(1, 0) == (fortran ? 1 : 3));
        CHECK(a(1, 2) == 5);
      }
    }
  }
}

TEST_CASE("read_npy of complex, bool and vectors", "[npy]") {
  for (bool big_endian : {false, true}) {
    const std::string order = big_endian ? ">" : "<";
    const auto c8 = parse<std::complex<float>>(
        npy(order + "c8", false, "(1, 2)", raw<float>({1, 2, 3, -4}, big_endian)));
    CHECK(c8(0, 0) == std::complex<float>(1, 2));
    CHECK(c8(0, 1) == std::complex<float>(3, -4));
    const auto c16 = parse<std::complex<double>>(
        npy(order + "c16", true, "(1, 2)", raw<double>({1, 2, 3, -4}, big_endian)));
    CHECK(c16(0, 1) == std::complex<double>(3, -4));
  }
  const auto boolean = parse<double>(npy("|b1", false, "(3,)", std::string("\0\1\1", 3)));
  CHECK(boolean.extents() == std::array<index_t, 2>{3, 1});
  CHECK(boolean(0, 0) == 0);
  CHECK(boolean(1, 0) == 1);
  CHECK(parse<double>(npy("=f8", false, "(1,)", raw<double>({7})))(0, 0) == 7);
  CHECK(parse<double>(npy("f8", false, "(1L, 1L)", raw<double>({7})))(0, 0) == 7);
  CHECK(parse<double>(npy("<f8", false, "(0, 9223372036854775807)", "")).extent(1) ==
        std::numeric_limits<index_t>::max());
}

TEST_CASE("read_npy of a large Fortran-ordered matrix crosses tiles", "[npy]") {
  constexpr index_t rows = 67, cols = 45;
  std::string data;
  for (index_t j = 0; j < cols; ++j) {
    for (index_t i = 0; i < rows; ++i) data += raw<std::int32_t>({static_cast<int>(1000 * i + j)});
  }
  const auto a = parse<double>(npy("<i4", true, "(67, 45)", data));
  bool same = true;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) same = same && a(i, j) == 1000.0 * i + j;
  }
  CHECK(same);
}

TEST_CASE("read_npy never rounds an integer", "[npy]") {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  const auto signed_file = [](std::int64_t v) { return npy("<i8", false, "(1,)", raw({v})); };
  const auto unsigned_file = [](std::uint64_t v) { return npy("<u8", false, "(1,)", raw({v})); };
  for (std::int64_t v : {limit, limit + 2, -limit, std::numeric_limits<std::int64_t>::min()}) {
    CHECK(parse<double>(signed_file(v))(0, 0) == static_cast<double>(v));
  }
  CHECK(parse<double>(unsigned_file(std::uint64_t{1} << 63))(0, 0) == 0x1p63);
  for (std::int64_t v : {limit + 1, -limit - 1, std::numeric_limits<std::int64_t>::max()}) {
    CHECK_THAT(error(signed_file(v)),
               Equals("io::read_npy: f.npy, byte 128: the integer in row 0, column 0 is beyond "
                      "2^53 and no double equals it"));
  }
  CHECK_THAT(error(unsigned_file(std::numeric_limits<std::uint64_t>::max())), Contains("2^53"));
}

TEST_CASE("read_npy names file, byte and reason", "[npy]") {
  const std::string data = raw<double>({1, 2});
  CHECK_THAT(error("PK"), Equals("io::read_npy: f.npy, byte 0: not an .npy file (no \\x93NUMPY)"));
  CHECK_THAT(error(npy("<f8", false, "(2,)", data, 4)), Contains("byte 6: version 4.0"));
  CHECK_THAT(error(npy("<f8", false, "(2,)", data + "x")),
             Equals("io::read_npy: f.npy, byte 128: the shape is (2, 1) with 8 bytes an element, "
                    "but 17 bytes of data follow"));
  CHECK_THAT(error(npy("<f8", false, "(4294967296, 4294967296)", data)), Contains("but 16 bytes"));
  CHECK_THAT(error(npy("<f8", false, "(-1,)", data)), Contains("expected an extent"));
  CHECK_THAT(error(npy("<f8", false, "(9223372036854775808,)", data)),
             Contains("expected an extent below 2^63"));
  CHECK_THAT(error(npy("<f8", false, "2", data)), Contains("expected '('"));
  CHECK_THAT(error(npy("<f8", false, "(2,), 'shape': (2,)", data)), Contains("appears twice"));
  CHECK_THAT(error(npy("<f8", false, "(2,), 'x': (2,)", data)), Contains("\"x\" is unknown"));
  std::string file = npy("<f8", false, "(2,)", data);
  file.replace(file.find("False"), 5, "Maybe");
  CHECK_THAT(error(file), Contains("expected True or False"));

  const auto unsupported = [](const std::string& text) {
    return message_of<Unsupported>([&] { io::parse_npy(bytes_of(text), "f.npy"); });
  };
  CHECK_THAT(unsupported(npy("<f8", false, "()", raw<double>({1}))), Contains("0 dimensions"));
  CHECK_THAT(unsupported(npy("<f8", false, "(1, 1, 2)", data)), Contains("3 dimensions"));
  CHECK_THAT(unsupported(npy("<f2", false, "(8,)", data)), Contains("type \"f2\""));
  std::string record = npy("<f8", false, "(2,)", data);
  record.replace(record.find("'<f8'"), 5, "[('a'");
  CHECK_THAT(unsupported(record), Contains("records"));

  const TemporaryFolder folder;
  const auto missing = (folder / "none.npy").string();
  CHECK_THAT(message_of<FileError>([&] { io::read_npy(missing); }),
             Equals("io::read_npy: " + missing + ": No such file or directory"));
  CHECK_THAT(message_of<FileError>([&] { io::read_npy(folder.path()); }), Contains("is a folder"));
  CHECK_THAT(message_of<FileError>([&] { io::read_npy("/dev/zero"); }), Contains("neither"));
}

TEST_CASE("read_npy of a truncated file is an error at every length", "[npy]") {
  const auto parse_all = [](auto bytes) { io::parse_npy(bytes, "f.npy"); };
  for (int version : {1, 2, 3}) {
    check_truncated(npy("<f8", false, "(2, 2)", raw<double>({1, 2, 3, 4}), version), parse_all);
  }
  check_truncated(npy(">i2", true, "(3,)", raw<std::int16_t>({1, 2, 3})), parse_all);
}

TEST_CASE("convert widens and refuses to lose", "[npy]") {
  Array<float, 2> a({1, 2});
  a(0, 1) = 0.1f;
  const auto d = io::convert<double>(a);
  CHECK(d(0, 1) == static_cast<double>(0.1f));
  CHECK(io::convert<std::complex<double>>(a)(0, 1) == std::complex<double>(0.1f));
  CHECK(io::convert<float>(a)(0, 1) == 0.1f);
  CHECK_THAT(message_of<Unsupported>([&] { io::convert<float>(d); }),
             Equals("io::convert: the matrix is float64, float32 cannot hold its values"));
  CHECK_THROWS_AS(io::convert<double>(io::DenseMatrix(Array<std::complex<float>, 2>({1, 1}))),
                  Unsupported);
}

// Run by check_npy.py with STRUCTMAT_NUMPY_FOLDER: every NAME.npy is read and written as
// out_NAME.npy.
TEST_CASE("exchange with NumPy", "[.numpy]") {
  const char* folder = std::getenv("STRUCTMAT_NUMPY_FOLDER");
  REQUIRE(folder != nullptr);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  for (const auto& path : files) {
    const auto target = path.parent_path() / ("out_" + path.filename().string());
    std::visit([&](const auto& matrix) { io::write_npy(target, matrix); }, io::read_npy(path));
  }
}
