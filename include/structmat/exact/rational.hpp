/// \file
/// Rational numbers of any size.
#pragma once

#include <string>
#include <string_view>

#include "structmat/core/export.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::exact {

/// An exact fraction in lowest terms. Arithmetic throws DomainError on division by zero.
class STRUCTMAT_EXPORT Rational {
 public:
  Rational() noexcept;
  Rational(std::int64_t numerator, std::int64_t denominator = 1);
  /// The value of a finite double, exactly (every double is a fraction). Throws DomainError.
  static Rational from_double(double value);
  /// "-3", "3/4", "-0.125", "1.5e-3": exactly what the text says. Throws DomainError.
  static Rational parse(std::string_view text);

  Rational(const Rational& other);
  Rational(Rational&& other) noexcept;
  Rational& operator=(const Rational& other);
  Rational& operator=(Rational&& other) noexcept;
  ~Rational();

  Rational& operator+=(const Rational& x);
  Rational& operator-=(const Rational& x);
  Rational& operator*=(const Rational& x);
  Rational& operator/=(const Rational& x);
  friend Rational operator+(Rational x, const Rational& y) { return x += y; }
  friend Rational operator-(Rational x, const Rational& y) { return x -= y; }
  friend Rational operator*(Rational x, const Rational& y) { return x *= y; }
  friend Rational operator/(Rational x, const Rational& y) { return x /= y; }
  Rational operator-() const { return Rational() - *this; }
  friend bool operator==(const Rational& x, const Rational& y) { return x.equals(y); }

  bool is_zero() const;
  /// Numerator and denominator as decimal texts.
  std::string numerator() const;
  std::string denominator() const;
  /// "3/4", "-2"
  std::string text() const;
  /// The nearest double, or one next to it.
  double to_double() const;
  /// The image in F_p as 0 .. p-1. Throws DomainError when p divides the denominator.
  std::uint32_t modulo(std::uint32_t prime) const;

 private:
  friend struct RationalAccess;
  bool equals(const Rational& other) const;
  // The two integers of the back end; small ones are held here, large ones are pointers.
  std::int64_t words_[2];
};

}  // namespace structmat::exact
