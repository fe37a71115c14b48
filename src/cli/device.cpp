#include "device.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "promote.hpp"
#include "structmat/butterfly/apply.hpp"
#include "structmat/cauchy/plan.hpp"
#include "structmat/lowrank/apply.hpp"
#include "structmat/toeplitz/plan.hpp"
#include "structmat/vandermonde/apply.hpp"

namespace structmat::cli {

void require_device() {
  if (device_count() > 0) return;
  throw NotAvailable(STRUCTMAT_HAVE_CUDA ? "backend cuda: no CUDA device"
                                         : "backend cuda: built without CUDA");
}

namespace {

/// By a plan, where the family has one.
template <Scalar T, class M>
DeviceProduct<T> prepared(M there) {
  const auto view = there.view();
  if constexpr (requires { ToeplitzPlan<T, space::cuda>(exec::cuda{}, view); }) {
    return DeviceProduct<T>(ToeplitzPlan<T, space::cuda>(exec::cuda{}, view));
  } else if constexpr (requires { CauchyPlan<T, space::cuda>(view); }) {
    return DeviceProduct<T>(CauchyPlan<T, space::cuda>(view));
  } else {
    return DeviceProduct<T>(std::move(there));
  }
}

template <Scalar T, class M>
DeviceProduct<T> on_device_in(const M& m) {
  if constexpr (std::same_as<common_t<T, typename M::value_type>, T>) {
    return prepared<T>(to_device(in_scalar<T>(m)));
  } else {
    throw UsageError(fmt::format("{} does not hold the numbers of a {} matrix", dtype_name<T>(),
                                 dtype_name<typename M::value_type>()));
  }
}

}  // namespace

template <Scalar T>
DeviceProduct<T> on_device(const io::AnyStructured& m) {
  return visit_structured([](const auto& given) { return on_device_in<T>(given); }, m);
}

io::DenseMatrix expand_on_device(const io::AnyGenerators& generators) {
  return std::visit([](const auto& m) -> io::DenseMatrix { return expand_on_device(m); },
                    generators);
}
io::DenseMatrix expand_on_device(const io::AnyStructured& matrix) {
  return visit_structured([](const auto& m) -> io::DenseMatrix { return expand_on_device(m); },
                          matrix);
}

template DeviceProduct<float> on_device(const io::AnyStructured&);
template DeviceProduct<double> on_device(const io::AnyStructured&);
template DeviceProduct<std::complex<float>> on_device(const io::AnyStructured&);
template DeviceProduct<std::complex<double>> on_device(const io::AnyStructured&);

}  // namespace structmat::cli
