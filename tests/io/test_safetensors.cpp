#include <catch2/catch.hpp>
#include <cstdint>

#include "../support/files.hpp"
#include "structmat/io/safetensors.hpp"

using namespace structmat;
using namespace structmat::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

std::string file_of(const std::string& header, const std::string& data = {}) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::string error(const std::string& text) {
  return message_of<FileError>([&] { io::parse_safetensors(bytes_of(text), "f"); });
}

template <class T, int Rank>
Array<T, Rank> sample(const std::array<index_t, Rank>& extents) {
  Array<T, Rank> a(extents);
  for (index_t i = 0; i < a.size(); ++i) {
    if constexpr (is_complex_v<T>) {
      a.data()[i] = T(static_cast<real_t<T>>(i), -0.5f);
    } else {
      a.data()[i] = static_cast<T>(i) / T(3);
    }
  }
  return a;
}

}  // namespace

TEMPLATE_TEST_CASE("write_safetensors and read_safetensors give the same bits", "[safetensors]",
                   float, double, std::complex<float>, std::complex<double>, std::int64_t) {
  const TemporaryFolder folder;
  const auto a = sample<TestType, 1>({5});
  const auto b = sample<TestType, 2>({3, 4});
  const auto c = sample<TestType, 3>({2, 3, 4});
  const auto none = sample<TestType, 2>({0, 4});
  io::write_safetensors(folder / "f", {{"a", a},
                                       {"b", b},
                                       {"c", c},
                                       {"none", none},
                                       {"transposed", c.view().transposed()},
                                       {"every other", b.view().slice(1, 1, 3)}});
  const io::Safetensors file = io::read_safetensors(folder / "f");
  CHECK(file.tensors().size() == 6);
  CHECK(file.metadata().empty());
  CHECK(file.contains("a"));
  CHECK_FALSE(file.contains("z"));
  CHECK(file.tensors().at("b").is_complex == is_complex_v<TestType>);
  CHECK(same_bits(file.read<TestType, 1>("a"), a));
  CHECK(same_bits(file.read<TestType, 2>("b"), b));
  CHECK(same_bits(file.read<TestType, 3>("c"), c));
  CHECK(same_bits(file.read<TestType, 2>("none"), none));
  CHECK(same_bits(file.read<TestType, 3>("transposed"), to_array(c.view().transposed())));
  CHECK(same_bits(file.read<TestType, 2>("every other"), to_array(b.view().slice(1, 1, 3))));
}

TEST_CASE("write_safetensors gives these bytes, whatever the order", "[safetensors]") {
  const TemporaryFolder folder;
  Array<float, 1> f({1});
  f(0) = 1;
  Array<double, 1> d({1});
  d(0) = 1;
  Array<std::complex<double>, 1> z({1});
  z(0) = {1, -2};
  const std::map<std::string, std::string> metadata{{"order", "2"}};
  io::write_safetensors(folder / "1", {{"f", f}, {"z", z}, {"d", d}}, metadata);
  io::write_safetensors(folder / "2", {{"d", d}, {"f", f}, {"z", z}}, metadata);
  std::string header = "{\"__metadata__\":{\"order\":\"2\",\"structmat.dtype.z\":\"complex128\"}," +
                       tensor("d", "F64", "[1]", "[0,8]") + "," +
                       tensor("z", "F64", "[1,2]", "[8,24]") + "," +
                       tensor("f", "F32", "[1]", "[24,28]") + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string one("\0\0\0\0\0\0\xf0\x3f", 8), minus_two("\0\0\0\0\0\0\0\xc0", 8);
  CHECK(read_text(folder / "1") ==
        file_of(header, one + one + minus_two + std::string("\0\0\x80\x3f", 4)));
  CHECK(read_text(folder / "2") == read_text(folder / "1"));

  const io::Safetensors file = io::read_safetensors(folder / "1");
  CHECK(file.metadata() == metadata);
  CHECK(file.read<double, 2>("z")(0, 1) == -2);
}

TEST_CASE("read_safetensors of what others write", "[safetensors]") {
  const std::string eight(8, '\0');
  // Unaligned data, scalars, other dtypes, empty metadata, data in another order than the names.
  const std::string text =
      file_of("{\"__metadata__\":{}," + tensor("b", "U8", "[1]", "[0,1]") + "," +
                  tensor("a", "F64", "[1]", "[1,9]") + "," + tensor("c", "C64", "[1]", "[9,17]") +
                  "," + tensor("s", "F32", "[]", "[17,21]") + "}  ",
              "x" + eight + eight + "0000");
  const io::Safetensors file = io::parse_safetensors(bytes_of(text), "f");
  CHECK(file.read<double, 1>("a")(0) == 0);
  CHECK(file.read<std::complex<float>, 1>("c")(0) == 0.0f);
  CHECK(file.tensors().at("b").dtype == "U8");
  CHECK(io::parse_safetensors(bytes_of(file_of("{}")), "f").tensors().empty());
}

TEST_CASE("Safetensors::read says what does not fit", "[safetensors]") {
  const std::string text =
      file_of("{" + tensor("a", "F64", "[2,3]", "[0,48]") + "}", std::string(48, '\0'));
  const io::Safetensors file = io::parse_safetensors(bytes_of(text), "f");
  CHECK_THAT(message_of<FileError>([&] { file.read<double, 2>("b"); }),
             Equals("io::read_safetensors: f, tensor \"b\": the file has none of this name"));
  CHECK_THAT(message_of<Unsupported>([&] { file.read<float, 2>("a"); }),
             Equals("io::read_safetensors: f, tensor \"a\": its dtype is F64, F32 is asked for"));
  CHECK_THAT(message_of<ShapeError>([&] { file.read<double, 1>("a"); }),
             Equals("io::read_safetensors: f, tensor \"a\": it has rank 2, rank 1 is asked for"));
  CHECK_THAT(message_of<ShapeError>([&] { file.read<std::complex<double>, 1>("a"); }),
             Contains("no trailing extent of 2"));
}

TEST_CASE("read_safetensors refuses inconsistent files", "[safetensors]") {
  const std::string u8 = tensor("a", "U8", "[1]", "[0,1]");
  const auto wrong = [](const std::string& text, const std::string& expected) {
    INFO(text);
    CHECK_THAT(error(text), Contains("io::read_safetensors: f, " + expected));
  };
  wrong("1234567", "byte 0: the file ends within");
  wrong(file_of("{}").substr(0, 9), "byte 0: the header has 2 bytes, the file 1 more");
  wrong(std::string(8, '\xff') + "{}", "byte 0: the header has 18446744073709551615 bytes");
  wrong(file_of(" {}"), "byte 8: the header does not begin with '{'");
  wrong(file_of(""), "byte 8: the header does not begin with '{'");
  wrong(file_of("{\"a\":}"), "byte 13: not JSON");
  wrong(file_of("{} x"), "byte 11: not JSON");
  wrong(file_of("{\"\xff\":{}}"), "byte 10: not JSON");
  wrong(file_of("{\"a\":" + std::string(100'000, '[')),
        "header, tensor \"a\": an array where none");
  wrong(file_of("{\"a\":{\"shape\":[[" + std::string(100, '[')), "header, tensor \"a\": an array");
  wrong(file_of("{\"a\":{\"dtype\":{}}}"), "header, tensor \"a\": an object where none belongs");
  wrong(file_of("{" + u8 + "," + u8 + "}", "x"), "header, tensor \"a\": the name appears twice");
  wrong(file_of("{\"__metadata__\":{},\"__metadata__\":{}}"),
        "header, tensor \"__metadata__\": the");
  wrong(file_of("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}"),
        "header, tensor \"__metadata__\": the key \"k\" appears twice");
  wrong(file_of("{\"__metadata__\":{\"k\":1}}"), "header, tensor \"__metadata__\": a number where");
  wrong(file_of("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}"), "header, tensor \"a\": the key");
  wrong(file_of("{\"a\":{\"dtype\":\"U8\",\"x\":[]}}"),
        "header, tensor \"a\": the key \"x\" is unk");
  wrong(file_of("{\"a\":{\"dtype\":\"U8\"}}"), "header, tensor \"a\": one of dtype, shape");
  wrong(file_of("{\"a\":{\"shape\":\"U8\"}}"), "header, tensor \"a\": shape is a string");
  wrong(file_of("{\"a\":{\"shape\":[null]}}"), "header, tensor \"a\": null where none belongs");
  wrong(file_of("{\"a\":{\"shape\":[-1]}}"), "header, tensor \"a\": a negative number");
  wrong(file_of("{\"a\":{\"shape\":[1.5]}}"), "header, tensor \"a\": a fraction");
  wrong(file_of("{\"a\":{\"shape\":[9223372036854775808]}}"), "header, tensor \"a\": an extent");
  wrong(file_of("{\"a\":true}"), "header, tensor \"a\": a truth value");
  wrong(file_of("{" + tensor("a", "U8", "[1]", "[0]") + "}"), "header, tensor \"a\": data_offsets");
  wrong(file_of("{" + tensor("a", "U8", "[1]", "[0,1,2]") + "}"), "header, tensor \"a\": data_off");
  wrong(file_of("{" + tensor("a", "X9", "[1]", "[0,1]") + "}", "x"),
        "tensor \"a\": the dtype \"X9\" is unknown");
  wrong(file_of("{" + u8 + "}"), "tensor \"a\": its data_offsets are 0 to 1, the file has 0 bytes");
  wrong(file_of("{" + tensor("a", "U8", "[1]", "[1,0]") + "}", "x"), "tensor \"a\": its data_off");
  wrong(file_of("{" + tensor("a", "F32", "[1]", "[0,1]") + "}", "x"),
        "tensor \"a\": its shape and dtype need 4 bytes, its data_offsets span 1");
  wrong(file_of("{" + tensor("a", "U8", "[4294967296,4294967296,0]", "[0,0]") + "}"),
        "tensor \"a\": its size exceeds 64-bit arithmetic");
  wrong(file_of("{" + u8 + "," + tensor("b", "U8", "[1]", "[2,3]") + "}", "xyz"),
        "tensor \"b\": its data begins at 2, the data before it ends at 1");
  wrong(file_of("{" + u8 + "," + tensor("b", "U8", "[1]", "[0,1]") + "}", "x"),
        "tensor \"b\": its");
  wrong(file_of("{" + u8 + "}", "xy"), "end of the data: 1 bytes belong to no tensor");
  wrong(file_of("{\"__metadata__\":{\"structmat.dtype.a\":\"complex64\"}," + u8 + "}", "x"),
        "metadata \"structmat.dtype.a\": no tensor of this name is stored as \"complex64\"");
  CHECK_THROWS_AS(io::read_safetensors("/nowhere/a"), FileError);
}

TEST_CASE("read_safetensors of a truncated file is an error at every length", "[safetensors]") {
  check_truncated(file_of("{" + tensor("a", "F32", "[2]", "[0,8]") + "}", "12345678"),
                  [](auto bytes) { io::parse_safetensors(bytes, "f"); });
}

TEST_CASE("write_safetensors refuses names that cannot be written", "[safetensors]") {
  const TemporaryFolder folder;
  const Array<float, 1> a({1});
  const auto write = [&](const std::string& first, const std::string& second,
                         const std::string& key) {
    return message_of<DomainError>([&] {
      io::write_safetensors(folder / "f", {{first, a}, {second, a}}, {{key, "v"}});
    });
  };
  CHECK_THAT(write("x", "x", "k"), Contains("tensor \"x\": the name is reserved or appears twice"));
  CHECK_THAT(write("x", "__metadata__", "k"), Contains("reserved"));
  CHECK_THAT(write("x", "\xff", "k"), Contains("not UTF-8"));
  CHECK_THAT(write("x", "y", "structmat.dtype.x"), Contains("the prefix is reserved"));
  CHECK(folder.files() == 0);
}

// Run by check_npy.py with STRUCTMAT_NUMPY_FOLDER.
TEST_CASE("a file for NumPy", "[.numpy]") {
  const char* folder = std::getenv("STRUCTMAT_NUMPY_FOLDER");
  REQUIRE(folder != nullptr);
  io::write_safetensors(std::filesystem::path(folder) / "samples.safetensors",
                        {{"f", sample<float, 2>({2, 3})},
                         {"d", sample<double, 1>({4})},
                         {"i", sample<std::int64_t, 1>({7})},
                         {"c", sample<std::complex<float>, 2>({2, 2})},
                         {"z", sample<std::complex<double>, 3>({1, 2, 3})}},
                        {{"made by", "structmat"}});
}
