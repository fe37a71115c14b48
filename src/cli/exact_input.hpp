/// \file
/// Matrices from files over the field that the command line names.
#pragma once

#include <optional>
#include <string>

#if STRUCTMAT_HAVE_EXACT
#include "structmat/exact/convert.hpp"
#include "structmat/exact/read.hpp"

namespace structmat::cli {

inline exact::Rational image(const exact::RationalField&, const exact::Rational& x) {
  return x;
}
inline std::uint32_t image(const exact::PrimeField& field, const exact::Rational& x) {
  return x.modulo(field.prime());
}

/// action(matrix) over the rationals, or over F_p for field "gfp".
template <class Action>
auto with_exact_matrix(const std::string& path, const std::string& field,
                       const std::optional<std::uint32_t>& prime, const Action& action) {
  const exact::Matrix<exact::RationalField> m = exact::read_matrix(path);
  if (field == "rational") return action(m);
  return action(exact::reduced(m, prime ? exact::PrimeField(*prime) : exact::PrimeField()));
}

}  // namespace structmat::cli
#endif
