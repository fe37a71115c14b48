#include "matrix.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "command.hpp"
#include "structmat/io/matrix_market.hpp"
#include "structmat/io/npy.hpp"
#include "structured.hpp"

namespace structmat::cli {

Container container_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending == ".npy") return Container::npy;
  if (ending == ".mtx") return Container::matrix_market;
  if (ending == ".safetensors") return Container::generators;
  throw UsageError(path + ": the name must end in .npy, .mtx (dense) or .safetensors (generators)");
}

AnyMatrix read_matrix(const std::string& path) {
  if (container_of(path) != Container::generators) return read_dense(path);
  if (holds_structured(path)) return expand(read_structured(path));
  io::AnyGenerators generators = io::read_generators(path);
  const index_t batch = std::visit([](const auto& m) { return m.batch(); }, generators);
  if (batch != 1) {
    throw UsageError(fmt::format("{}: it holds {} matrices, files of one are served", path, batch));
  }
  return generators;
}

io::DenseMatrix read_dense(const std::string& path) {
  switch (container_of(path)) {
    case Container::npy:
      return io::read_npy(path);
    case Container::matrix_market:
      return io::read_matrix_market(path);
    case Container::generators:
      break;
  }
  throw UsageError(path + ": a dense file is needed, .npy or .mtx");
}

template <Scalar T>
void write_dense(const std::string& path, View<const T, 2> matrix) {
  switch (container_of(path)) {
    case Container::npy:
      return io::write_npy(path, matrix);
    case Container::matrix_market:
      return io::write_matrix_market(path, matrix);
    case Container::generators:
      break;
  }
  throw UsageError(path + ": dense entries are written to .npy and .mtx only");
}

template void write_dense(const std::string&, View<const float, 2>);
template void write_dense(const std::string&, View<const double, 2>);
template void write_dense(const std::string&, View<const std::complex<float>, 2>);
template void write_dense(const std::string&, View<const std::complex<double>, 2>);

io::DenseMatrix expand(const io::AnyGenerators& generators) {
  return std::visit([](const auto& m) -> io::DenseMatrix { return expand(m); }, generators);
}

io::DenseMatrix read_entries(const std::string& path) {
  return std::visit(Overloaded{[](io::DenseMatrix&& m) { return std::move(m); },
                               [](io::AnyGenerators&& m) { return expand(m); }},
                    read_matrix(path));
}

std::string describe(const io::DenseMatrix& matrix) {
  return std::visit(
      []<Scalar T>(const Array<T, 2>& m) {
        return fmt::format("{} x {}, {}", m.extent(0), m.extent(1), dtype_name<T>());
      },
      matrix);
}

std::string describe(const io::AnyGenerators& generators) {
  const auto kind = [](const auto& m) {
    using M = std::remove_cvref_t<decltype(m)>;
    return fmt::format("{} transitions, {} x {}, {}", M::transition_type::name, m.size(), m.size(),
                       dtype_name<typename M::value_type>());
  };
  return std::visit(
      Overloaded{[&]<class T, class K>(const Quasiseparable<T, K>& m) {
                   return fmt::format("quasiseparable, order {} lower and {} upper, {}",
                                      m.order().lower, m.order().upper, kind(m));
                 },
                 [&]<class T, class K>(const Semiseparable<T, K>& m) {
                   return fmt::format("semiseparable, order {}, {}", m.order(), kind(m));
                 }},
      generators);
}

void require_memory(double bytes, const std::string& what) {
  const double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  if (bytes > memory) {
    throw UsageError(fmt::format("{} takes {:.1f} GB, this machine has {:.1f} GB", what,
                                 bytes / 1e9, memory / 1e9));
  }
}

}  // namespace structmat::cli
