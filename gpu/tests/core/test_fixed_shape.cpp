// Operations of fixed shape, all of them in the same way: captured in a CUDA graph, the same bits each time,
// the workspace asked for and no more, and refused with a smaller one before anything is written. The names are
// those that gpu/entries.py makes of the headers: header, function, type of the first operand.
#include <catch2/catch.hpp>

#include "structmat/butterfly/apply.hpp"
#include "structmat/butterfly/apply_vjp.hpp"
#include "structmat/cauchy/apply.hpp"
#include "structmat/cauchy/apply_vjp.hpp"
#include "structmat/cauchy/conjugate_sums.hpp"
#include "structmat/cauchy/plan.hpp"
#include "structmat/cauchy/roots_of_unity.hpp"
#include "structmat/cauchy/solve.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/singular_values.hpp"
#include "structmat/dense/solve.hpp"
#include "structmat/lowrank/apply.hpp"
#include "structmat/lowrank/apply_vjp.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/apply_vjp.hpp"
#include "structmat/quasiseparable/block_on_device.hpp"
#include "structmat/quasiseparable/compress.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/log_likelihood.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/apply_vjp.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "structmat/toeplitz/apply.hpp"
#include "structmat/toeplitz/apply_vjp.hpp"
#include "structmat/toeplitz/convolution.hpp"
#include "structmat/toeplitz/from_state_space.hpp"
#include "structmat/toeplitz/solve.hpp"
#include "structmat/toeplitz/to_cauchy_like.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "structmat/vandermonde/apply_vjp.hpp"
#include "structmat/vandermonde/exponential_sum.hpp"
#include "support/butterfly.hpp"
#include "support/fixed_shape.hpp"
#include "support/gpu.hpp"
#include "support/hermitian.hpp"
#include "support/low_rank.hpp"
#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using C = std::complex<double>;

template <class M>
index_t apply_bytes(const M& m, index_t k, index_t batch) {
  if constexpr (requires { apply_workspace_bytes(m, k, batch); }) {
    return apply_workspace_bytes(m, k, batch);
  } else {
    return apply_workspace_bytes(m, k);
  }
}

/// Products with m: a matrix on the device, or a plan.
template <class M>
void check_product(const std::string& entry, const M& m) {
  using T = typename M::value_type;
  Random random(1);
  for (const Op op : {Op::none, Op::adjoint}) {
    const index_t in = op == Op::none ? m.cols() : m.rows(),
                  out = op == Op::none ? m.rows() : m.cols();
    const auto x = to_device(random.array<T, 3>({m.batch(), in, 2}));
    Array<T, 3, space::cuda> y({m.batch(), out, 2});
    check_fixed_shape(
        entry, apply_bytes(m.view(), 2, m.batch()),
        [&](const exec::cuda& e) { apply(e, m.view(), op, x.view(), y.view()); }, y);
  }
}

/// All entries.
template <class M>
void check_entries(const std::string& entry, const M& m) {
  Array<typename M::value_type, 3, space::cuda> dense({m.batch(), m.rows(), m.cols()});
  const auto bytes = [&] {
    if constexpr (requires { to_dense_workspace_bytes(m.view()); }) {
      return to_dense_workspace_bytes(m.view());
    } else {
      return index_t{0};
    }
  };
  check_fixed_shape(
      entry, bytes(), [&](const exec::cuda& e) { to_dense(e, m.view(), dense.view()); }, dense);
}

/// Their gradients, for the parameters in `bars`, of which bar_view() is made.
template <class M, class BarView, class... Bars>
void check_gradient(const std::string& entry, const M& m, index_t bytes, const BarView& bar_view,
                    Bars&... bars) {
  using T = typename M::value_type;
  Random random(2);
  const auto x = to_device(random.array<T, 3>({m.batch(), m.cols(), 2}));
  const auto y_bar = to_device(random.array<T, 3>({m.batch(), m.rows(), 2}));
  Array<T, 3, space::cuda> x_bar({m.batch(), m.cols(), 2});
  check_fixed_shape(
      entry, bytes,
      [&](const exec::cuda& e) {
        apply_vjp(e, m.view(), Op::none, x.view(), y_bar.view(), bar_view(), x_bar.view());
      },
      x_bar, bars...);
}

template <class M>
M filled(M m, Random& random) {
  if constexpr (requires { m.lags; }) random.fill(m.lags);
  if constexpr (requires { m.anti_diagonals; }) random.fill(m.anti_diagonals);
  if constexpr (requires { m.column; }) random.fill(m.column);
  return m;
}

/// Nodes s below the unit circle, t above it.
template <class M>
M separated(M m, Random& random) {
  for (C& s : m.s) s = std::polar(0.8, 3 * random.real());
  for (C& t : m.t) t = std::polar(1.2, 3 * random.real());
  if constexpr (requires { m.g; }) random.fill(m.g), random.fill(m.h);
  return m;
}

}  // namespace

TEST_CASE("Toeplitz matrices", "[core_fixed_shape]") {
  Random random(3);
  const index_t n = 70;
  const auto both = [&](const std::string& family, const auto& m, const auto& bar) {
    check_product("toeplitz/apply.hpp apply " + family, m);
    auto m_bar = to_device(bar);
    check_gradient(
        "toeplitz/apply_vjp.hpp apply_vjp " + family, m, 0, [&] { return m_bar.view(); }, m_bar);
  };
  const auto t = filled(Toeplitz<C>(n, n + 3, 2), random);
  const auto h = filled(Hankel<C>(n, n + 3, 2), random);
  const auto c = filled(Circulant<C>(n, 2), random);
  const auto s = filled(SkewCirculant<C>(n, 2), random);
  check_entries("toeplitz/toeplitz.hpp to_dense Toeplitz", to_device(t));
  check_entries("toeplitz/hankel.hpp to_dense Hankel", to_device(h));
  check_entries("toeplitz/circulant.hpp to_dense Circulant", to_device(c));
  check_entries("toeplitz/circulant.hpp to_dense SkewCirculant", to_device(s));
  both("Toeplitz", to_device(t), t.lags);
  both("Hankel", to_device(h), h.anti_diagonals);
  both("Circulant", to_device(c), c.column);
  both("SkewCirculant", to_device(s), s.column);
  for (const auto method : {toeplitz::Method::direct, toeplitz::Method::fourier}) {
    const auto there = to_device(t);
    const ToeplitzPlan<C, space::cuda> plan({}, there.view(), {.method = method});
    check_product("toeplitz/plan.hpp apply ToeplitzPlan", plan);
    auto m_bar = to_device(t.lags);
    check_gradient(
        "toeplitz/apply_vjp.hpp apply_vjp ToeplitzPlan", plan,
        apply_vjp_workspace_bytes(plan, 2, 2), [&] { return m_bar.view(); }, m_bar);
  }

  const auto square = to_device(filled(Toeplitz<double>(20, 20, 2), random));
  const auto b = to_device(random.array<double, 3>({2, 20, 3}));
  Array<double, 3, space::cuda> x({2, 20, 3});
  Array<PivotStatus, 1, space::cuda> status({2});
  check_fixed_shape(
      "toeplitz/solve.hpp solve Toeplitz", solve_workspace_bytes(square.view(), 3, 2),
      [&](const exec::cuda& e) {
        solve(e, square.view(), Op::none, b.view(), x.view(), status.view());
      },
      x);
  CauchyLike<C, space::cuda> image(20, 20, 2, 2);
  check_fixed_shape(
      "toeplitz/to_cauchy_like.hpp to_cauchy_like Toeplitz", 0,
      [&](const exec::cuda& e) { toeplitz::to_cauchy_like(e, square.view(), image); }, image.s,
      image.t, image.g, image.h);
}

TEST_CASE("convolution kernels of state-space models", "[core_fixed_shape]") {
  Random random(4);
  const index_t r = 4, length = 300;
  auto a = random.array<C, 2>({2, r});
  for (C& pole : a) pole = C(-0.5, 3 * pole.imag());
  Array<double, 1> steps({2});
  steps(0) = 0.01, steps(1) = 0.1;
  const auto poles = to_device(a), w = to_device(random.array<C, 2>({2, r}));
  const auto dt = to_device(steps);
  const toeplitz::DiagonalModel<C, space::cuda> diagonal{poles.view(), w.view(), dt.view()};
  Array<double, 2, space::cuda> real_kernel({2, length});
  check_fixed_shape(
      "toeplitz/from_state_space.hpp s4d_kernel DiagonalModel",
      toeplitz::s4d_kernel_workspace_bytes(diagonal),
      [&](const exec::cuda& e) { toeplitz::s4d_kernel<C>(e, diagonal, real_kernel.view()); },
      real_kernel);
  const toeplitz::DiagonalPlusRankOneModel<C, space::cuda> model{poles.view(), w.view(), w.view(),
                                                                 w.view(),     w.view(), dt.view()};
  const toeplitz::S4Plan<C> plan(2, length);
  Array<C, 2, space::cuda> kernel({2, length});
  check_fixed_shape(
      "toeplitz/from_state_space.hpp s4_kernel S4Plan",
      toeplitz::s4_kernel_workspace_bytes(plan, r),
      [&](const exec::cuda& e) { toeplitz::s4_kernel<C>(e, plan, model, kernel.view()); }, kernel);
  const cauchy::MappedRootsView<C, space::cuda> roots{poles.view(), dt.view(), length};
  const auto v = to_device(random.array<C, 3>({2, r, 2}));
  const auto y_bar = to_device(random.array<C, 3>({2, length, 2}));
  Array<C, 3, space::cuda> y({2, length, 2}), v_bar({2, r, 2});
  Array<C, 2, space::cuda> poles_bar({2, r});
  check_fixed_shape(
      "cauchy/roots_of_unity.hpp sums_on_roots_of_unity MappedRoots", 0,
      [&](const exec::cuda& e) { cauchy::sums_on_roots_of_unity<C>(e, roots, v.view(), y.view()); },
      y);
  check_fixed_shape(
      "cauchy/roots_of_unity.hpp sums_on_roots_of_unity_vjp MappedRoots", 0,
      [&](const exec::cuda& e) {
        cauchy::sums_on_roots_of_unity_vjp<C>(e, roots, v.view(), y_bar.view(), poles_bar.view(),
                                              v_bar.view());
      },
      poles_bar, v_bar);
}

TEST_CASE("Cauchy matrices", "[core_fixed_shape]") {
  Random random(5);
  const index_t m = 40, n = 300;
  const auto cauchy_matrix = to_device(separated(Cauchy<C>(m, n, 2), random));
  const auto like = to_device(separated(CauchyLike<C>(m, n, 2, 2), random));
  check_product("cauchy/apply.hpp apply Cauchy", cauchy_matrix);
  check_product("cauchy/apply.hpp apply CauchyLike", like);
  check_entries("cauchy/cauchy.hpp to_dense Cauchy", cauchy_matrix);
  check_entries("cauchy/cauchy.hpp to_dense CauchyLike", like);
  Cauchy<C, space::cuda> bar(m, n, 2);
  check_gradient(
      "cauchy/apply_vjp.hpp apply_vjp Cauchy", cauchy_matrix,
      apply_vjp_workspace_bytes(cauchy_matrix.view(), 2, 2),
      [&] { return CauchyCotangent<C, space::cuda>(bar); }, bar.s, bar.t);
  CauchyLike<C, space::cuda> like_bar(m, n, 2, 2);
  check_gradient(
      "cauchy/apply_vjp.hpp apply_vjp CauchyLike", like,
      apply_vjp_workspace_bytes(like.view(), 2, 2),
      [&] { return CauchyLikeCotangent<C, space::cuda>(like_bar); }, like_bar.s, like_bar.t,
      like_bar.g, like_bar.h);
  Cauchy<double> line(m, n);
  for (index_t i = 0; i < m; ++i) line.s(0, i) = double(i);
  for (index_t j = 0; j < n; ++j) line.t(0, j) = 0.5 + 0.001 * double(j);
  const auto line_there = to_device(line);
  check_product("cauchy/plan.hpp apply CauchyPlan",
                CauchyPlan<double, space::cuda>(line_there.view()));

  const auto square = to_device(separated(Cauchy<C>(9, 9, 2), random));
  const auto square_like = to_device(separated(CauchyLike<C>(9, 9, 2, 2), random));
  const auto b = to_device(random.array<C, 3>({2, 9, 3}));
  Array<C, 3, space::cuda> x({2, 9, 3});
  Array<PivotStatus, 1, space::cuda> status({2});
  cauchy::Lu<C, space::cuda> lu(9, 2);
  const auto solvers = [&](const std::string& family, const auto& matrix) {
    check_fixed_shape(
        "cauchy/lu.hpp factor_lu " + family, cauchy::factor_lu_workspace_bytes(matrix.view()),
        [&](const exec::cuda& e) { cauchy::factor_lu(e, matrix.view(), lu); }, lu.lower, lu.upper);
    check_fixed_shape(
        "cauchy/solve.hpp solve " + family, solve_workspace_bytes(matrix.view(), 3, 2),
        [&](const exec::cuda& e) {
          solve(e, matrix.view(), Op::none, b.view(), x.view(), status.view());
        },
        x);
  };
  solvers("CauchyLike", square_like);
  solvers("Cauchy", square);
  check_fixed_shape(
      "cauchy/lu.hpp solve Lu", cauchy::solve_workspace_bytes(lu, 3, 2),
      [&](const exec::cuda& e) { cauchy::solve(e, lu, Op::none, b.view(), x.view()); }, x);

  const auto v = to_device(random.array<C, 2>({2, 5})), w = to_device(random.array<C, 2>({2, 5}));
  const auto z = to_device(random.array<C, 2>({2, n})),
             out_bar = to_device(random.array<C, 2>({2, n}));
  Array<C, 2, space::cuda> out({2, n}), v_bar({2, 5}), w_bar({2, 5}), z_bar({2, n});
  check_fixed_shape(
      "cauchy/conjugate_sums.hpp conjugate_sums ",
      cauchy::conjugate_sums_workspace_bytes<C>(2, 5, n),
      [&](const exec::cuda& e) {
        cauchy::conjugate_sums<C>(e, v.view(), w.view(), z.view(), out.view());
      },
      out);
  check_fixed_shape(
      "cauchy/conjugate_sums.hpp conjugate_sums_vjp ",
      cauchy::conjugate_sums_vjp_workspace_bytes<C>(2, 5, n),
      [&](const exec::cuda& e) {
        cauchy::conjugate_sums_vjp<C>(e, v.view(), w.view(), z.view(), out_bar.view(),
                                      {v_bar.view(), w_bar.view(), z_bar.view()});
      },
      v_bar, w_bar, z_bar);
}

TEST_CASE("Vandermonde matrices and exponential sums", "[core_fixed_shape]") {
  Random random(6);
  const auto v = to_device(random_vandermonde<C>(300, 40, 2, 1));
  check_product("vandermonde/apply.hpp apply Vandermonde", v);
  check_entries("vandermonde/vandermonde.hpp to_dense Vandermonde", v);
  Array<C, 2, space::cuda> node_bar({2, 300});
  check_gradient(
      "vandermonde/apply_vjp.hpp apply_vjp Vandermonde", v,
      apply_vjp_workspace_bytes(v.view(), 2, 2), [&] { return node_bar.view(); }, node_bar);
  const auto e = to_device(random_exponentials<C>(300, 9, 2, 1));
  check_product("vandermonde/apply.hpp apply LogVandermonde", e);
  check_entries("vandermonde/vandermonde.hpp to_dense LogVandermonde", e);
  Array<C, 2, space::cuda> a_bar({2, 9});
  check_gradient(
      "vandermonde/apply_vjp.hpp apply_vjp LogVandermonde", e,
      apply_vjp_workspace_bytes(e.view(), 2, 2), [&] { return a_bar.view(); }, a_bar);

  const auto c = to_device(random.array<C, 3>({2, 9, 2}));
  const auto y_bar = to_device(random.array<double, 3>({2, 300, 2}));
  Array<double, 3, space::cuda> y({2, 300, 2});
  Array<C, 3, space::cuda> c_bar({2, 9, 2});
  check_fixed_shape(
      "vandermonde/exponential_sum.hpp real_exponential_sum LogVandermonde", 0,
      [&](const exec::cuda& on) { real_exponential_sum<C>(on, e.view(), c.view(), y.view()); }, y);
  check_fixed_shape(
      "vandermonde/exponential_sum.hpp real_exponential_sum_vjp LogVandermonde",
      real_exponential_sum_vjp_workspace_bytes(e.view(), 2, 2),
      [&](const exec::cuda& on) {
        real_exponential_sum_vjp<C>(on, e.view(), c.view(), y_bar.view(), a_bar.view(),
                                    c_bar.view());
      },
      a_bar, c_bar);
}

TEST_CASE("low rank, butterflies, Monarch matrices", "[core_fixed_shape]") {
  Random random(7);
  const auto low_rank = to_device(random_low_rank<C>(30, 500, 3, 2, random));
  check_product("lowrank/apply.hpp apply LowRank", low_rank);
  check_entries("lowrank/low_rank.hpp to_dense LowRank", low_rank);
  LowRank<C, space::cuda> bar(30, 500, 3, 2);
  check_gradient(
      "lowrank/apply_vjp.hpp apply_vjp LowRank", low_rank,
      apply_vjp_workspace_bytes(low_rank.view(), 2, 2),
      [&] { return LowRankCotangent<C, space::cuda>(bar); }, bar.u, bar.v);
  const auto butterfly = to_device(random_butterfly<C>(60, 50, 2, Strides::increasing, 2, random));
  check_product("butterfly/apply.hpp apply Butterfly", butterfly);
  check_entries("butterfly/butterfly.hpp to_dense Butterfly", butterfly);
  Butterfly<C, space::cuda> factors(60, 50, 2, Strides::increasing, 2);
  check_gradient(
      "butterfly/apply_vjp.hpp apply_vjp Butterfly", butterfly,
      apply_vjp_workspace_bytes(butterfly.view(), 2, 2),
      [&] { return ButterflyCotangent<C, space::cuda>(factors); }, factors.factors);
  const MonarchShape shape{{8, 6, 4}, {6, 5, 8}};
  const auto monarch = to_device(random_monarch<C>(shape, 2, random));
  check_product("butterfly/apply.hpp apply Monarch", monarch);
  check_entries("butterfly/monarch.hpp to_dense Monarch", monarch);
  Monarch<C, space::cuda> blocks(shape.first, shape.second, 2);
  check_gradient(
      "butterfly/apply_vjp.hpp apply_vjp Monarch", monarch,
      apply_vjp_workspace_bytes(monarch.view(), 2, 2),
      [&] { return MonarchCotangent<C, space::cuda>(blocks); }, blocks.w1, blocks.w2);
}

TEMPLATE_TEST_CASE("semiseparable and quasiseparable matrices", "[core_fixed_shape]",
                   transition::Scalar, transition::Diagonal, transition::Dense) {
  using K = TestType;
  using namespace quasiseparable;
  const index_t n = quick() ? 70 : 300;
  const auto semiseparable = to_device(random_semiseparable<C, K>(n, 3, 2, 1));
  check_product("semiseparable/apply.hpp apply Semiseparable", semiseparable);
  check_entries("semiseparable/entry.hpp to_dense Semiseparable", semiseparable);
  Semiseparable<C, K, space::cuda> semi_bar(n, 3, 2);
  check_gradient(
      "semiseparable/apply_vjp.hpp apply_vjp Semiseparable", semiseparable,
      apply_vjp_workspace_bytes(semiseparable.view(), 2, 2),
      [&] { return SemiseparableCotangent<C, K, space::cuda>(semi_bar); }, semi_bar.c, semi_bar.b,
      semi_bar.a);
  auto host = random_quasiseparable<C, K>(n, {3, 3}, 2, 2);
  check_product("quasiseparable/apply.hpp apply Quasiseparable", to_device(host));
  const auto general = to_device(host);
  check_entries("quasiseparable/entry.hpp to_dense Quasiseparable", general);
  Quasiseparable<C, K, space::cuda> bar(n, {3, 3}, 2);
  check_gradient(
      "quasiseparable/apply_vjp.hpp apply_vjp Quasiseparable", general,
      apply_vjp_workspace_bytes(general.view(), 2, 2),
      [&] { return QuasiseparableCotangent<C, K, space::cuda>(bar); }, bar.p, bar.q, bar.a, bar.d,
      bar.g, bar.h, bar.b);
  make_hermitian(host);
  for (C& d : host.d) d = 40 + std::real(d);
  const auto m = to_device(host);
  Array<C, 3, space::cuda> w({2, n, 3}), x({2, n, 2});
  Array<double, 2, space::cuda> d({2, n});
  Array<PivotStatus, 1, space::cuda> status({2});
  check_fixed_shape(
      "quasiseparable/ldl.hpp factor_ldl Quasiseparable", factor_ldl_workspace_bytes(m.view()),
      [&](const exec::cuda& e) { factor_ldl(e, m.view(), {}, w.view(), d.view(), status.view()); },
      w, d);
  const LdlView<C, K, space::cuda> f{m.p.view(), w.view(), m.a.view(), d.view()};
  Random random(8);
  const auto b = to_device(random.array<C, 3>({2, n, 2}));
  for (const LdlPart part : {LdlPart::solve, LdlPart::solve_lower, LdlPart::solve_lower_adjoint,
                             LdlPart::apply_lower, LdlPart::apply_lower_adjoint}) {
    check_fixed_shape(
        "quasiseparable/ldl.hpp ldl_apply Ldl", ldl_apply_workspace_bytes(f, 2, 2),
        [&](const exec::cuda& e) { ldl_apply(e, f, part, b.view(), x.view()); }, x);
  }
  Array<LogDeterminant<C>, 1, space::cuda> determinants({2});
  check_fixed_shape(
      "quasiseparable/ldl.hpp log_determinant Ldl", log_determinant_workspace_bytes(f),
      [&](const exec::cuda& e) { log_determinant(e, f, determinants.view()); }, determinants);
  const auto y = to_device(random.array<C, 2>({2, n}));
  Array<double, 1, space::cuda> value({2});
  check_fixed_shape(
      "quasiseparable/log_likelihood.hpp log_likelihood Quasiseparable",
      log_likelihood_workspace_bytes(m.view(), 2),
      [&](const exec::cuda& e) {
        log_likelihood(e, m.view(), y.view(), value.view(), status.view());
      },
      value);
}

TEST_CASE("block generators", "[core_fixed_shape]") {
  using namespace quasiseparable;
  const auto m = to_device(random_block_quasiseparable<C>(quick() ? 12 : 60, {3, 3}, 2, 3));
  check_entries("quasiseparable/entry.hpp to_dense Quasiseparable, blocks", m);
  auto smaller = block_zeros_on_device(m, Order{2, 2});
  Array<TruncationReport, 1, space::cuda> reports({2});
  check_fixed_shape(
      "quasiseparable/compress.hpp compress Quasiseparable",
      compress_workspace_bytes(m, Order{2, 2}),
      [&](const exec::cuda& e) {
        compress(e, m, CompressOptions::Form::balanced, smaller, reports.view());
      },
      smaller.lower.p, smaller.lower.q, smaller.lower.a, smaller.upper_transposed.p, reports);
  Random random(10);
  const index_t n = quick() ? 9 : 40;
  const auto entries = to_device(random.array<C, 3>({2, n, n}));
  const View<const C, 3, space::cuda> each = entries;
  Quasiseparable<C, transition::Dense, space::cuda> result(n, {3, 2}, 2);
  check_fixed_shape(
      "quasiseparable/from_dense.hpp from_dense ", from_dense_workspace_bytes(each, {3, 2}),
      [&](const exec::cuda& e) { from_dense(e, each, result, reports.view()); }, result.p, result.q,
      result.a, result.d, result.g, result.h, result.b, reports);
}

TEST_CASE("convolutions", "[core_fixed_shape]") {
  Random random(11);
  const auto taps = [&] { return to_device(random.array<C, 3>({2, 3, 90})); };
  const auto f = taps(), b = taps(), x = taps(), y_bar = taps();
  const View<const C, 3, space::cuda> forward = f, backward = b, in = x, out_bar = y_bar;
  Array<C, 3, space::cuda> y({2, 3, 90}), f_bar({2, 3, 90}), b_bar({2, 3, 90}), x_bar({2, 3, 90});
  check_fixed_shape(
      "toeplitz/convolution.hpp convolve ",
      toeplitz::convolve_workspace_bytes(forward, backward, in),
      [&](const exec::cuda& e) { toeplitz::convolve(e, forward, backward, in, y.view()); }, y);
  check_fixed_shape(
      "toeplitz/convolution.hpp convolve_vjp ",
      toeplitz::convolve_vjp_workspace_bytes(forward, backward, in),
      [&](const exec::cuda& e) {
        toeplitz::convolve_vjp(e, forward, backward, in, out_bar, f_bar.view(), b_bar.view(),
                               x_bar.view());
      },
      f_bar, b_bar, x_bar);
}

TEST_CASE("dense matrices", "[core_fixed_shape]") {
  Random random(9);
  check_product("quasiseparable/apply.hpp apply Quasiseparable, blocks",
                to_device(random_block_quasiseparable<C>(60, {3, 2}, 2, 3)));
  const auto a = to_device(random.array<C, 2>({30, 30})),
             b = to_device(random.array<C, 2>({30, 7}));
  Array<C, 2, space::cuda> c({30, 7});
  check_fixed_shape(
      "dense/blas.hpp gemm ", dense::gemm_workspace_bytes<C>(),
      [&](const exec::cuda& e) {
        dense::gemm<C>(e, Op::adjoint, Op::none, 2, a.view(), b.view(), 0, c.view());
      },
      c);
  // In place: of a singular matrix the status is the result, of 2 I the half.
  const auto scaled = [](index_t rank) {
    return to_device(
        matrix<C>(30, 30, [&](index_t i, index_t j) { return C(i == j && i < rank ? 2 : 0); }));
  };
  const auto singular = scaled(20), regular = scaled(30);
  Array<C, 2, space::cuda> solution({30, 7});
  Array<int, 1, space::cuda> pivot({1});
  const index_t bytes = dense::solve_workspace_bytes<C>(singular.view(), 7);
  check_fixed_shape(
      "dense/solve.hpp solve ", bytes,
      [&](const exec::cuda& e) {
        dense::solve<C>(e, singular.view(), solution.view(), pivot.view());
      },
      pivot);
  solution = to_device(to_host(b));
  Array<std::byte, 1, space::cuda> workspace({bytes});
  replay([&](void* stream) {
    dense::solve<C>(exec::cuda{stream, workspace}, regular.view(), solution.view(), pivot.view());
  });
  auto quarter = to_host(b);
  for (C& v : quarter) v *= 0.25;
  CHECK(same_bits(to_host(solution), quarter));

  const auto matrices = to_device(random.array<C, 3>({5, 9, 6}));
  const View<const C, 3, space::cuda> each = matrices;
  Array<double, 2, space::cuda> sigma({5, 6});
  Array<int, 1, space::cuda> status({5}), ranks({5});
  check_fixed_shape(
      "dense/singular_values.hpp singular_values ", dense::singular_values_workspace_bytes(each),
      [&](const exec::cuda& e) { dense::singular_values(e, each, sigma.view(), status.view()); },
      sigma);
  check_fixed_shape(
      "dense/singular_values.hpp rank ", dense::rank_workspace_bytes(each),
      [&](const exec::cuda& e) { dense::rank(e, each, {}, ranks.view()); }, ranks);
}
