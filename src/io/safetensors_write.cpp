#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "safetensors_header.hpp"
#include "source.hpp"
#include "structmat/io/atomic_file.hpp"
#include "structmat/io/safetensors.hpp"

namespace structmat::io {

namespace {

constexpr const char* write_operation = "io::write_safetensors";

/// Elements in row-major order, whatever the strides.
void write_elements(AtomicFile& file, const std::byte* data, std::span<const index_t> extents,
                    std::span<const index_t> strides, std::size_t element_bytes) {
  const index_t step = strides[0] * static_cast<index_t>(element_bytes);
  for (index_t i = 0; i < extents[0]; ++i) {
    if (extents.size() == 1) {
      file.write(data + i * step, element_bytes);
    } else {
      write_elements(file, data + i * step, extents.subspan(1), strides.subspan(1), element_bytes);
    }
  }
}

}  // namespace

std::size_t NamedTensor::bytes() const {
  std::size_t product = element_bytes_;
  for (index_t extent : extents_) product *= static_cast<std::size_t>(extent);
  return product;
}

bool NamedTensor::is_row_major() const {
  index_t step = 1;
  for (std::size_t d = extents_.size(); d-- > 0;) {
    if (extents_[d] != 1 && strides_[d] != step) return false;
    step *= extents_[d];
  }
  return true;
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const auto refuse = [&](const std::string& what, const std::string& reason) {
    throw DomainError(std::string(write_operation) + ": " + path.string() + ", " + what + ": " +
                      reason);
  };
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  const auto part_bytes = [](const NamedTensor& t) {
    return t.is_complex_ ? t.element_bytes_ / 2 : t.element_bytes_;
  };
  std::sort(order.begin(), order.end(), [&](const NamedTensor* a, const NamedTensor* b) {
    if (part_bytes(*a) != part_bytes(*b)) return part_bytes(*a) > part_bytes(*b);
    return a->name_ < b->name_;
  });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::map<std::string, std::string> entries = metadata;
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(detail::complex_prefix)) {
      refuse("metadata " + detail::excerpt(key), "the prefix is reserved");
    }
  }
  for (const NamedTensor* t : order) {
    if (t->is_complex_) {
      entries[std::string(detail::complex_prefix) + t->name_] = detail::complex_dtype(t->dtype_);
    }
  }
  if (!entries.empty()) header[std::string(detail::metadata_name)] = entries;

  std::set<std::string> names;
  std::size_t offset = 0;
  for (const NamedTensor* t : order) {
    if (t->name_ == detail::metadata_name || !names.insert(t->name_).second) {
      refuse("tensor " + detail::excerpt(t->name_), "the name is reserved or appears twice");
    }
    std::vector<index_t> shape = t->extents_;
    if (t->is_complex_) shape.push_back(2);
    const std::size_t end = offset + t->bytes();
    header[t->name_] = {{"dtype", t->dtype_}, {"shape", shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    refuse("header", std::string("a name or metadata is not UTF-8: ") + error.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');

  AtomicFile file(path, write_operation);
  const std::uint64_t length = text.size();
  file.write(&length, sizeof length);
  file.write(text);
  for (const NamedTensor* t : order) {
    if (t->bytes() == 0) continue;
    if (t->is_row_major()) {
      file.write(t->data_, t->bytes());
    } else {
      write_elements(file, t->data_, t->extents_, t->strides_, t->element_bytes_);
    }
  }
  file.commit();
}

}  // namespace structmat::io
