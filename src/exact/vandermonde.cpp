#include "structmat/exact/vandermonde.hpp"

#include <flint/fmpq_poly.h>
#include <flint/fmpz_vec.h>
#include <flint/nmod_poly.h>

#include <algorithm>

#include "exact/rational_access.hpp"

namespace structmat::exact {

namespace {

using Element = PrimeField::Element;

class Polynomial {
 public:
  explicit Polynomial(const PrimeField& field) { nmod_poly_init(p_, field.prime()); }
  Polynomial(const Polynomial&) = delete;
  Polynomial& operator=(const Polynomial&) = delete;
  ~Polynomial() { nmod_poly_clear(p_); }
  nmod_poly_struct* get() { return p_; }

 private:
  nmod_poly_t p_;
};

class RationalPolynomial {
 public:
  RationalPolynomial() { fmpq_poly_init(p_); }
  RationalPolynomial(const RationalPolynomial&) = delete;
  RationalPolynomial& operator=(const RationalPolynomial&) = delete;
  ~RationalPolynomial() { fmpq_poly_clear(p_); }
  fmpq_poly_struct* get() { return p_; }

 private:
  fmpq_poly_t p_;
};

/// One integer.
class Integer {
 public:
  explicit Integer(slong value) { fmpz_init_set_si(x_, value); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;
  ~Integer() { fmpz_clear(x_); }
  fmpz* get() { return x_; }

 private:
  fmpz_t x_;
};

/// Rationals over their common denominator.
class OverCommonDenominator {
 public:
  explicit OverCommonDenominator(const std::vector<Rational>& from)
      : count_(static_cast<slong>(from.size())), numerators_(_fmpz_vec_init(count_)), one_(1) {
    for (const Rational& r : from) {
      fmpz_lcm(one_.get(), one_.get(), fmpq_denref(RationalAccess::of(r)));
    }
    for (slong i = 0; i < count_; ++i) {
      const fmpq* const r = RationalAccess::of(from[i]);
      fmpz_divexact(numerators_ + i, one_.get(), fmpq_denref(r));
      fmpz_mul(numerators_ + i, numerators_ + i, fmpq_numref(r));
    }
  }
  OverCommonDenominator(const OverCommonDenominator&) = delete;
  OverCommonDenominator& operator=(const OverCommonDenominator&) = delete;
  ~OverCommonDenominator() { _fmpz_vec_clear(numerators_, count_); }

  const fmpz* numerators() const { return numerators_; }
  fmpz* denominator() { return one_.get(); }

 private:
  slong count_;
  fmpz* numerators_;
  Integer one_;
};

std::vector<mp_limb_t> limbs(const char* operation, const PrimeField& field,
                             const std::vector<Element>& from) {
  for (const Element v : from) {
    if (v >= field.prime()) {
      throw DomainError(std::string(operation) + ": " + std::to_string(v) + " is no element of " +
                        field.name());
    }
  }
  return {from.begin(), from.end()};
}

void require_same(std::size_t nodes, std::size_t values) {
  if (nodes == values) return;
  throw ShapeError("exact::interpolate: there are " + std::to_string(nodes) + " nodes and " +
                   std::to_string(values) + " values");
}

/// Throws DomainError for the first node that is there before.
template <class Less, class Equal>
void require_distinct(std::size_t n, const Less& less, const Equal& equal) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), less);
  for (std::size_t i = 1; i < n; ++i) {
    if (!equal(order[i - 1], order[i])) continue;
    throw DomainError("exact::interpolate: nodes " + std::to_string(order[i - 1]) + " and " +
                      std::to_string(order[i]) + " are equal");
  }
}

}  // namespace

std::vector<Element> evaluate(const PrimeField& field, const std::vector<Element>& x,
                              const std::vector<Element>& c) {
  const auto nodes = limbs("exact::evaluate", field, x);
  const auto coefficients = limbs("exact::evaluate", field, c);
  Polynomial p(field);
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    nmod_poly_set_coeff_ui(p.get(), static_cast<slong>(j), coefficients[j]);
  }
  std::vector<mp_limb_t> values(nodes.size());
  if (!nodes.empty()) {
    nmod_poly_evaluate_nmod_vec(values.data(), p.get(), nodes.data(),
                                static_cast<slong>(nodes.size()));
  }
  return {values.begin(), values.end()};
}

std::vector<Element> interpolate(const PrimeField& field, const std::vector<Element>& x,
                                 const std::vector<Element>& y) {
  require_same(x.size(), y.size());
  const auto nodes = limbs("exact::interpolate", field, x);
  const auto values = limbs("exact::interpolate", field, y);
  require_distinct(
      x.size(), [&](std::size_t i, std::size_t j) { return x[i] < x[j]; },
      [&](std::size_t i, std::size_t j) { return x[i] == x[j]; });
  std::vector<Element> c;
  if (x.empty()) return c;
  c.reserve(x.size());
  Polynomial p(field);
  nmod_poly_interpolate_nmod_vec(p.get(), nodes.data(), values.data(),
                                 static_cast<slong>(nodes.size()));
  for (std::size_t j = 0; j < x.size(); ++j) {
    c.push_back(static_cast<Element>(nmod_poly_get_coeff_ui(p.get(), static_cast<slong>(j))));
  }
  return c;
}

std::vector<Rational> interpolate(const RationalField&, const std::vector<Rational>& x,
                                  const std::vector<Rational>& y) {
  require_same(x.size(), y.size());
  require_distinct(
      x.size(),
      [&](std::size_t i, std::size_t j) {
        return fmpq_cmp(RationalAccess::of(x[i]), RationalAccess::of(x[j])) < 0;
      },
      [&](std::size_t i, std::size_t j) { return x[i] == x[j]; });
  std::vector<Rational> c(x.size());
  if (x.empty()) return c;
  // With X = d x and Y = e y integers, p(x) = q(d x) / e for the q that interpolates Y at X.
  OverCommonDenominator nodes(x), values(y);
  RationalPolynomial q;
  fmpq_poly_interpolate_fmpz_vec(q.get(), nodes.numerators(), values.numerators(),
                                 static_cast<slong>(x.size()));
  Integer power(1);
  for (std::size_t j = 0; j < c.size(); ++j) {
    fmpq* const coefficient = RationalAccess::of(c[j]);
    fmpq_poly_get_coeff_fmpq(coefficient, q.get(), static_cast<slong>(j));
    fmpq_mul_fmpz(coefficient, coefficient, power.get());
    fmpq_div_fmpz(coefficient, coefficient, values.denominator());
    fmpz_mul(power.get(), power.get(), nodes.denominator());
  }
  return c;
}

}  // namespace structmat::exact
