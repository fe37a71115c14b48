#include "structmat/exact/field.hpp"

#include <flint/ulong_extras.h>

namespace structmat::exact {

PrimeField::PrimeField(std::uint32_t p) : p_(p) {
  if (p > largest || n_is_prime(p) == 0) {
    throw DomainError("exact::PrimeField: p is " + std::to_string(p) +
                      ", it must be a prime of at most " + std::to_string(largest));
  }
}

PrimeField::Element PrimeField::invert(Element x) const {
  if (x == 0) throw DomainError("exact::PrimeField: 0 has no inverse in " + name());
  return static_cast<Element>(n_invmod(x, p_));
}

}  // namespace structmat::exact
