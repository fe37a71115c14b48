#include "toeplitz/superfast.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"

namespace structmat::toeplitz {
namespace {

/// The smallest base that `base` can be replaced by, so that base 2^levels >= steps, and lengths
/// without large prime factors.
index_t fitted_base(index_t steps, index_t levels) {
  const index_t least = (steps + (index_t{1} << levels) - 1) >> levels;
  return fft::good_length(std::max<index_t>(least, 1));
}

/// (u, v) := scale (p u + q v, conj(q) u + conj(p) v), frequency by frequency.
template <class R>
STRUCTMAT_CLONES void advance(index_t count, R scale, const R* p, const R* q, R* u, R* v) {
  for (index_t j = 0; j < 2 * count; j += 2) {
    const R pr = p[j] * scale, pi = p[j + 1] * scale, qr = q[j] * scale, qi = q[j + 1] * scale;
    const R ur = u[j], ui = u[j + 1], vr = v[j], vi = v[j + 1];
    u[j] = pr * ur - pi * ui + qr * vr - qi * vi;
    u[j + 1] = pr * ui + pi * ur + qr * vi + qi * vr;
    v[j] = qr * ur + qi * ui + pr * vr + pi * vi;
    v[j + 1] = qr * ui - qi * ur + pr * vi - pi * vr;
  }
}

/// (p2, q2) := scale (p2 p + s q2 conj(q), p2 q + s q2 conj(p)) with s = (-1)^j at frequency j.
template <class R>
STRUCTMAT_CLONES void join(index_t count, R scale, const R* p, const R* q, R* p2, R* q2) {
  const auto at = [&](index_t j, R sign) STRUCTMAT_ALWAYS {
    const R ar = p2[j] * scale, ai = p2[j + 1] * scale;
    const R br = q2[j] * sign, bi = q2[j + 1] * sign;
    const R pr = p[j], pi = p[j + 1], qr = q[j], qi = q[j + 1];
    p2[j] = ar * pr - ai * pi + br * qr + bi * qi;
    p2[j + 1] = ar * pi + ai * pr + bi * qr - br * qi;
    q2[j] = ar * qr - ai * qi + br * pr + bi * pi;
    q2[j + 1] = ar * qi + ai * qr + bi * pr - br * pi;
  };
  const index_t pairs = count / 2;
  for (index_t k = 0; k < pairs; ++k) {
    at(4 * k, scale);
    at(4 * k + 2, -scale);
  }
  if (count % 2 == 1) at(2 * count - 2, scale);
}

/// Steps one by one on (u, v), and what they are as polynomials: (x, y) = (p, z r) and (x2, y2) =
/// (q, z s), whose second ones begin one place earlier at every step.
template <Scalar T>
STRUCTMAT_CLONES bool single_steps(index_t count, Planes<T> u, const Planes<T>& v,
                                   const Planes<T>& x, Planes<T> y, const Planes<T>& x2,
                                   Planes<T> y2, Pivots& pivots) {
  for (index_t k = 0; k < count; ++k) {
    T rho;
    if (!pivots.next(u.get(0), std::real(v.get(0)), rho)) return false;
    reflect(rho, u, v, count - k);
    reflect(rho, x, y, k + 1);
    reflect(rho, x2, y2, k + 1);
    u = u + 1;
    y = y + (-1);
    y2 = y2 + (-1);
  }
  return true;
}

}  // namespace

/// Memory of one run.
template <Scalar T>
struct Superfast<T>::Work {
  using C = typename fft::Plan<T>::complex_type;

  Work(index_t base, const std::vector<fft::Plan<T>>& plans)
      : u(base), v(base), x(base), y(2 * base), x2(base), y2(2 * base) {
    polynomials.emplace_back(std::array<index_t, 2>{2, base}, uninitialized);
    for (const fft::Plan<T>& plan : plans) {
      const std::array<index_t, 2> signal{2, plan.length()}, spectrum{2, plan.spectrum_length()};
      polynomials.emplace_back(signal, uninitialized);
      series.emplace_back(signal, uninitialized);
      first.emplace_back(spectrum, uninitialized);
      second.emplace_back(spectrum, uninitialized);
    }
  }

  Planar<T> u, v, x, y, x2, y2;
  /// p and q of the last node of each level.
  std::vector<Array<T, 2>> polynomials;
  /// Of each level above the base: pairs on their way into and out of transforms, and the
  /// transforms: of the first half's polynomials, and of something else.
  std::vector<Array<T, 2>> series;
  std::vector<Array<C, 2>> first, second;
};

template <Scalar T>
Superfast<T>::Superfast(index_t n, index_t base) {
  const index_t steps = std::max<index_t>(n - 1, 1);
  index_t levels = 0;
  while ((base << levels) < steps) ++levels;
  base_ = fitted_base(steps, levels);
  for (index_t l = 1; l <= levels; ++l)
    plans_.emplace_back(base_ << l, fft::PlanOptions{.batch = 2});
}

template <Scalar T>
bool Superfast<T>::base_steps(index_t count, const T* u, const T* v, Work& work,
                              Pivots& pivots) const {
  for (Planar<T>* row : {&work.x, &work.y, &work.x2, &work.y2}) row->clear();
  for (index_t i = 0; i < count; ++i) {
    work.u.begin().set(i, u[i]);
    work.v.begin().set(i, v[i]);
  }
  const Planes<T> x = work.x.begin(), x2 = work.x2.begin();
  x.set(0, T(1));
  const Planes<T> y = work.y.begin() + base_, y2 = work.y2.begin() + base_;
  y2.set(0, T(1));
  if (!single_steps(count, work.u.begin(), work.v.begin(), x, y, x2, y2, pivots)) return false;
  const View<T, 2> result = work.polynomials[0].view();
  for (index_t i = 0; i < base_; ++i) {
    result(0, i) = x.get(i);
    result(1, i) = x2.get(i);
  }
  return true;
}

template <Scalar T>
bool Superfast<T>::steps(std::size_t level, index_t count, const T* u, const T* v, Work& work,
                         Pivots& pivots) const {
  if (level == 0) return base_steps(count, u, v, work, pivots);
  using R = real_t<T>;
  const fft::Plan<T>& plan = plans_[level - 1];
  const index_t size = plan.length(), half = size / 2, bins = plan.spectrum_length();
  const View<T, 2> polynomials = work.polynomials[level].view();
  const View<T, 2> halves = work.polynomials[level - 1].view();
  const View<T, 2> series = work.series[level - 1].view();
  const auto first = work.first[level - 1].view(), second = work.second[level - 1].view();
  const auto row = [](const auto& view, index_t i) { return view.data() + i * view.stride(0); };
  const auto reals = [&](const auto& view, index_t i) {
    return reinterpret_cast<R*>(row(view, i));
  };
  /// A row of n scalars and zeros.
  const auto pad = [&](const T* from, index_t n, const View<T, 2>& to, index_t i) {
    std::fill(std::copy_n(from, n, row(to, i)), row(to, i) + size, T{});
  };

  const bool one_half = count <= half;
  if (!steps(level - 1, std::min(count, half), u, v, work, pivots)) return false;
  if (one_half) {
    for (index_t i = 0; i < 2; ++i) pad(row(halves, i), half, polynomials, i);
    return true;
  }
  for (index_t i = 0; i < 2; ++i) pad(row(halves, i), half, series, i);
  plan.forward(series, first);
  pad(u, count, series, 0);
  pad(v, count, series, 1);
  plan.forward(series, second);
  const R scale = R(1) / static_cast<R>(size);
  advance(bins, scale, reals(first, 0), reals(first, 1), reals(second, 0), reals(second, 1));
  plan.backward(second, series);

  const index_t rest = count - half;
  if (!steps(level - 1, rest, row(series, 0) + half, row(series, 1), work, pivots)) return false;
  for (index_t i = 0; i < 2; ++i) pad(row(halves, i), half, series, i);
  plan.forward(series, second);
  join(bins, scale, reals(first, 0), reals(first, 1), reals(second, 0), reals(second, 1));
  plan.backward(second, polynomials);
  for (index_t i = 0; i < 2; ++i) {
    std::fill(row(polynomials, i) + count, row(polynomials, i) + size, T{});
  }
  return true;
}

template <Scalar T>
void Superfast<T>::run(const T* lags, index_t n, Pivots& pivots, T* a) const {
  a[0] = T(1);
  if (n < 2) return;
  Work work(base_, plans_);
  if (!steps(plans_.size(), n - 1, lags + 1, lags, work, pivots)) return;
  // p + z q, applied to the polynomials of degree 0, is the one of degree n - 1.
  const View<T, 2> result = work.polynomials.back().view();
  for (index_t i = 1; i < n; ++i) {
    a[i] = result(1, i - 1) + (i < result.extent(1) ? result(0, i) : T{});
  }
}

#define STRUCTMAT_INSTANTIATE(T) template class Superfast<T>;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
