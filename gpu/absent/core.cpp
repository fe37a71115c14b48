// Devices and their memory.
#include "absent.hpp"
#include "structmat/core/array.hpp"
#include "structmat/core/device.hpp"

namespace structmat {
int device_count() noexcept {
  return 0;
}
std::string device_name(int) {
  absent("device_name");
}

double device_copy_bandwidth() {
  absent("device_copy_bandwidth");
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

}  // namespace structmat
