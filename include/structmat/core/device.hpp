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

}  // namespace structmat
