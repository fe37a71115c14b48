/// \file
/// Symbol visibility of the public interface: everything else is hidden.
#pragma once

#define STRUCTMAT_EXPORT __attribute__((visibility("default")))
