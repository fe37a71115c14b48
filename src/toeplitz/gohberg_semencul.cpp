#include "structmat/toeplitz/gohberg_semencul.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "core/write_entries.hpp"
#include "toeplitz/spectra.hpp"

namespace structmat {
namespace toeplitz {
namespace {

/// The transforms of the rows of `columns` / `divisors`, divided by their length.
template <Scalar T, class C>
Array<C, 2> spectra(const fft::Plan<T>& plan, const View<const T, 2>& columns,
                    const View<const T, 1>& divisors) {
  Array<C, 2> result({columns.extent(0), plan.spectrum_length()}, uninitialized);
  Array<T, 1> padded({plan.length()});
  const real_t<T> length = static_cast<real_t<T>>(plan.length());
  for (index_t b = 0; b < columns.extent(0); ++b) {
    for (index_t i = 0; i < columns.extent(1); ++i)
      padded(i) = columns(b, i) / divisors(b) / length;
    plan.forward(as_row<const T>(padded.data(), plan.length()), result.view().slice(0, b, b + 1));
  }
  return result;
}

/// Products with one column after the other, in the same memory.
template <Scalar T>
class Product {
 public:
  using C = std::complex<real_t<T>>;

  explicit Product(const GohbergSemencul<T>& m)
      : m_(m),
        signal_({m.plan().length()}, uninitialized),
        w_({2, m.plan().spectrum_length()}, uninitialized),
        spectrum_({m.plan().spectrum_length()}, uninitialized) {}

  /// y := T^-1 x, of conjugates if so.
  void run(index_t batch, bool conjugated, const View<const T, 1>& x, const View<T, 1>& y) {
    const index_t n = m_.size(), count = spectrum_.size();
    const C *first = m_.first_spectrum().data() + batch * count,
            *last = m_.last_spectrum().data() + batch * count;
    for (index_t i = 0; i < n; ++i) signal_(i) = conjugated ? conjugate(x(i)) : x(i);
    clear_from(n);
    forward(spectrum_.data());
    // With the upper triangles: rows n - 1, ..., 2 n - 2 of the convolutions with y and with x, the
    // first one of which belongs to the former alone.
    for (const bool is_last : {true, false}) {
      C* w = w_.data() + (is_last ? 0 : count);
      multiply_spectra(count, is_last ? last : first, spectrum_.data(), w);
      backward(w);
      std::copy_n(signal_.data() + n - 1, n, signal_.data());
      clear_from(n);
      if (!is_last) signal_(0) = T{};
      forward(w);
    }
    // With the lower triangles.
    const C *u = w_.data(), *v = u + count;
    for (index_t j = 0; j < count; ++j) {
      spectrum_(j) = product(first[j], u[j]) - product(last[j], v[j]);
    }
    backward(spectrum_.data());
    for (index_t i = 0; i < n; ++i) {
      y(i) = conjugated ? conjugate(signal_(i)) : signal_(i);
    }
  }

 private:
  void clear_from(index_t n) { std::fill(signal_.data() + n, signal_.end(), T{}); }
  void forward(C* to) {
    m_.plan().forward(as_row<const T>(signal_.data(), signal_.size()),
                      as_row<C>(to, spectrum_.size()));
  }
  void backward(const C* from) {
    m_.plan().backward(as_row<const C>(from, spectrum_.size()),
                       as_row<T>(signal_.data(), signal_.size()));
  }

  const GohbergSemencul<T>& m_;
  Array<T, 1> signal_;
  Array<C, 2> w_;
  Array<C, 1> spectrum_;
};

}  // namespace

template <Scalar T>
GohbergSemencul<T>::GohbergSemencul(View<const T, 2> first, View<const T, 2> last)
    : first_(to_array(first)), last_(to_array(last)) {
  for (int d = 0; d < 2; ++d) {
    if (first.extent(d) == last.extent(d)) continue;
    throw ShapeError("toeplitz::GohbergSemencul: the first column has extent " +
                     std::to_string(first.extent(d)) + " in dimension " + std::to_string(d) +
                     ", the last one " + std::to_string(last.extent(d)));
  }
  const index_t n = size();
  if (n == 0 || batch() == 0) return;
  for (index_t b = 0; b < batch(); ++b) {
    if (first_(b, 0) != T{}) continue;
    throw DomainError(
        "toeplitz::GohbergSemencul: the first element of the first column of batch "
        "entry " +
        std::to_string(b) + " is 0, the formula divides by it");
  }
  const T one(1);
  plan_ = fft::Plan<T>(fft::good_length(2 * n - 1));
  first_spectrum_ = spectra<T, complex_type>(plan_, first_.view(), first_.view().select(1, 0));
  last_spectrum_ =
      spectra<T, complex_type>(plan_, last_.view(), View<const T, 1>(&one, {batch()}, {0}));
}

template <Scalar T>
Array<T, 2> GohbergSemencul<T>::diagonal() const {
  const index_t n = size();
  Array<T, 2> result({batch(), n}, uninitialized);
  for (index_t b = 0; b < batch(); ++b) {
    T sum{};
    for (index_t i = 0; i < n; ++i) {
      // Divided first: products of two elements may be out of range.
      sum += product<T>(first_(b, i) / first_(b, 0), last_(b, n - 1 - i));
      if (i > 0) sum -= product<T>(last_(b, i - 1), first_(b, n - i) / first_(b, 0));
      result(b, i) = sum;
    }
  }
  return result;
}

#define STRUCTMAT_INSTANTIATE(T) template class GohbergSemencul<T>;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#undef STRUCTMAT_INSTANTIATE

}  // namespace toeplitz

template <Scalar T>
void apply(const exec::cpu& e, const toeplitz::GohbergSemencul<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y) {
  const index_t n = m.size();
  const index_t batch = detail::check_operands("toeplitz::apply", m.batch(), n, n, x, y);
  const index_t columns = y.extent(2), tasks = batch * columns;
  if (tasks == 0 || n == 0) return;
  x = x.broadcast(0, batch);
  if (op != Op::none) {
    x = x.reversed(1);
    y = y.reversed(1);
  }
  const index_t team =
      std::min<index_t>(team_for(e.threads, tasks * m.plan().length() * 60), tasks);
  parallel_for(static_cast<int>(team), team, [&](index_t part) {
    toeplitz::Product<T> one(m);
    for (index_t i = part * tasks / team; i < (part + 1) * tasks / team; ++i) {
      const index_t b = i / columns, c = i % columns;
      one.run(m.batch() == 1 ? 0 : b, op == Op::adjoint, x.select(0, b).select(1, c),
              y.select(0, b).select(1, c));
    }
  });
}

template <Scalar T>
T entry(const toeplitz::GohbergSemencul<T>& m, index_t i, index_t j, index_t batch) {
  const index_t n = m.size();
  detail::require_index("toeplitz::entry", {m.batch(), n, n}, {batch, i, j});
  const auto x = m.first_column().select(0, batch), y = m.last_column().select(0, batch);
  T sum{};
  for (index_t k = 0; k <= std::min(i, j); ++k) {
    sum += product<T>(x(i - k) / x(0), y(n - 1 - j + k));
    if (k < std::min(i, j)) sum -= product<T>(y(i - k - 1), x(n - j + k) / x(0));
  }
  return sum;
}

template <Scalar T>
void to_dense(const toeplitz::GohbergSemencul<T>& m, View<T, 3> dense) {
  const index_t n = m.size();
  const auto x = m.first_column(), y = m.last_column();
  detail::write_entries("toeplitz::to_dense", dense, {m.batch(), n, n},
                        [&](index_t b, index_t i, index_t j) -> T {
                          if (i == 0) return y(b, n - 1 - j);
                          if (j == 0) return x(b, i);
                          const T ahead = x(b, i) / x(b, 0), behind = x(b, n - j) / x(b, 0);
                          return dense(b, i - 1, j - 1) + product(ahead, y(b, n - 1 - j)) -
                                 product(y(b, i - 1), behind);
                        });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const toeplitz::GohbergSemencul<T>&, Op, \
                                       View<const T, 3>, View<T, 3>);                             \
  template STRUCTMAT_EXPORT T entry(const toeplitz::GohbergSemencul<T>&, index_t, index_t,        \
                                    index_t);                                                     \
  template STRUCTMAT_EXPORT void to_dense(const toeplitz::GohbergSemencul<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
