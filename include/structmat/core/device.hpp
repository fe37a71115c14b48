/// \file
/// The CUDA devices of this machine.
#pragma once

#include <string>

#include "structmat/core/export.hpp"

namespace structmat {

/// How many there are; 0 without the CUDA component, a driver or a device. Never throws.
STRUCTMAT_EXPORT int device_count() noexcept;

/// "NVIDIA H200". 0 <= device < device_count(). Throws NotAvailable (no such device), BackendError.
STRUCTMAT_EXPORT std::string device_name(int device);

/// Waits until the current device has done all that was enqueued. Throws NotAvailable, BackendError.
STRUCTMAT_EXPORT void device_synchronize();

/// Bytes read plus bytes written a second by a kernel that copies 1 GiB on the current device: what
/// bandwidths are compared with. Allocates 2 GiB for its time; takes about 10 ms. Throws NotAvailable
/// without the CUDA component or a device, BackendError.
STRUCTMAT_EXPORT double device_copy_bandwidth();

}  // namespace structmat
