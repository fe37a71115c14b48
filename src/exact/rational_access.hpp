/// \file
/// The back end's view of a Rational.
#pragma once

#include <flint/fmpq.h>

#include "structmat/exact/rational.hpp"

namespace structmat::exact {

static_assert(sizeof(fmpq) == 2 * sizeof(std::int64_t) && alignof(fmpq) == alignof(std::int64_t));

struct RationalAccess {
  static fmpq* of(Rational& x) { return reinterpret_cast<fmpq*>(x.words_); }
  static const fmpq* of(const Rational& x) { return reinterpret_cast<const fmpq*>(x.words_); }
};

}  // namespace structmat::exact
