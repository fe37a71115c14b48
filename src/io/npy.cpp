#include "structmat/io/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "file_bytes.hpp"
#include "npy_header.hpp"
#include "source.hpp"
#include "structmat/io/atomic_file.hpp"

namespace structmat::io {

namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

using detail::NpyHeader;
using detail::Source;

constexpr const char* read_operation = "io::read_npy";

/// One number at any alignment. A complex element is two of them.
template <class Raw>
Raw load(const std::byte* at, bool swap) {
  std::array<std::byte, sizeof(Raw)> bytes;
  std::memcpy(bytes.data(), at, sizeof(Raw));
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Raw>(bytes);
}

/// How elements of the file become elements of the result.
template <class Raw, Scalar T>
struct Decode {
  static constexpr std::size_t width = is_complex_v<T> ? 2 * sizeof(Raw) : sizeof(Raw);

  static std::optional<T> at(const std::byte* p, bool swap) {
    const Raw first = load<Raw>(p, swap);
    if constexpr (is_complex_v<T>) {
      return T(first, load<Raw>(p + sizeof(Raw), swap));
    } else if constexpr (std::is_integral_v<Raw>) {
      // A double below 2^64 converts back to the integer it was rounded from only if nothing was
      // rounded.
      const double value = static_cast<double>(first);
      const double end = std::ldexp(1.0, 8 * sizeof(Raw) - std::is_signed_v<Raw>);
      if (value >= end || static_cast<Raw>(value) != first) return std::nullopt;
      return value;
    } else {
      return first;
    }
  }
};

template <>
std::optional<double> Decode<bool, double>::at(const std::byte* p, bool) {
  return *p == std::byte{0} ? 0.0 : 1.0;
}

template <class Raw, Scalar T>
DenseMatrix read_elements(const NpyHeader& header, std::span<const std::byte> bytes,
                          const Source& source) {
  using D = Decode<Raw, T>;
  if (header.shape.empty() || header.shape.size() > 2) {
    source.fail<Unsupported>("header", "the array has " + std::to_string(header.shape.size()) +
                                           " dimensions, a matrix has 2 and a vector 1");
  }
  const index_t rows = header.shape[0];
  const index_t cols = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  index_t needed = 0;
  if (__builtin_mul_overflow(rows, cols, &needed) ||
      __builtin_mul_overflow(needed, static_cast<index_t>(D::width), &needed) ||
      static_cast<std::size_t>(needed) != data.size()) {
    source.fail("byte " + std::to_string(header.data_offset),
                "the shape is (" + std::to_string(rows) + ", " + std::to_string(cols) + ") with " +
                    std::to_string(D::width) + " bytes an element, but " +
                    std::to_string(data.size()) + " bytes of data follow");
  }

  Array<T, 2> result({rows, cols}, uninitialized);
  if (result.empty()) return result;
  if constexpr (sizeof(T) == D::width && !std::is_integral_v<Raw>) {
    if (!header.fortran_order && !header.swap) {
      std::memcpy(result.data(), data.data(), data.size());
      return result;
    }
  }
  const index_t row_step = header.fortran_order ? 1 : cols;
  const index_t col_step = header.fortran_order ? rows : 1;
  // In tiles, because in Fortran order one of the two sides is read across its lines.
  constexpr index_t tile = 32;
  for (index_t i0 = 0; i0 < rows; i0 += tile) {
    for (index_t j0 = 0; j0 < cols; j0 += tile) {
      for (index_t i = i0; i < std::min(i0 + tile, rows); ++i) {
        for (index_t j = j0; j < std::min(j0 + tile, cols); ++j) {
          const auto offset = static_cast<std::size_t>(i * row_step + j * col_step) * D::width;
          const std::optional<T> value = D::at(data.data() + offset, header.swap);
          if (!value) {
            source.fail("byte " + std::to_string(header.data_offset + offset),
                        "the integer in row " + std::to_string(i) + ", column " +
                            std::to_string(j) + " is beyond 2^53 and no double equals it");
          }
          result(i, j) = *value;
        }
      }
    }
  }
  return result;
}

struct ElementType {
  std::string_view code;  // kind and width, without the byte order
  DenseMatrix (*read)(const NpyHeader&, std::span<const std::byte>, const Source&);
};

constexpr ElementType element_types[] = {
    {"f4", read_elements<float, float>},
    {"f8", read_elements<double, double>},
    {"c8", read_elements<float, std::complex<float>>},
    {"c16", read_elements<double, std::complex<double>>},
    {"b1", read_elements<bool, double>},
    {"i1", read_elements<std::int8_t, double>},
    {"i2", read_elements<std::int16_t, double>},
    {"i4", read_elements<std::int32_t, double>},
    {"i8", read_elements<std::int64_t, double>},
    {"u1", read_elements<std::uint8_t, double>},
    {"u2", read_elements<std::uint16_t, double>},
    {"u4", read_elements<std::uint32_t, double>},
    {"u8", read_elements<std::uint64_t, double>},
};

/// `shape` is what the header says of the elements of `matrix`.
template <Scalar T>
void write_array(const std::filesystem::path& path, const View<const T, 2>& matrix,
                 const std::string& shape) {
  const std::string descr = (is_complex_v<T> ? "<c" : "<f") + std::to_string(sizeof(T));
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t preamble = 10, alignment = 64;
  while ((preamble + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';

  AtomicFile file(path, "io::write_npy");
  file.write(std::string_view("\x93NUMPY\x01\x00", 8));
  const auto length = static_cast<std::uint16_t>(header.size());
  file.write(&length, sizeof length);
  file.write(header);
  if (matrix.is_row_major()) {
    if (!matrix.empty()) file.write(matrix.data(), matrix.size() * sizeof(T));
  } else {
    for (index_t i = 0; i < matrix.extent(0); ++i) {
      const Array<T, 1> row = to_array(matrix.select(0, i));
      file.write(row.data(), row.size() * sizeof(T));
    }
  }
  file.commit();
}

template <Scalar T>
void write_matrix(const std::filesystem::path& path, const View<const T, 2>& matrix) {
  write_array(path, matrix,
              std::to_string(matrix.extent(0)) + ", " + std::to_string(matrix.extent(1)));
}

}  // namespace

DenseMatrix parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  const Source source{read_operation, name};
  const NpyHeader header = detail::parse_npy_header(bytes, source);
  for (const ElementType& type : element_types) {
    if (type.code == header.element_type) return type.read(header, bytes, source);
  }
  source.fail<Unsupported>("header", "elements of type " + detail::excerpt(header.element_type) +
                                         "; served are f4, f8, c8, c16, b1, i1 to i8, u1 to u8");
}

DenseMatrix read_npy(const std::filesystem::path& path) {
  const detail::FileBytes file(path, read_operation);
  return parse_npy(file.bytes(), path.string());
}

index_t npy_dimensions(const std::filesystem::path& path) {
  const detail::FileBytes file(path, read_operation);
  const Source source{read_operation, path.string()};
  return static_cast<index_t>(detail::parse_npy_header(file.bytes(), source).shape.size());
}

template <Scalar T>
void write_npy_vector(const std::filesystem::path& path, View<const T, 1> vector) {
  const View<const T, 2> column(vector.data(), {vector.extent(0), 1}, {vector.stride(0), 1});
  write_array(path, column, std::to_string(vector.extent(0)) + ",");
}

template STRUCTMAT_EXPORT void write_npy_vector(const std::filesystem::path&, View<const float, 1>);
template STRUCTMAT_EXPORT void write_npy_vector(const std::filesystem::path&,
                                                View<const double, 1>);
template STRUCTMAT_EXPORT void write_npy_vector(const std::filesystem::path&,
                                                View<const std::complex<float>, 1>);
template STRUCTMAT_EXPORT void write_npy_vector(const std::filesystem::path&,
                                                View<const std::complex<double>, 1>);

void write_npy(const std::filesystem::path& path, View<const float, 2> matrix) {
  write_matrix(path, matrix);
}
void write_npy(const std::filesystem::path& path, View<const double, 2> matrix) {
  write_matrix(path, matrix);
}
void write_npy(const std::filesystem::path& path, View<const std::complex<float>, 2> matrix) {
  write_matrix(path, matrix);
}
void write_npy(const std::filesystem::path& path, View<const std::complex<double>, 2> matrix) {
  write_matrix(path, matrix);
}

}  // namespace structmat::io
