#include "structured.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "promote.hpp"
#include "structmat/butterfly/apply.hpp"
#include "structmat/cauchy/apply.hpp"
#include "structmat/lowrank/apply.hpp"
#include "structmat/toeplitz/apply.hpp"
#include "structmat/vandermonde/apply.hpp"

namespace structmat::cli {
namespace {

/// What a description says besides the family.
template <class M>
std::string parameters(const M& m) {
  if constexpr (requires { m.stages(); }) {
    return fmt::format(", {} stages of {} factors", m.stages(), m.view().levels());
  } else if constexpr (requires { m.w1; }) {
    return fmt::format(", {} and {} blocks", m.w1.extent(1), m.w2.extent(1));
  } else if constexpr (requires { m.order(); }) {
    return fmt::format(", order {}", m.order());
  } else {
    return "";
  }
}

}  // namespace

AnyScalarType scalar_of(const io::AnyStructured& matrix) {
  return visit_structured([]<class M>(const M&) { return AnyScalarType(typename M::value_type{}); },
                          matrix);
}

AnyScalarType scalar_of(const io::AnyGenerators& generators) {
  return std::visit([]<class M>(const M&) { return AnyScalarType(typename M::value_type{}); },
                    generators);
}

bool holds_structured(const std::string& path) {
  if (container_of(path) != Container::generators) return false;
  const std::string family = io::stored_family(path);
  return !family.empty() && family != "quasiseparable" && family != "semiseparable";
}

io::AnyStructured read_structured(const std::string& path) {
  io::AnyStructured matrix = io::read_structured(path);
  const index_t batch = visit_structured([](const auto& m) { return m.batch(); }, matrix);
  if (batch != 1) {
    throw UsageError(fmt::format("{}: it holds {} matrices, files of one are served", path, batch));
  }
  return matrix;
}

std::string family_of(const io::AnyStructured& matrix) {
  std::string name =
      visit_structured([]<class M>(const M&) { return std::string(io::family_name<M>()); }, matrix);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string describe(const io::AnyStructured& matrix) {
  return family_of(matrix) + visit_structured(
                                 []<class M>(const M& m) {
                                   return fmt::format("{}, {} x {}, {}", parameters(m), m.rows(),
                                                      m.cols(),
                                                      dtype_name<typename M::value_type>());
                                 },
                                 matrix);
}

index_t stored(const io::AnyStructured& matrix) {
  return visit_structured([](const auto& m) { return m.stored(); }, matrix);
}
index_t rows(const io::AnyStructured& matrix) {
  return visit_structured([](const auto& m) { return m.rows(); }, matrix);
}
index_t cols(const io::AnyStructured& matrix) {
  return visit_structured([](const auto& m) { return m.cols(); }, matrix);
}

io::DenseMatrix expand(const io::AnyStructured& matrix) {
  return visit_structured([](const auto& m) -> io::DenseMatrix { return expand(m); }, matrix);
}

template <Scalar T>
void apply_structured(const exec::cpu& e, const io::AnyStructured& a, Op op, View<const T, 2> x,
                      View<T, 2> y) {
  visit_structured(
      [&]<class M>(const M& m) {
        if constexpr (std::same_as<common_t<T, typename M::value_type>, T>) {
          const auto& wide = in_scalar<T>(m);
          apply(e, wide.view(), op, View<const T, 3>(as_batch(x)), View<T, 3>(as_batch(y)));
        } else {
          throw UsageError(fmt::format("{} does not hold the numbers of a {} matrix",
                                       dtype_name<T>(), dtype_name<typename M::value_type>()));
        }
      },
      a);
}

template void apply_structured(const exec::cpu&, const io::AnyStructured&, Op, View<const float, 2>,
                               View<float, 2>);
template void apply_structured(const exec::cpu&, const io::AnyStructured&, Op,
                               View<const double, 2>, View<double, 2>);
template void apply_structured(const exec::cpu&, const io::AnyStructured&, Op,
                               View<const std::complex<float>, 2>, View<std::complex<float>, 2>);
template void apply_structured(const exec::cpu&, const io::AnyStructured&, Op,
                               View<const std::complex<double>, 2>, View<std::complex<double>, 2>);

void write_matrix(const std::string& path, const io::AnyStructured& matrix) {
  if (container_of(path) == Container::generators) return io::write_structured(path, matrix);
  std::visit([&]<Scalar T>(const Array<T, 2>& m) { write_dense(path, View<const T, 2>(m)); },
             expand(matrix));
}

}  // namespace structmat::cli
