/// \file
/// Polynomials over F_p and over the rationals: values at many points, and interpolation. In floating
/// point the same fast algorithms (trees of products of x - x_i) lose all digits from degree 50 on.
#pragma once

#include <vector>

#include "structmat/exact/field.hpp"

namespace structmat::exact {

/// y_i = sum_j c_j x_i^j over F_p. x, c: elements, any number of either; y: as many as x. Cost:
/// O(n log^2 n log log n) for m = n. Throws DomainError (a number that is not below p). Source: von zur
/// Gathen, Gerhard, "Modern Computer Algebra", section 10.1; FLINT nmod_poly.
STRUCTMAT_EXPORT std::vector<PrimeField::Element> evaluate(
    const PrimeField& field, const std::vector<PrimeField::Element>& x,
    const std::vector<PrimeField::Element>& c);

/// The coefficients c_0 .. c_{n-1} of the polynomial of degree below n with p(x_i) = y_i. x, y: n
/// elements. Cost: as evaluate. Throws ShapeError (different numbers); DomainError (equal nodes, a
/// number that is not below p). Source: von zur Gathen, Gerhard, section 10.2; FLINT nmod_poly.
STRUCTMAT_EXPORT std::vector<PrimeField::Element> interpolate(
    const PrimeField& field, const std::vector<PrimeField::Element>& x,
    const std::vector<PrimeField::Element>& y);

/// The same over the rationals. Cost: O(n^2) operations with numbers of up to n times the digits.
/// Throws ShapeError, DomainError (equal nodes). Source: FLINT fmpq_poly.
STRUCTMAT_EXPORT std::vector<Rational> interpolate(const RationalField& field,
                                                   const std::vector<Rational>& x,
                                                   const std::vector<Rational>& y);

}  // namespace structmat::exact
