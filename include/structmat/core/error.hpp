/// \file
/// Exceptions. Each message begins with the operation and states both sides of the disagreement:
/// "quasiseparable::apply: x has 5 rows, the operator has 8 columns".
///
/// Numerical breakdown (a bad pivot, a rank that is too large) is a returned status, not an
/// exception.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "structmat/core/export.hpp"

namespace structmat {

/// Base of all exceptions that the library throws on purpose.
class STRUCTMAT_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Extents that do not fit together, or that overflow 64-bit arithmetic.
class STRUCTMAT_EXPORT ShapeError : public Error {
 public:
  using Error::Error;
};

/// Data outside the domain of the operation: non-finite input, overlapping operands, a negative
/// tolerance.
class STRUCTMAT_EXPORT DomainError : public Error {
 public:
  using Error::Error;
};

/// A combination of dtype, stride or space that the operation does not serve.
class STRUCTMAT_EXPORT Unsupported : public Error {
 public:
  using Error::Error;
};

/// Built without the component, or the component finds no device.
class STRUCTMAT_EXPORT NotAvailable : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written: the message gives the file, the place and the reason.
class STRUCTMAT_EXPORT FileError : public Error {
 public:
  using Error::Error;
};

/// A failure inside a back end, with the name of the back end and its code.
class STRUCTMAT_EXPORT BackendError : public Error {
 public:
  BackendError(const std::string& operation, std::string library, long code,
               const std::string& reason = {})
      : Error(operation + ": " + library + " returned " + std::to_string(code) +
              (reason.empty() ? "" : " (" + reason + ")")),
        library_(std::move(library)),
        code_(code) {}

  const std::string& library() const noexcept { return library_; }
  long code() const noexcept { return code_; }

 private:
  std::string library_;
  long code_;
};

}  // namespace structmat
