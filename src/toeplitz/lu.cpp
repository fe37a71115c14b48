#include "structmat/toeplitz/lu.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/scale.hpp"
#include "core/threads.hpp"
#include "quasiseparable/check_solve.hpp"
#include "toeplitz/cauchy_image.hpp"
#include "toeplitz/magnitude.hpp"
#include "toeplitz/square.hpp"

namespace structmat::toeplitz {

template <Scalar T>
struct Lu<T>::Entry {
  cauchy::Elimination<std::complex<real_t<T>>, cauchy::CircleNode<real_t<T>>> factors;
  int exponent;  ///< T is 2^exponent times what is factored
};

template <Scalar T>
struct LuBuilder {
  using R = real_t<T>;
  using C = std::complex<R>;
  using Entry = typename Lu<T>::Entry;

  static Lu<T> build(const exec::cpu& e, const ToeplitzView<T>& given,
                     const cauchy::LuOptions& options) {
    constexpr const char* operation = "toeplitz::factor_lu";
    require_square(operation, given);
    const ToeplitzView<T> m = checked(given, operation);
    const index_t n = m.rows();
    Lu<T> f;
    f.size_ = n;
    f.image_ = std::make_shared<const CauchyImage<R>>(n);
    f.entries_.resize(std::size_t(m.batch()));
    std::vector<PivotStatus> status(f.entries_.size());
    parallel_for(team_for(e.threads, n * n * m.batch()), m.batch(), [&](index_t b) {
      const View<const T, 1> lags = m.lags.select(0, b);
      index_t good = 0;
      while (good < lags.extent(0) && is_finite(lags(good))) ++good;
      if (good < lags.extent(0)) {
        status[std::size_t(b)] = {PivotStatus::Kind::not_finite, b, good, NAN};
        return;
      }
      const int exponent = scale_exponent(lags);
      Entry entry{cauchy::Elimination<C, cauchy::CircleNode<R>>(f.image_->problem(lags, exponent)),
                  exponent};
      if (options.storage == cauchy::Storage::full) entry.factors.store();
      status[std::size_t(b)] = entry.factors.status();
      f.entries_[std::size_t(b)] = std::make_shared<const Entry>(std::move(entry));
    });
    f.status_ = cauchy::first_status(status);
    for (const auto& entry : f.entries_) {
      if (entry) f.growth_ = std::max(f.growth_, entry->factors.growth());
    }
    return f;
  }

  static void solve(const exec::cpu& e, const Lu<T>& f, Op op, const View<const T, 3>& b,
                    const View<T, 3>& x) {
    const index_t batch = quasiseparable::check_solve("toeplitz::solve", f, b, x);
    const index_t n = f.size(), k = x.extent(2);
    if (n == 0 || k == 0) return;
    parallel_for(team_for(e.threads, n * n * batch), batch, [&](index_t entry) {
      const Entry& factors = *f.entries_[std::size_t(f.batch() == 1 ? 0 : entry)];
      const View<const T, 2> right = b.select(0, b.extent(0) == 1 ? 0 : entry);
      Array<C, 2> columns({k, n}, uninitialized);
      for (index_t c = 0; c < k; ++c) {
        for (index_t i = 0; i < n; ++i) columns(c, i) = right(i, c);
      }
      f.image_->to_image(op, columns.view());
      factors.factors.solve(op, columns.view());
      f.image_->from_image(op, columns.view());
      for (index_t c = 0; c < k; ++c) {
        for (index_t i = 0; i < n; ++i) {
          const C value = scaled(columns(c, i), -factors.exponent);
          if constexpr (is_complex_v<T>) {
            x(entry, i, c) = value;
          } else {
            x(entry, i, c) = value.real();
          }
        }
      }
    });
  }

  static LogDeterminant<T> log_determinant(const Lu<T>& f, index_t batch) {
    if (batch < 0 || batch >= f.batch()) {
      throw ShapeError("toeplitz::log_determinant: batch entry " + std::to_string(batch) + " of " +
                       std::to_string(f.batch()));
    }
    const auto& entry = f.entries_[std::size_t(batch)];
    if (entry == nullptr) {
      throw DomainError("toeplitz::log_determinant: lags of batch entry " + std::to_string(batch) +
                        " are not finite");
    }
    const LogDeterminant<C> image = entry->factors.log_determinant();
    const double log_abs = image.log_abs + double(f.size()) * entry->exponent * std::log(2.0);
    if (image.sign == C{}) return {log_abs, T{}};
    // det T = i^{n-1} det C
    constexpr C turns[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const C sign = image.sign * turns[(f.size() + 3) % 4];
    if constexpr (is_complex_v<T>) {
      return {log_abs, f.size() == 0 ? T{1} : sign};
    } else {
      return {log_abs, sign.real() < 0 && f.size() > 0 ? T{-1} : T{1}};
    }
  }
};

template <Scalar T>
Lu<T> factor_lu(const exec::cpu& e, const ToeplitzView<T>& m, const cauchy::LuOptions& options) {
  return LuBuilder<T>::build(e, m, options);
}
template <Scalar T>
void solve(const exec::cpu& e, const Lu<T>& f, Op op, View<const T, 3> b, View<T, 3> x) {
  LuBuilder<T>::solve(e, f, op, b, x);
}
template <Scalar T>
LogDeterminant<T> log_determinant(const Lu<T>& f, index_t batch) {
  return LuBuilder<T>::log_determinant(f, batch);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT Lu<T> factor_lu<T>(const exec::cpu&, const ToeplitzView<T>&,        \
                                               const cauchy::LuOptions&);                       \
  template STRUCTMAT_EXPORT void solve<T>(const exec::cpu&, const Lu<T>&, Op, View<const T, 3>, \
                                          View<T, 3>);                                          \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T>(const Lu<T>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
