// Any bytes give an Error or a file of which every array can be read.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "structmat/io/safetensors.hpp"

namespace {

namespace io = structmat::io;

template <class T, int Rank>
void read(const io::Safetensors& file, const std::string& name) {
  try {
    file.read<T, Rank>(name);
  } catch (const structmat::Error&) {
  }
}

template <class T>
void read_ranks(const io::Safetensors& file, const std::string& name) {
  read<T, 1>(file, name);
  read<T, 2>(file, name);
  read<T, 3>(file, name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const io::Safetensors file =
        io::parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz");
    for (const auto& [name, info] : file.tensors()) {
      read_ranks<float>(file, name);
      read_ranks<double>(file, name);
      read_ranks<std::int64_t>(file, name);
      read_ranks<std::complex<float>>(file, name);
      read_ranks<std::complex<double>>(file, name);
    }
  } catch (const structmat::Error&) {
  }
  return 0;
}
