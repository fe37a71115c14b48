#include "structmat/quasiseparable/lu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "quasiseparable/check_solve.hpp"
#include "quasiseparable/finite_blocks.hpp"
#include "recurrence/normal_form.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
struct LuBuilder {
  using Step = typename Lu<T>::Step;
  using Blocks = Quasiseparable<T, transition::Block>;

  static Lu<T> build(const Blocks& m) {
    Lu<T> f;
    f.partition_ = m.partition;
    f.entries_.resize(m.batch());
    for (index_t b = 0; b < m.batch() && f.status_.ok(); ++b) {
      f.status_ = factor(m, b, f.entries_[b], f.growth_);
    }
    return f;
  }

 private:
  static PivotStatus factor(const Blocks& m, index_t batch, std::vector<Step>& steps,
                            double& growth) {
    const index_t blocks = m.partition.blocks();
    const index_t bad = first_bad_block(m, batch);
    if (bad < blocks) return {PivotStatus::Kind::not_finite, batch, m.partition.begin(bad), NAN};
    auto lower = recurrence::block_list(m.partition, m.lower, batch);
    auto upper = recurrence::block_list(m.partition, m.upper_transposed, batch);
    recurrence::make_rows_isometric(lower);
    recurrence::make_rows_isometric(upper);

    const auto norm = [](const Array<T, 2>& x) { return dense::frobenius_norm(x.view()); };
    double largest = 0, product = 0;
    Array<T, 2> f({0, 0});
    steps.resize(blocks);
    for (index_t k = 0; k < blocks; ++k) {
      Step& step = steps[k];
      const index_t size = m.partition.size(k);
      const Array<T, 2> fp = dense::product<T>(Op::none, f, Op::transpose, upper.p[k]);
      Array<T, 2> c = to_array(m.diagonal.block(batch, k));
      largest = std::max(largest, std::hypot(norm(c), norm(upper.q[k]), norm(lower.q[k])));
      dense::gemm<T>(Op::none, Op::none, T{-1}, lower.p[k], fp, T{1}, c);

      step.q_upper = std::move(upper.q[k]);
      const Array<T, 2> pf = dense::product<T>(Op::none, lower.p[k], Op::none, f);
      dense::gemm<T>(Op::none, Op::transpose, T{-1}, pf, upper.a[k], T{1}, step.q_upper);
      const double row = std::hypot(norm(c), norm(step.q_upper));

      step.diagonal = to_array(c.view().transposed());
      dense::lu_factor<T>(step.diagonal.view().transposed(), step.pivots);
      for (index_t i = 0; i < size; ++i) {
        const double pivot = std::abs(step.diagonal(i, i));
        if (pivot > 0 && std::isfinite(pivot)) continue;
        return {pivot == 0 ? PivotStatus::Kind::zero : PivotStatus::Kind::not_finite, batch,
                m.partition.begin(k) + i, pivot};
      }
      // Qn = C^-T (Q - (A F P'^T)^T)
      const Array<T, 2> afp = dense::product<T>(Op::none, lower.a[k], Op::none, fp);
      Array<T, 2> columns = to_array(lower.q[k].view().transposed());  // column-major
      for (index_t l = 0; l < columns.extent(0); ++l) {
        for (index_t i = 0; i < size; ++i) columns(l, i) -= afp(l, i);
      }
      dense::lu_solve<T>(Op::transpose, std::as_const(step.diagonal).view().transposed(),
                         step.pivots, columns.view().transposed());
      step.q = to_array(columns.view().transposed());
      product = std::max(product, (1 + norm(step.q)) * row);

      const Array<T, 2> af = dense::product<T>(Op::none, lower.a[k], Op::none, f);
      f = dense::product<T>(Op::none, af, Op::transpose, upper.a[k]);
      dense::add_product<T>(Op::transpose, step.q, Op::none, step.q_upper, f);
      step.p = std::move(lower.p[k]);
      step.a = std::move(lower.a[k]);
      step.p_upper = std::move(upper.p[k]);
      step.a_upper = std::move(upper.a[k]);
    }
    if (largest > 0) growth = std::max(growth, product / largest);
    return {};
  }
};

template <Scalar T>
Lu<T> factor_lu(const Quasiseparable<T, transition::Block>& m) {
  return LuBuilder<T>::build(m);
}

namespace {

template <Scalar T>
void solve_block(Op op, const typename Lu<T>::Step& step, const View<T, 2>& x) {
  Array<T, 2> columns = to_array(x.transposed());
  dense::lu_solve<T>(op, step.diagonal.view().transposed(), step.pivots,
                     columns.view().transposed());
  copy(std::as_const(columns).view().transposed(), x);
}

/// x := (unit triangle)^-1 x. A step reads the state with `out` and, once x is known, feeds it with
/// `in`.
template <Scalar T>
struct Sweep {
  View<T, 2> x;
  Array<T, 2> state;

  /// x_k -= op_out(out) state
  void read(Op op, const Array<T, 2>& out, const View<T, 2>& xk) const {
    dense::gemm<T>(op, Op::none, T{-1}, out, state, T{1}, xk);
  }
  /// state := op_a(a) state + op_in(in) x_k
  void feed(Op op_a, const Array<T, 2>& a, Op op_in, const Array<T, 2>& in, const View<T, 2>& xk) {
    state = dense::product<T>(op_a, a, Op::none, state);
    dense::add_product<T>(op_in, in, Op::none, xk, state);
  }
};

template <Scalar T>
Array<T, 2> conjugated(const Array<T, 2>& m) {
  Array<T, 2> c = m;
  for (T& v : c) v = conjugate(v);
  return c;
}

template <Scalar T>
void solve_entry(const Partition& partition, const std::vector<typename Lu<T>::Step>& steps, Op op,
                 const View<T, 2>& x) {
  const index_t blocks = partition.blocks(), columns = x.extent(1);
  const auto rows = [&](index_t k) {
    return x.slice(0, partition.begin(k), partition.begin(k) + partition.size(k));
  };
  Sweep<T> sweep{x, Array<T, 2>({0, columns})};
  if (op == Op::none) {
    for (index_t k = 0; k < blocks; ++k) {  // L
      sweep.read(Op::none, steps[k].p, rows(k));
      sweep.feed(Op::none, steps[k].a, Op::transpose, steps[k].q, rows(k));
    }
    sweep.state = Array<T, 2>({0, columns});
    for (index_t k = blocks; k-- > 0;) {  // U
      sweep.read(Op::none, steps[k].q_upper, rows(k));
      solve_block<T>(Op::none, steps[k], rows(k));
      sweep.feed(Op::transpose, steps[k].a_upper, Op::transpose, steps[k].p_upper, rows(k));
    }
    return;
  }
  for (index_t k = 0; k < blocks; ++k) {  // U^H
    sweep.read(Op::none, conjugated(steps[k].p_upper), rows(k));
    solve_block<T>(Op::adjoint, steps[k], rows(k));
    sweep.feed(Op::none, conjugated(steps[k].a_upper), Op::adjoint, steps[k].q_upper, rows(k));
  }
  sweep.state = Array<T, 2>({0, columns});
  for (index_t k = blocks; k-- > 0;) {  // L^H
    sweep.read(Op::none, conjugated(steps[k].q), rows(k));
    sweep.feed(Op::adjoint, steps[k].a, Op::adjoint, steps[k].p, rows(k));
  }
}

}  // namespace

template <Scalar T>
void solve(const exec::cpu&, const Lu<T>& f, Op op, View<const T, 3> b, View<T, 3> x) {
  const index_t batch = check_solve("quasiseparable::solve", f, b, x);
  const bool turned = is_complex_v<T> && op == Op::transpose;
  solve_entries(batch, turned, b, x, [&](index_t entry, View<T, 2> columns) {
    solve_entry<T>(f.partition(), f.steps(f.batch() == 1 ? 0 : entry), op, columns);
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT Lu<T> factor_lu<T>(const Quasiseparable<T, transition::Block>&);    \
  template STRUCTMAT_EXPORT void solve<T>(const exec::cpu&, const Lu<T>&, Op, View<const T, 3>, \
                                          View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
