#include "structmat/exact/rational.hpp"

#include <cmath>
#include <memory>
#include <type_traits>

#include "exact/rational_access.hpp"
#include "structmat/core/error.hpp"

namespace structmat::exact {

namespace {

fmpq* raw(Rational& x) {
  return RationalAccess::of(x);
}
const fmpq* raw(const Rational& x) {
  return RationalAccess::of(x);
}

std::string digits(const fmpz_t x) {
  const auto release = [](char* p) { flint_free(p); };
  const std::unique_ptr<char, decltype(release)> text(fmpz_get_str(nullptr, 10, x), release);
  return text.get();
}

[[noreturn]] void refuse(std::string_view text) {
  throw DomainError("exact::Rational::parse: \"" + std::string(text) +
                    "\" is no number (expected 3, -3/4, 0.125, 1e-3)");
}

/// The digits at the front of text, which loses them.
std::string take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  std::string result(text.substr(0, count));
  text.remove_prefix(count);
  return result;
}

bool take_sign(std::string_view& text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const bool negative = text[0] == '-';
  text.remove_prefix(1);
  return negative;
}

Rational from_digits(const std::string& numerator, const std::string& denominator) {
  Rational result;
  fmpz_set_str(fmpq_numref(raw(result)), numerator.c_str(), 10);
  fmpz_set_str(fmpq_denref(raw(result)), denominator.c_str(), 10);
  if (fmpz_is_zero(fmpq_denref(raw(result)))) {
    throw DomainError("exact::Rational::parse: the denominator of \"" + numerator + "/" +
                      denominator + "\" is zero");
  }
  fmpq_canonicalise(raw(result));
  return result;
}

}  // namespace

Rational::Rational() noexcept {
  fmpq_init(raw(*this));
}

Rational::Rational(std::int64_t numerator, std::int64_t denominator) : Rational() {
  if (denominator == 0) throw DomainError("exact::Rational: the denominator is zero");
  fmpz_set_si(fmpq_numref(raw(*this)), numerator);
  fmpz_set_si(fmpq_denref(raw(*this)), denominator);
  fmpq_canonicalise(raw(*this));
}

Rational Rational::from_double(double value) {
  if (!std::isfinite(value)) {
    throw DomainError("exact::Rational::from_double: the value is " + std::to_string(value) +
                      ", it must be finite");
  }
  constexpr int mantissa_bits = 53;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  Rational result(static_cast<std::int64_t>(std::ldexp(fraction, mantissa_bits)));
  const int shift = exponent - mantissa_bits;
  if (shift >= 0) {
    fmpq_mul_2exp(raw(result), raw(result), shift);
  } else {
    fmpq_div_2exp(raw(result), raw(result), -shift);
  }
  return result;
}

Rational Rational::parse(std::string_view text) {
  const std::string_view whole = text;
  const bool negative = take_sign(text);
  std::string mantissa = take_digits(text);
  if (!mantissa.empty() && !text.empty() && text[0] == '/') {
    text.remove_prefix(1);
    const std::string denominator = take_digits(text);
    if (denominator.empty() || !text.empty()) refuse(whole);
    Rational value = from_digits(mantissa, denominator);
    return negative ? -value : value;
  }
  std::size_t decimals = 0;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    const std::string fraction = take_digits(text);
    decimals = fraction.size();
    mantissa += fraction;
  }
  if (mantissa.empty()) refuse(whole);
  std::int64_t exponent = 0;
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
    text.remove_prefix(1);
    const bool down = take_sign(text);
    const std::string power = take_digits(text);
    // More digits than any number of practical size has: the integer would fill the memory.
    constexpr std::size_t most_digits = 5;
    if (power.empty() || power.size() > most_digits) refuse(whole);
    exponent = std::stoll(power) * (down ? -1 : 1);
  }
  if (!text.empty()) refuse(whole);
  exponent -= static_cast<std::int64_t>(decimals);
  const auto power_of_ten = [](std::int64_t e) {
    return "1" + std::string(static_cast<std::size_t>(e), '0');
  };
  Rational value =
      exponent < 0 ? from_digits(mantissa, power_of_ten(-exponent)) : from_digits(mantissa, "1");
  if (exponent > 0) value *= from_digits(power_of_ten(exponent), "1");
  return negative ? -value : value;
}

Rational::Rational(const Rational& other) : Rational() {
  fmpq_set(raw(*this), raw(other));
}
Rational::Rational(Rational&& other) noexcept : Rational() {
  fmpq_swap(raw(*this), raw(other));
}
Rational& Rational::operator=(const Rational& other) {
  if (this != &other) fmpq_set(raw(*this), raw(other));
  return *this;
}
Rational& Rational::operator=(Rational&& other) noexcept {
  fmpq_swap(raw(*this), raw(other));
  return *this;
}
Rational::~Rational() {
  fmpq_clear(raw(*this));
}

Rational& Rational::operator+=(const Rational& x) {
  fmpq_add(raw(*this), raw(*this), raw(x));
  return *this;
}
Rational& Rational::operator-=(const Rational& x) {
  fmpq_sub(raw(*this), raw(*this), raw(x));
  return *this;
}
Rational& Rational::operator*=(const Rational& x) {
  fmpq_mul(raw(*this), raw(*this), raw(x));
  return *this;
}
Rational& Rational::operator/=(const Rational& x) {
  if (x.is_zero()) throw DomainError("exact::Rational: " + text() + " is divided by zero");
  fmpq_div(raw(*this), raw(*this), raw(x));
  return *this;
}

bool Rational::equals(const Rational& other) const {
  return fmpq_equal(raw(*this), raw(other)) != 0;
}
bool Rational::is_zero() const {
  return fmpq_is_zero(raw(*this)) != 0;
}
std::string Rational::numerator() const {
  return digits(fmpq_numref(raw(*this)));
}
std::string Rational::denominator() const {
  return digits(fmpq_denref(raw(*this)));
}
std::string Rational::text() const {
  const std::string below = denominator();
  return below == "1" ? numerator() : numerator() + "/" + below;
}
double Rational::to_double() const {
  return fmpq_get_d(raw(*this));
}
std::uint32_t Rational::modulo(std::uint32_t prime) const {
  const ulong below = fmpz_fdiv_ui(fmpq_denref(raw(*this)), prime);
  if (below == 0) {
    throw DomainError("exact::Rational::modulo: " + std::to_string(prime) +
                      " divides the denominator of " + text());
  }
  const ulong above = fmpz_fdiv_ui(fmpq_numref(raw(*this)), prime);
  return static_cast<std::uint32_t>(above * n_invmod(below, prime) % prime);
}

}  // namespace structmat::exact
