// The small factorisations are written out: LAPACK's would not tell a pivot's value, and some
// implementations pass NaN on.

#include "structmat/quasiseparable/block_cholesky.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "core/instantiate.hpp"
#include "quasiseparable/in_place.hpp"
#include "quasiseparable/log_product.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat::quasiseparable {
namespace {

/// sum -= x y; std::complex multiplication repairs NaN at a high price.
template <Scalar T>
void subtract_product(T& sum, const T& x, const T& y) {
  if constexpr (is_complex_v<T>) {
    sum -= T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  } else {
    sum -= x * y;
  }
}

/// The lower triangle of a becomes R with R R^H = a, what is above it 0. Returns the number of good
/// pivots; `pivot`: the bad one.
template <Scalar T>
index_t cholesky(const View<T, 2>& a, real_t<T>& pivot) {
  const index_t n = a.extent(0);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      T sum = a(i, j);
      for (index_t k = 0; k < j; ++k) subtract_product(sum, a(i, k), conjugate(a(j, k)));
      if (j < i) {
        a(i, j) = sum / std::real(a(j, j));
        continue;
      }
      // The imaginary part is rounding error, or not finite and has to show.
      pivot = std::real(sum) + (std::isfinite(std::imag(sum)) ? 0 : std::imag(sum));
      if (!(pivot > 0 && pivot <= std::numeric_limits<real_t<T>>::max())) return i;
      a(i, i) = std::sqrt(pivot);
    }
    for (index_t j = i + 1; j < n; ++j) a(i, j) = T{};
  }
  return n;
}

/// x := R^{-1} x
template <Scalar T>
void solve_triangle(const View<const T, 2>& r, const View<T, 2>& x) {
  for (index_t i = 0; i < x.extent(0); ++i) {
    for (index_t c = 0; c < x.extent(1); ++c) {
      for (index_t j = 0; j < i; ++j) subtract_product(x(i, c), r(i, j), x(j, c));
      x(i, c) /= std::real(r(i, i));
    }
  }
}

/// x := R^{-H} x
template <Scalar T>
void solve_adjoint_triangle(const View<const T, 2>& r, const View<T, 2>& x) {
  for (index_t i = x.extent(0) - 1; i >= 0; --i) {
    for (index_t c = 0; c < x.extent(1); ++c) {
      for (index_t j = i + 1; j < x.extent(0); ++j) {
        subtract_product(x(i, c), conjugate(r(j, i)), x(j, c));
      }
      x(i, c) /= std::real(r(i, i));
    }
  }
}

/// One batch entry.
template <Scalar T>
class Factorisation {
 public:
  Factorisation(const Quasiseparable<T, transition::Block>& m, BlockCholesky<T>& f)
      : m_(m), f_(f), f_state_(square()), next_(square()), spare_(square()) {}

  PivotStatus run(index_t batch) {
    for (index_t i = 0; i < m_.partition.blocks(); ++i) {
      const PivotStatus status = block(batch, i);
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  using Kind = PivotStatus::Kind;

  Array<T, 1> square() const {
    index_t most = m_.lower.order();
    for (index_t i = 0; i < m_.partition.blocks(); ++i) most = std::max(most, m_.partition.size(i));
    return Array<T, 1>({most * most});
  }
  static View<T, 2> shaped(Array<T, 1>& memory, index_t rows, index_t columns) {
    return {memory.data(), {rows, columns}};
  }

  PivotStatus block(index_t batch, index_t i) {
    const index_t rows = m_.partition.size(i);
    const index_t entering = m_.lower.state(i), leaving = m_.lower.state(i + 1);
    const auto p = m_.lower.p(batch, i), q = m_.lower.q(batch, i), a = m_.lower.a(batch, i);
    const View<T, 2> f = shaped(f_state_, entering, entering);
    const View<T, 2> pf = shaped(spare_, rows, entering);
    const View<T, 2> r = f_.diagonal.block(batch, i), x = f_.lower.q(batch, i);
    dense::gemm<T>(Op::none, Op::none, T{1}, p, f, T{0}, pf);
    const auto d = m_.diagonal.block(batch, i);
    for (index_t row = 0; row < rows; ++row) {
      for (index_t c = 0; c < rows; ++c) r(row, c) = row < c ? conjugate(d(c, row)) : d(row, c);
    }
    dense::gemm<T>(Op::none, Op::adjoint, T{-1}, pf, p, T{1}, r);
    real_t<T> pivot{};
    const index_t good = cholesky(r, pivot);
    if (good < rows) {
      return {std::isfinite(pivot) ? Kind::not_positive : Kind::not_finite, batch,
              m_.partition.begin(i) + good, static_cast<double>(pivot)};
    }
    for (index_t row = 0; row < rows; ++row) {
      for (index_t l = 0; l < leaving; ++l) x(row, l) = conjugate(q(row, l));
    }
    dense::gemm<T>(Op::none, Op::adjoint, T{-1}, pf, a, T{1}, x);
    solve_triangle(View<const T, 2>(r), x);

    const View<T, 2> af = shaped(spare_, leaving, entering), next = shaped(next_, leaving, leaving);
    dense::gemm<T>(Op::none, Op::none, T{1}, a, f, T{0}, af);
    dense::gemm<T>(Op::none, Op::adjoint, T{1}, af, a, T{0}, next);
    dense::gemm<T>(Op::adjoint, Op::none, T{1}, x, x, T{1}, next);
    std::swap(f_state_, next_);
    for (index_t row = 0; row < rows; ++row) {
      for (index_t l = 0; l < leaving; ++l) x(row, l) = conjugate(x(row, l));
    }
    return {};
  }

  const Quasiseparable<T, transition::Block>& m_;
  BlockCholesky<T>& f_;
  Array<T, 1> f_state_, next_, spare_;
};

template <Scalar T>
void require_real_diagonal(const Quasiseparable<T, transition::Block>& m) {
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < m.partition.blocks(); ++i) {
      for (index_t k = 0; k < m.partition.size(i); ++k) {
        const auto imaginary = std::imag(m.diagonal.block(b, i)(k, k));
        if (imaginary == 0 || !std::isfinite(imaginary)) continue;
        throw DomainError("quasiseparable::factor_cholesky: diagonal entry " +
                          std::to_string(m.partition.begin(i) + k) + " of batch entry " +
                          std::to_string(b) + " has the imaginary part " +
                          std::to_string(imaginary) + ", a Hermitian matrix has a real diagonal");
      }
    }
  }
}

/// y := G^{-1} y
template <Scalar T>
void sweep_down(const BlockCholesky<T>& f, index_t batch, const View<T, 2>& y) {
  const index_t columns = y.extent(1), most = f.lower.order();
  Array<T, 1> memory({most * columns}), other({most * columns});
  for (index_t i = 0; i < f.partition.blocks(); ++i) {
    const index_t begin = f.partition.begin(i), end = begin + f.partition.size(i);
    const View<T, 2> part = y.slice(0, begin, end), s(memory.data(), {f.lower.state(i), columns}),
                     next(other.data(), {f.lower.state(i + 1), columns});
    dense::gemm<T>(Op::none, Op::none, T{-1}, f.lower.p(batch, i), s, T{1}, part);
    solve_triangle(f.diagonal.block(batch, i), part);
    dense::gemm<T>(Op::transpose, Op::none, T{1}, f.lower.q(batch, i), part, T{0}, next);
    dense::gemm<T>(Op::none, Op::none, T{1}, f.lower.a(batch, i), s, T{1}, next);
    std::swap(memory, other);
  }
}

/// y := G^{-H} y. Block column i of G^H holds conj(Q') and P^H: with s := A^H s + P^H y, conj(Q') s.
template <Scalar T>
void sweep_up(const BlockCholesky<T>& f, index_t batch, const View<T, 2>& y) {
  const index_t columns = y.extent(1), most = f.lower.order();
  Array<T, 1> memory({most * columns}), other({most * columns});
  for (index_t i = f.partition.blocks() - 1; i >= 0; --i) {
    const index_t begin = f.partition.begin(i), end = begin + f.partition.size(i);
    const View<T, 2> part = y.slice(0, begin, end),
                     s(memory.data(), {f.lower.state(i + 1), columns}),
                     next(other.data(), {f.lower.state(i), columns});
    const auto q = f.lower.q(batch, i);
    for (index_t row = 0; row < part.extent(0); ++row) {
      for (index_t l = 0; l < q.extent(1); ++l) {
        for (index_t c = 0; c < columns; ++c) {
          subtract_product(part(row, c), conjugate(q(row, l)), s(l, c));
        }
      }
    }
    solve_adjoint_triangle(f.diagonal.block(batch, i), part);
    dense::gemm<T>(Op::adjoint, Op::none, T{1}, f.lower.p(batch, i), part, T{0}, next);
    dense::gemm<T>(Op::adjoint, Op::none, T{1}, f.lower.a(batch, i), s, T{1}, next);
    std::swap(memory, other);
  }
}

}  // namespace

template <Scalar T>
BlockCholesky<T> factor_cholesky(const Quasiseparable<T, transition::Block>& m) {
  require_real_diagonal(m);
  BlockCholesky<T> f;
  f.partition = m.partition;
  f.lower = m.lower;
  f.diagonal = BlockDiagonal<T>(m.partition, m.batch());
  for (index_t b = 0; b < m.batch() && f.status.ok(); ++b) f.status = Factorisation<T>(m, f).run(b);
  return f;
}

template <Scalar T>
void cholesky_solve(const BlockCholesky<T>& f, CholeskySolve part, View<const T, 3> x,
                    View<T, 3> y) {
  constexpr const char* operation = "quasiseparable::cholesky_solve";
  const index_t batch = check_in_place(operation, f.batch(), f.size(), x, y);
  x = x.broadcast(0, batch);
  for (index_t b = 0; b < batch; ++b) {
    const index_t fb = f.batch() == 1 ? 0 : b;
    Array<T, 2> work = to_array(x.select(0, b));
    if (part != CholeskySolve::lower_adjoint) sweep_down(f, fb, work.view());
    if (part != CholeskySolve::lower) sweep_up(f, fb, work.view());
    copy(work.view(), y.select(0, b));
  }
}

template <Scalar T>
LogDeterminant<T> log_determinant(const BlockCholesky<T>& f, index_t batch) {
  if (batch < 0 || batch >= f.batch()) {
    throw ShapeError("quasiseparable::log_determinant: batch entry " + std::to_string(batch) +
                     ", the factor has " + std::to_string(f.batch()));
  }
  LogProduct product;
  for (index_t i = 0; i < f.partition.blocks(); ++i) {
    const auto r = f.diagonal.block(batch, i);
    for (index_t k = 0; k < r.extent(0); ++k) {
      product.times(static_cast<double>(std::real(r(k, k))));
    }
  }
  return {2 * product.log(), T(1)};
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template STRUCTMAT_EXPORT BlockCholesky<T> factor_cholesky<T>(                           \
      const Quasiseparable<T, transition::Block>&);                                        \
  template STRUCTMAT_EXPORT void cholesky_solve<T>(const BlockCholesky<T>&, CholeskySolve, \
                                                   View<const T, 3>, View<T, 3>);          \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T>(const BlockCholesky<T>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
