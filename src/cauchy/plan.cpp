#include "structmat/cauchy/plan.hpp"

#include <algorithm>
#include <vector>

#include "cauchy/coincidence.hpp"
#include "cauchy/plan_sums.hpp"
#include "core/instantiate.hpp"
#include "core/product.hpp"

namespace structmat {

namespace cauchy {
namespace {

struct NoPlaneSums {};
template <Scalar T>
struct PlaneSumsOf {
  using type = NoPlaneSums;
};
template <ComplexScalar T>
struct PlaneSumsOf<T> {
  using type = PlaneSums<T>;
};

/// Are a plan and one product by the fast method faster than pair by pair? Times are nanoseconds on one
/// core with AVX-512, for double.
bool fast_is_faster(Geometry geometry, index_t m, index_t n) {
  const double pair = geometry == Geometry::plane ? 0.35 : 0.16;
  const double node = geometry == Geometry::plane ? 1000 : 55;
  return pair * static_cast<double>(m) * static_cast<double>(n) > node * static_cast<double>(m + n);
}

}  // namespace

template <Scalar T>
struct PlanState {
  template <class V>
  PlanState(const V& m, const PlanOptions& options, const exec::cpu& e)
      : s(to_array(m.s)), t(to_array(m.t)), coincidence(m.coincidence) {
    if constexpr (requires { m.g; }) {
      like = true;
      g = to_array(m.g);
      h = to_array(m.h);
    }
    Geometry geometry = Geometry::horizontal;
    for (index_t b = 0; b < s.extent(0); ++b) {
      const Geometry own = geometry_of(nodes(s, b), nodes(t, b));
      if (b == 0) geometry = own;
      if (own != geometry) geometry = Geometry::plane;
    }
    method = chosen(geometry, options);
    const bool shared = m.s.stride(0) == 0 && m.t.stride(0) == 0;
    for (index_t b = 0; b < (shared ? std::min<index_t>(1, s.extent(0)) : s.extent(0)); ++b) {
      if (method == Method::direct) {
        check_coincidence("cauchy::plan", m, b);
      } else if (method == Method::line) {
        lines.emplace_back(e, nodes(s, b), nodes(t, b), geometry, options.tolerance, coincidence,
                           b);
      } else if constexpr (is_complex_v<T>) {
        planes.push_back(std::make_unique<PlaneSums<T>>(e, nodes(s, b), nodes(t, b),
                                                        options.tolerance, coincidence));
      }
    }
  }

  static View<const T, 1> nodes(const Array<T, 2>& all, index_t b) {
    return all.view().select(0, b);
  }

  Method chosen(Geometry geometry, const PlanOptions& options) const {
    check_method(options, geometry, is_complex_v<T>);
    if (options.method != Method::automatic) return options.method;
    if (options.tolerance == 0 || !fast_is_faster(geometry, s.extent(1), t.extent(1))) {
      return Method::direct;
    }
    return geometry == Geometry::plane ? Method::plane : Method::line;
  }

  CauchyView<T> plain() const { return {s.view(), t.view(), coincidence}; }
  CauchyLikeView<T> with_generators() const {
    return {s.view(), t.view(), g.view(), h.view(), coincidence};
  }
  /// f(view of the matrix)
  template <class F>
  auto visit(const F& f) const {
    return like ? f(with_generators()) : f(plain());
  }

  void sums(const exec::cpu& e, index_t b, bool exchanged, const View<const T, 2>& x,
            const View<T, 2>& y) const {
    if (method == Method::line) {
      lines[lines.size() == 1 ? 0 : b].apply(e, exchanged, x, y);
    } else if constexpr (is_complex_v<T>) {
      planes[planes.size() == 1 ? 0 : b]->apply(e, exchanged, x, y);
    }
  }

  Array<T, 2> s, t;
  Array<T, 3> g, h;
  Coincidence coincidence;
  bool like = false;
  Method method = Method::direct;
  std::vector<LineSums<T>> lines;  // one for each batch entry, or for all that share nodes
  std::vector<std::unique_ptr<typename PlaneSumsOf<T>::type>> planes;
};

namespace {

/// y := op(C) x without generators: C^T is minus the matrix of exchanged nodes, C^H x is conj(C^T
/// conj(x)).
template <Scalar T>
void apply_plain(const exec::cpu& e, const PlanState<T>& plan, index_t b, Op op,
                 const View<const T, 2>& x, const View<T, 2>& y) {
  const bool conjugated = is_complex_v<T> && op == Op::adjoint;
  if (conjugated) {
    Array<T, 2> in = to_array(x);
    for (T& v : in) v = conjugate(v);
    plan.sums(e, b, true, in.view(), y);
  } else {
    plan.sums(e, b, op != Op::none, x, y);
  }
  if (op == Op::none) return;
  for (index_t i = 0; i < y.extent(0); ++i) {
    for (index_t c = 0; c < y.extent(1); ++c)
      y(i, c) = -(conjugated ? conjugate(y(i, c)) : y(i, c));
  }
}

/// The same with generators: for one column of x, r columns of sums.
template <Scalar T>
void apply_like(const exec::cpu& e, const PlanState<T>& plan, index_t b, Op op,
                const View<const T, 2>& x, const View<T, 2>& y) {
  const bool turned = op != Op::none, conjugated = is_complex_v<T> && op == Op::adjoint;
  const auto g = plan.g.view().select(0, b), h = plan.h.view().select(0, b);
  const auto &out = turned ? h : g, &in = turned ? g : h;
  const index_t r = g.extent(1);
  Array<T, 2> charges({x.extent(0), r}, uninitialized), sums({y.extent(0), r}, uninitialized);
  for (index_t c = 0; c < x.extent(1); ++c) {
    for (index_t j = 0; j < x.extent(0); ++j) {
      const T value = conjugated ? conjugate(x(j, c)) : x(j, c);
      for (index_t l = 0; l < r; ++l) charges(j, l) = product(in(j, l), value);
    }
    plan.sums(e, b, turned, charges.view(), sums.view());
    for (index_t i = 0; i < y.extent(0); ++i) {
      T sum{};
      for (index_t l = 0; l < r; ++l) sum += product(out(i, l), sums(i, l));
      if (conjugated) sum = conjugate(sum);
      y(i, c) = turned ? -sum : sum;
    }
  }
}

}  // namespace
}  // namespace cauchy

template <Scalar T>
CauchyPlan<T>::CauchyPlan(const CauchyView<T>& m, const cauchy::PlanOptions& options,
                          const exec::cpu& e)
    : state_(std::make_shared<const cauchy::PlanState<T>>(cauchy::checked(m, "cauchy::plan"),
                                                          options, e)) {}
template <Scalar T>
CauchyPlan<T>::CauchyPlan(const CauchyLikeView<T>& m, const cauchy::PlanOptions& options,
                          const exec::cpu& e)
    : state_(std::make_shared<const cauchy::PlanState<T>>(cauchy::checked(m, "cauchy::plan"),
                                                          options, e)) {}

template <Scalar T>
index_t CauchyPlan<T>::batch() const {
  return state_->s.extent(0);
}
template <Scalar T>
index_t CauchyPlan<T>::rows() const {
  return state_->s.extent(1);
}
template <Scalar T>
index_t CauchyPlan<T>::cols() const {
  return state_->t.extent(1);
}
template <Scalar T>
cauchy::Method CauchyPlan<T>::method() const {
  return state_->method;
}

template <Scalar T>
void apply(const exec::cpu& e, const CauchyPlan<T>& plan, Op op, View<const T, 3> x, View<T, 3> y) {
  const auto& state = plan.state();
  if (state.method == cauchy::Method::direct) {
    return state.visit([&](const auto& m) { apply(e, m, op, x, y); });
  }
  const index_t m = plan.rows(), n = plan.cols();
  const index_t batch = detail::check_operands(
      "cauchy::apply", plan.batch(), op == Op::none ? m : n, op == Op::none ? n : m, x, y);
  x = x.broadcast(0, batch);
  for (index_t b = 0; b < batch; ++b) {
    const index_t own = plan.batch() == 1 ? 0 : b;
    const auto in = x.select(0, b);
    const auto out = y.select(0, b);
    if (state.like) {
      cauchy::apply_like(e, state, own, op, in, out);
    } else {
      cauchy::apply_plain(e, state, own, op, in, out);
    }
  }
}

template <Scalar T>
T entry(const CauchyPlan<T>& m, index_t i, index_t j, index_t batch) {
  return m.state().visit([&](const auto& view) { return entry(view, i, j, batch); });
}
template <Scalar T>
void to_dense(const CauchyPlan<T>& m, View<T, 3> dense) {
  m.state().visit([&](const auto& view) { to_dense(view, dense); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                         \
  template class STRUCTMAT_EXPORT CauchyPlan<T>;                                         \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const CauchyPlan<T>&, Op,    \
                                          View<const T, 3>, View<T, 3>);                 \
  template STRUCTMAT_EXPORT T entry<T>(const CauchyPlan<T>&, index_t, index_t, index_t); \
  template STRUCTMAT_EXPORT void to_dense<T>(const CauchyPlan<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
