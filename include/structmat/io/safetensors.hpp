/// \file
/// safetensors: named arrays of any rank, with text metadata, in one file.
///
/// Layout: the length of the header (8 bytes, little-endian), the header (JSON: for each name
/// dtype, shape, data_offsets), then the data, row-major, without gaps.
///
/// Complex arrays: the format has no complex128, so a complex array of shape (n, r) is stored as
/// F32 or F64 of shape (n, r, 2), real and imaginary parts side by side, and the metadata entry
/// "structmat.dtype.<name>" says "complex64" or "complex128". Every safetensors reader opens the
/// file; in NumPy `x.view(numpy.complex128)[..., 0]` gives the complex array (docs/io.md).
///
/// Source: https://github.com/huggingface/safetensors#format
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/export.hpp"

namespace structmat::io {

/// What arrays are read into and written from.
template <class T>
concept TensorElement = Scalar<T> || std::same_as<T, std::int64_t>;

/// One entry of the header.
struct TensorInfo {
  std::string dtype;           ///< as in the file: "F32", "F64", "I64", "BF16", ...
  std::vector<index_t> shape;  ///< as in the file: a complex array has a trailing 2
  bool is_complex = false;     ///< declared complex by the metadata
  std::size_t begin = 0;       ///< bytes, from the start of the data
  std::size_t end = 0;
};

namespace detail {

/// How T is stored: the dtype of its parts, and whether there are two of them.
template <TensorElement T>
constexpr const char* stored_dtype() {
  if constexpr (std::same_as<T, std::int64_t>) {
    return "I64";
  } else {
    return sizeof(real_t<T>) == 4 ? "F32" : "F64";
  }
}

}  // namespace detail

/// An open file: its header, checked in full, and its data, of which read() copies one array at a
/// time. Copies share the file. Const use is thread-safe.
class STRUCTMAT_EXPORT Safetensors {
 public:
  const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
  bool contains(const std::string& name) const { return tensors_.contains(name); }

  /// Without the entries that declare complex arrays.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// A copy of one array. T is float, double, int64_t or complex of the two; Rank counts without
  /// the trailing 2 of complex arrays. Cost: one copy. Throws FileError (no such name), Unsupported
  /// (another dtype; no conversion is done), ShapeError (another rank).
  template <TensorElement T, int Rank>
  Array<T, Rank> read(const std::string& name) const {
    std::array<index_t, Rank> extents{};
    const std::span<const std::byte> data =
        find(name, detail::stored_dtype<T>(), is_complex_v<T>, extents);
    Array<T, Rank> result(extents, uninitialized);
    if (!data.empty()) std::memcpy(result.data(), data.data(), data.size());
    return result;
  }

 private:
  friend Safetensors parse_safetensors(std::span<const std::byte>, const std::string&);
  friend Safetensors read_safetensors(const std::filesystem::path&);

  std::span<const std::byte> find(const std::string& name, std::string_view dtype, bool is_complex,
                                  std::span<index_t> extents) const;

  std::string file_;
  std::map<std::string, TensorInfo> tensors_;
  std::map<std::string, std::string> metadata_;
  std::span<const std::byte> data_;
  std::shared_ptr<const void> owner_;
};

/// Opens a file. Cost: the header; the data is mapped and read on demand.
/// Throws FileError for anything but a whole, consistent file: a header over 100 MB or longer than
/// the file, text that is not JSON of this form, duplicate names, sizes that overflow or disagree
/// with the offsets, gaps, overlaps, bytes after the data.
STRUCTMAT_EXPORT Safetensors read_safetensors(const std::filesystem::path& path);

/// read_safetensors of a file that is in memory, which must outlive the result. `name` stands for
/// the file in messages.
STRUCTMAT_EXPORT Safetensors parse_safetensors(std::span<const std::byte> bytes,
                                               const std::string& name);

/// An array to be written: a name and a view (not a copy) of the elements, any strides.
class STRUCTMAT_EXPORT NamedTensor {
 public:
  template <class T, int Rank>
  requires TensorElement<std::remove_const_t<T>> NamedTensor(std::string name,
                                                             const View<T, Rank>& view)
      : name_(std::move(name)),
        dtype_(detail::stored_dtype<std::remove_const_t<T>>()),
        is_complex_(is_complex_v<std::remove_const_t<T>>),
        element_bytes_(sizeof(T)),
        data_(reinterpret_cast<const std::byte*>(view.data())),
        extents_(view.extents().begin(), view.extents().end()),
        strides_(view.strides().begin(), view.strides().end()) {}

  template <TensorElement T, int Rank>
  NamedTensor(std::string name, const Array<T, Rank>& array)
      : NamedTensor(std::move(name), array.view()) {}

 private:
  friend void write_safetensors(const std::filesystem::path&, std::span<const NamedTensor>,
                                const std::map<std::string, std::string>&);

  std::size_t bytes() const;
  bool is_row_major() const;

  std::string name_;
  std::string dtype_;
  bool is_complex_;
  std::size_t element_bytes_;
  const std::byte* data_;
  std::vector<index_t> extents_;
  std::vector<index_t> strides_;
};

/// Writes arrays and metadata. The same input gives the same bytes whatever the order of `tensors`:
/// data lies by falling element size, then by name; the header is padded so that every array is
/// aligned to its elements. The file appears whole or not at all (AtomicFile). Throws FileError
/// (cannot be written) and DomainError (a name that appears twice, "__metadata__", text that is not
/// UTF-8, a metadata key that begins with "structmat.dtype.").
STRUCTMAT_EXPORT void write_safetensors(const std::filesystem::path& path,
                                        std::span<const NamedTensor> tensors,
                                        const std::map<std::string, std::string>& metadata = {});
inline void write_safetensors(const std::filesystem::path& path,
                              std::initializer_list<NamedTensor> tensors,
                              const std::map<std::string, std::string>& metadata = {}) {
  write_safetensors(path, std::span<const NamedTensor>(tensors.begin(), tensors.size()), metadata);
}

}  // namespace structmat::io
