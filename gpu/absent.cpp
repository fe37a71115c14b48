// Stands in for the CUDA component where it is not built: every entry throws NotAvailable.
#include "structmat/core/array.hpp"
#include "structmat/core/device.hpp"
#include "structmat/quasiseparable/apply.hpp"

namespace structmat {
namespace {

[[noreturn]] void absent(const char* operation) {
  throw NotAvailable(std::string(operation) + ": built without CUDA");
}

}  // namespace

int device_count() noexcept {
  return 0;
}
std::string device_name(int) {
  absent("device_name");
}

void device_synchronize() {
  absent("device_synchronize");
}

namespace detail {

void* device_allocate(std::size_t) {
  absent("device_allocate");
}
void device_free(void*) noexcept {}
void device_zero(void*, std::size_t) {
  absent("device_zero");
}
void copy_host_to_device(void*, const void*, std::size_t) {
  absent("copy_host_to_device");
}
void copy_device_to_host(void*, const void*, std::size_t) {
  absent("copy_device_to_host");
}

}  // namespace detail

template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) index_t
    apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>&, index_t) {
  absent("quasiseparable::apply_workspace_bytes");
}

template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) void apply(
    const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&, Op,
    View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("quasiseparable::apply");
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_INSTANTIATE(float, Scalar)
STRUCTMAT_INSTANTIATE(float, Diagonal)
STRUCTMAT_INSTANTIATE(double, Scalar)
STRUCTMAT_INSTANTIATE(double, Diagonal)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat
