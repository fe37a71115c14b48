#include "structmat/cauchy/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "cauchy/support.hpp"
#include "support/gradient.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// Nodes away from each other, so that differences of step 1e-5 see a smooth function.
template <class M>
void separate(M& m) {
  using T = typename M::value_type;
  for (T& v : m.t) v += T(4);
}

template <class M>
double loss_of(const M& m, Op op, const Array<typename M::value_type, 3>& x,
               const Array<typename M::value_type, 3>& weights) {
  Array<typename M::value_type, 3> y(weights.extents());
  apply_op(exec::cpu{}, m, op, x, y);
  return inner(weights, y);
}

template <class M, class Bar>
void check_all(M m, Op op, index_t k, Bar (*cotangent)(M&)) {
  using T = typename M::value_type;
  Random random(6);
  separate(m);
  const index_t batch = m.batch();
  auto x = random.array<T, 3>({batch, op == Op::none ? m.cols() : m.rows(), k});
  const auto y_bar = random.array<T, 3>({batch, op == Op::none ? m.rows() : m.cols(), k});
  M bar = m;
  for (auto* nodes : {&bar.s, &bar.t}) {
    for (T& v : *nodes) v = T{};
  }
  if constexpr (requires { bar.g; }) {
    for (auto* generator : {&bar.g, &bar.h}) {
      for (T& v : *generator) v = T{};
    }
  }
  Array<T, 3> x_bar(x.extents());
  apply_vjp(exec::cpu{}, m.view(), op, View<const T, 3>(x.view()), View<const T, 3>(y_bar.view()),
            cotangent(bar), x_bar.view());
  INFO("op " << int(op) << ", k " << k);
  const auto loss = [&] { return loss_of(m, op, x, y_bar); };
  check_gradient("s", m.s, bar.s, loss);
  check_gradient("t", m.t, bar.t, loss);
  if constexpr (requires { bar.g; }) {
    check_gradient("g", m.g, bar.g, loss);
    check_gradient("h", m.h, bar.h, loss);
  }
  check_gradient("x", x, x_bar, loss);

  // Gradients are added to, do not depend on the number of threads, and may be wanted in part.
  auto twice = bar;
  auto x_twice = x_bar;
  apply_vjp(exec::cpu{3}, m.view(), op, View<const T, 3>(x.view()), View<const T, 3>(y_bar.view()),
            cotangent(twice), x_twice.view());
  for (T& v : twice.s) v /= 2;
  for (T& v : x_twice) v /= 2;
  CHECK(distance(twice.s, bar.s) <= 1e-12);
  CHECK(distance(x_twice, x_bar) <= 1e-12);
  auto part = bar;
  auto wanted = cotangent(part);
  wanted.s = {};
  apply_vjp(exec::cpu{}, m.view(), op, View<const T, 3>(x.view()), View<const T, 3>(y_bar.view()),
            wanted, View<T, 3>());
  CHECK(same_bits(part.s, bar.s));
}

template <Scalar T>
CauchyCotangent<T> cotangent(Cauchy<T>& m) {
  return CauchyCotangent<T>(m);
}
template <Scalar T>
CauchyLikeCotangent<T> cotangent_like(CauchyLike<T>& m) {
  return CauchyLikeCotangent<T>(m);
}

}  // namespace

TEMPLATE_TEST_CASE("gradients of Cauchy products agree with differences", "", double,
                   std::complex<double>) {
  using T = TestType;
  for (const Op op : all_ops) {
    check_all(random_cauchy<T>(5, 7, 2, 1), op, 3, cotangent<T>);
    check_all(random_cauchy<T>(19, 3, 1, 2), op, 1, cotangent<T>);
    check_all(random_cauchy_like<T>(5, 7, 2, 2, 3), op, 1, cotangent_like<T>);
    check_all(random_cauchy_like<T>(4, 3, 3, 1, 4), op, 5, cotangent_like<T>);
  }
}

TEST_CASE("gradients of shared nodes are summed over the batch") {
  using T = std::complex<double>;
  auto m = random_cauchy_like<T>(6, 5, 2, 3, 5);
  separate(m);
  auto view = m.view();
  view.s = view.s.slice(0, 0, 1);
  Random random(7);
  const auto x = random.array<T, 3>({3, 5, 2}), y_bar = random.array<T, 3>({3, 6, 2});
  Array<T, 2> all({3, 6}), sum({1, 6});
  const auto run = [&](Array<T, 2>& s_bar) {
    CauchyLikeCotangent<T> bar;
    bar.s = s_bar;
    apply_vjp(exec::cpu{}, view, Op::none, View<const T, 3>(x.view()),
              View<const T, 3>(y_bar.view()), bar, View<T, 3>());
  };
  run(all);
  run(sum);
  for (index_t i = 0; i < 6; ++i) {
    CHECK(std::abs(all(0, i) + all(1, i) + all(2, i) - sum(0, i)) <= 1e-14 * std::abs(sum(0, i)));
  }
}

TEST_CASE("empty and skipped gradients") {
  const auto run = [](Cauchy<double> m) {
    const Array<double, 3> x({1, m.cols(), 1}), y_bar({1, m.rows(), 1});
    Array<double, 3> x_bar(x.extents());
    Cauchy<double> bar(m.rows(), m.cols());
    apply_vjp(exec::cpu{}, m.view(), Op::none, View<const double, 3>(x.view()),
              View<const double, 3>(y_bar.view()), CauchyCotangent<double>(bar), x_bar.view());
    return bar;
  };
  CHECK(run(random_cauchy<double>(0, 3, 1, 1)).rows() == 0);
  CHECK(run(random_cauchy<double>(3, 0, 1, 1)).cols() == 0);
  auto m = random_cauchy<double>(3, 4, 1, 1);
  m.s(0, 1) = m.t(0, 2);
  CHECK(message_from<DomainError>([&] { run(m); }) ==
        "cauchy::apply_vjp: s_1 equals t_2 in batch entry 0");
  m.coincidence = Coincidence::skip;
  for (const double v : run(m).s) CHECK(std::isfinite(v));
}
