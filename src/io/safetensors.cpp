#include "structmat/io/safetensors.hpp"

#include <algorithm>
#include <bit>

#include "file_bytes.hpp"
#include "safetensors_header.hpp"
#include "source.hpp"

namespace structmat::io {

namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr const char* read_operation = "io::read_safetensors";

/// Bits of one element; 0 for a dtype that the format does not have.
std::size_t element_bits(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::size_t> widths[] = {
      {"BOOL", 8}, {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},
      {"I16", 16}, {"U16", 16}, {"F16", 16}, {"BF16", 16},   {"I32", 32},    {"U32", 32},
      {"F32", 32}, {"I64", 64}, {"U64", 64}, {"F64", 64},    {"C64", 64},
  };
  for (const auto& [name, bits] : widths) {
    if (name == dtype) return bits;
  }
  return 0;
}

/// Extents whose non-zero product overflows are refused even if another extent is zero: strides
/// would overflow.
bool fits(const std::vector<index_t>& shape, std::size_t element_bytes, std::size_t& bytes) {
  index_t product = static_cast<index_t>(element_bytes);
  bool empty = false;
  for (index_t extent : shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(product, extent, &product)) return false;
  }
  bytes = empty ? 0 : static_cast<std::size_t>(product);
  return true;
}

void check_tensors(const std::map<std::string, TensorInfo>& tensors, std::size_t data_bytes,
                   const detail::Source& source) {
  std::vector<std::pair<const std::string*, const TensorInfo*>> in_order;
  for (const auto& [name, info] : tensors) {
    const auto fail = [&, &tensor = name](const std::string& reason) {
      source.fail("tensor " + detail::excerpt(tensor), reason);
    };
    const std::size_t bits = element_bits(info.dtype);
    if (bits == 0) fail("the dtype " + detail::excerpt(info.dtype) + " is unknown");
    std::size_t bytes = 0;
    if (!fits(info.shape, bits / 8, bytes)) fail("its size exceeds 64-bit arithmetic");
    if (info.begin > info.end || info.end > data_bytes) {
      fail("its data_offsets are " + std::to_string(info.begin) + " to " +
           std::to_string(info.end) + ", the file has " + std::to_string(data_bytes) +
           " bytes of data");
    }
    if (info.end - info.begin != bytes) {
      fail("its shape and dtype need " + std::to_string(bytes) + " bytes, its data_offsets span " +
           std::to_string(info.end - info.begin));
    }
    in_order.emplace_back(&name, &info);
  }
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
  });
  std::size_t covered = 0;
  for (const auto& [name, info] : in_order) {
    if (info->begin != covered) {
      source.fail("tensor " + detail::excerpt(*name),
                  "its data begins at " + std::to_string(info->begin) +
                      ", the data before it ends at " + std::to_string(covered));
    }
    covered = info->end;
  }
  if (covered != data_bytes) {
    source.fail("end of the data",
                std::to_string(data_bytes - covered) + " bytes belong to no tensor");
  }
}

/// Moves what the metadata says about complex arrays to the arrays.
void take_complex_flags(detail::SafetensorsHeader& header, const detail::Source& source) {
  std::erase_if(header.metadata, [&](const auto& entry) {
    const auto& [key, value] = entry;
    if (!key.starts_with(detail::complex_prefix)) return false;
    const auto at = header.tensors.find(key.substr(detail::complex_prefix.size()));
    const bool fits = at != header.tensors.end() && !at->second.shape.empty() &&
                      at->second.shape.back() == 2 &&
                      (at->second.dtype == "F32" || at->second.dtype == "F64") &&
                      value == detail::complex_dtype(at->second.dtype);
    if (!fits) {
      source.fail("metadata " + detail::excerpt(key),
                  "no tensor of this name is stored as " + detail::excerpt(value));
    }
    at->second.is_complex = true;
    return true;
  });
}

}  // namespace

std::span<const std::byte> Safetensors::find(const std::string& name, std::string_view dtype,
                                             bool is_complex, std::span<index_t> extents) const {
  const detail::Source source{read_operation, file_};
  const std::string place = "tensor " + detail::excerpt(name);
  const auto at = tensors_.find(name);
  if (at == tensors_.end()) source.fail(place, "the file has none of this name");
  const TensorInfo& info = at->second;

  std::vector<index_t> shape = info.shape;
  // C64 is the official complex64, with no trailing extent.
  const bool official = is_complex && dtype == "F32" && info.dtype == "C64";
  if (!official && info.dtype != dtype) {
    source.fail<Unsupported>(place, "its dtype is " + info.dtype + ", " + std::string(dtype) +
                                        (is_complex ? " pairs are" : " is") + " asked for");
  }
  if (is_complex && !official) {
    if (shape.empty() || shape.back() != 2) {
      source.fail<ShapeError>(place, "no trailing extent of 2: it is not stored as complex");
    }
    shape.pop_back();
  }
  if (shape.size() != extents.size()) {
    source.fail<ShapeError>(place, "it has rank " + std::to_string(shape.size()) + ", rank " +
                                       std::to_string(extents.size()) + " is asked for");
  }
  std::copy(shape.begin(), shape.end(), extents.begin());
  return data_.subspan(info.begin, info.end - info.begin);
}

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  const detail::Source source{read_operation, name};
  constexpr std::size_t prefix = 8, longest = 100'000'000;  // the format's own limit
  if (bytes.size() < prefix) source.fail("byte 0", "the file ends within the header's length");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), prefix);
  if (length > longest || length > bytes.size() - prefix) {
    source.fail("byte 0", "the header has " + std::to_string(length) + " bytes, the file " +
                              std::to_string(bytes.size() - prefix) + " more (and 100 MB at most)");
  }
  detail::SafetensorsHeader header = detail::parse_safetensors_header(
      {reinterpret_cast<const char*>(bytes.data()) + prefix, static_cast<std::size_t>(length)},
      source);

  Safetensors result;
  result.file_ = name;
  result.data_ = bytes.subspan(prefix + length);
  check_tensors(header.tensors, result.data_.size(), source);
  take_complex_flags(header, source);
  result.tensors_ = std::move(header.tensors);
  result.metadata_ = std::move(header.metadata);
  return result;
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  const auto file = std::make_shared<const detail::FileBytes>(path, read_operation);
  Safetensors result = parse_safetensors(file->bytes(), path.string());
  result.owner_ = file;
  return result;
}

}  // namespace structmat::io
