#include "core/instantiate.hpp"
#include "toeplitz/krylov.hpp"

namespace structmat::toeplitz {
namespace {

using Stop = IterativeReport::Stop;

/// The least-squares problem of one cycle: a Hessenberg matrix column by column, made triangular by
/// rotations.
template <class W>
class Hessenberg {
 public:
  Hessenberg(index_t most, double size)
      : h_({most, most + 1}), g_({most + 1}), c_({most}), s_({most}) {
    g_(0) = size;
  }

  /// Column j, with j + 2 numbers; returns the norm of the residual with it.
  double add(const Array<W, 1>& column) {
    const index_t j = count_++;
    for (index_t i = 0; i < j + 2; ++i) h_(j, i) = column(i);
    for (index_t i = 0; i < j; ++i) rotate(i, h_(j, i), h_(j, i + 1));
    const double size = std::hypot(std::abs(h_(j, j)), std::abs(h_(j, j + 1)));
    c_(j) = size == 0 ? W(1) : h_(j, j) / size;
    s_(j) = size == 0 ? W(0) : h_(j, j + 1) / size;
    rotate(j, h_(j, j), h_(j, j + 1));
    rotate(j, g_(j), g_(j + 1));
    return std::abs(g_(j + 1));
  }

  /// The coefficients of the basis vectors.
  Array<W, 1> solve() const {
    Array<W, 1> y({count_});
    for (index_t i = count_ - 1; i >= 0; --i) {
      W sum = g_(i);
      for (index_t j = i + 1; j < count_; ++j) sum -= h_(j, i) * y(j);
      // A singular matrix: directions that do not count.
      y(i) = h_(i, i) == W(0) ? W(0) : sum / h_(i, i);
    }
    return y;
  }

 private:
  void rotate(index_t i, W& a, W& b) const {
    const W first = conjugate(c_(i)) * a + conjugate(s_(i)) * b;
    b = c_(i) * b - s_(i) * a;
    a = first;
  }

  Array<W, 2> h_;
  Array<W, 1> g_, c_, s_;
  index_t count_ = 0;
};

template <Scalar T>
ColumnReport one_column(const KrylovMatrix<T>& m, const Array<T, 1>& b, Array<T, 1>& x,
                        const IterativeOptions& options) {
  using W = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
  const index_t n = m.size(), most = std::min(options.restart, n);
  const double size = norm(b);
  ColumnReport report;
  if (size == 0) return report;
  report.residual = 1;
  report.stop = Stop::iterations;
  if (!std::isfinite(size)) {
    report.residual = size;
    report.stop = Stop::not_finite;
    return report;
  }
  std::vector<Array<T, 1>> basis;
  Array<T, 1> r = b, z({n}), w({n});
  Array<W, 1> column({most + 1});
  while (report.iterations < options.iterations && report.residual > options.tolerance) {
    const double start = norm(r);
    Hessenberg<W> hessenberg(most, start);
    basis.assign(1, r);
    for (T& v : basis[0]) v /= static_cast<real_t<T>>(start);
    for (index_t j = 0; j < most && report.iterations < options.iterations; ++j) {
      m.precondition(basis.back(), z);
      m.apply(z, w);
      ++report.iterations;
      for (index_t i = 0; i <= j; ++i) {
        column(i) = dot(basis[static_cast<std::size_t>(i)], w);
        add(T(-column(i)), basis[static_cast<std::size_t>(i)], w);
      }
      const double length = norm(w);
      if (!std::isfinite(length)) {
        report.stop = Stop::not_finite;
        return report;
      }
      column(j + 1) = length;
      const double left = hessenberg.add(column);
      if (left <= options.tolerance * size || length == 0) break;
      basis.push_back(w);
      for (T& v : basis.back()) v /= static_cast<real_t<T>>(length);
    }
    const Array<W, 1> y = hessenberg.solve();
    Array<T, 1> step({n}), candidate = x;
    for (index_t i = 0; i < y.size(); ++i) add(T(y(i)), basis[static_cast<std::size_t>(i)], step);
    m.precondition(step, z);
    add(T(1), z, candidate);
    m.residual(b, candidate, r);
    const double before = report.residual, after = norm(r) / size;
    if (after < before) {
      x = candidate;
      report.residual = after;
    }
    if (!(after < 0.999 * before) && report.residual > options.tolerance &&
        report.iterations < options.iterations) {
      report.stop = Stop::stagnated;
      return report;
    }
  }
  if (report.residual <= options.tolerance) report.stop = Stop::converged;
  return report;
}

}  // namespace

template <Scalar T>
IterativeReport gmres(const exec::cpu& e, const ToeplitzView<T>& m, View<const T, 3> b,
                      View<T, 3> x, const IterativeOptions& options) {
  return krylov("toeplitz::gmres", e, m, b, x, options, false,
                [&](const KrylovMatrix<T>& one, const Array<T, 1>& rhs, Array<T, 1>& solution) {
                  return one_column(one, rhs, solution, options);
                });
}

#define STRUCTMAT_INSTANTIATE(T)                                                            \
  template STRUCTMAT_EXPORT IterativeReport gmres(const exec::cpu&, const ToeplitzView<T>&, \
                                                  View<const T, 3>, View<T, 3>,             \
                                                  const IterativeOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
