// Stands in for the CUDA component where it is not built: every entry throws NotAvailable.
#include "structmat/core/array.hpp"

namespace structmat::detail {
namespace {

[[noreturn]] void absent(const char* operation) {
  throw NotAvailable(std::string(operation) + ": built without CUDA");
}

}  // namespace

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

}  // namespace structmat::detail
