/// \file
/// Fields in which matrices are examined exactly: F_p and the rationals, behind one concept.
///
/// A field is a small value that travels with each matrix; its elements are plain values without a
/// pointer to it.
#pragma once

#include <concepts>
#include <random>
#include <string>

#include "structmat/core/error.hpp"
#include "structmat/exact/rational.hpp"

namespace structmat::exact {

using Engine = std::mt19937_64;

/// What algorithms over a field may use. weight(x) says how well x serves as a pivot: 0 for zero, 1
/// for all others where arithmetic is exact.
template <class F>
concept Field = std::copyable<F> &&
    requires(const F& f, const typename F::Element& x, Engine& engine, std::int64_t i) {
  { f.add(x, x) } -> std::same_as<typename F::Element>;
  { f.subtract(x, x) } -> std::same_as<typename F::Element>;
  { f.multiply(x, x) } -> std::same_as<typename F::Element>;
  { f.invert(x) } -> std::same_as<typename F::Element>;
  { f.from_integer(i) } -> std::same_as<typename F::Element>;
  { f.random(engine) } -> std::same_as<typename F::Element>;
  { f.weight(x) } -> std::same_as<double>;
  { f.text(x) } -> std::same_as<std::string>;
  { f.name() } -> std::same_as<std::string>;
  { F::is_exact } -> std::convertible_to<bool>;
};

/// F_p for a prime p < 2^26 (products of matrices then run on floating-point BLAS without error).
class STRUCTMAT_EXPORT PrimeField {
 public:
  using Element = std::uint32_t;  ///< 0 .. p-1
  static constexpr bool is_exact = true;
  static constexpr std::uint32_t largest = 67108859;  ///< the largest prime below 2^26

  /// Throws DomainError when p is not a prime, or too large.
  explicit PrimeField(std::uint32_t p = largest);

  std::uint32_t prime() const { return p_; }
  Element add(Element x, Element y) const { return reduce(std::uint64_t(x) + y); }
  Element subtract(Element x, Element y) const { return reduce(std::uint64_t(x) + (p_ - y)); }
  Element multiply(Element x, Element y) const { return reduce(std::uint64_t(x) * y); }
  /// Throws DomainError for 0.
  Element invert(Element x) const;
  Element from_integer(std::int64_t i) const {
    const std::int64_t p = p_, r = i % p;
    return static_cast<Element>(r < 0 ? r + p : r);
  }
  /// Uniform over the field.
  Element random(Engine& engine) const {
    return std::uniform_int_distribution<std::uint32_t>(0, p_ - 1)(engine);
  }
  double weight(Element x) const { return x == 0 ? 0 : 1; }
  std::string text(Element x) const { return std::to_string(x); }
  std::string name() const { return "GF(" + std::to_string(p_) + ")"; }
  friend bool operator==(const PrimeField&, const PrimeField&) = default;

 private:
  Element reduce(std::uint64_t x) const { return static_cast<Element>(x % p_); }
  std::uint32_t p_;
};

/// The rational numbers.
class RationalField {
 public:
  using Element = Rational;
  static constexpr bool is_exact = true;

  Element add(const Element& x, const Element& y) const { return x + y; }
  Element subtract(const Element& x, const Element& y) const { return x - y; }
  Element multiply(const Element& x, const Element& y) const { return x * y; }
  Element invert(const Element& x) const { return Rational(1) / x; }
  Element from_integer(std::int64_t i) const { return Rational(i); }
  /// A small fraction: numerator -4 .. 4, denominator 1 .. 3.
  Element random(Engine& engine) const {
    const auto numerator = std::uniform_int_distribution<int>(-4, 4)(engine);
    return Rational(numerator, std::uniform_int_distribution<int>(1, 3)(engine));
  }
  double weight(const Element& x) const { return x.is_zero() ? 0 : 1; }
  std::string text(const Element& x) const { return x.text(); }
  std::string name() const { return "Q"; }
  friend bool operator==(const RationalField&, const RationalField&) = default;
};

}  // namespace structmat::exact
