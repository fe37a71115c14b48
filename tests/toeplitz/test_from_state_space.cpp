#include "structmat/toeplitz/from_state_space.hpp"

#include <catch2/catch.hpp>

#include "structmat/semiseparable/discretise.hpp"
#include "structmat/semiseparable/state_space.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// Poles in the left half-plane, as S4D begins with: -1/2 + i pi n.
template <class C>
Array<C, 2> poles(index_t batch, index_t r, Random& random) {
  Array<C, 2> a({batch, r});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t n = 0; n < r; ++n) {
      a(b, n) = C(real_t<C>(-0.5 + 0.2 * random.real()), real_t<C>(3 * double(n) + random.real()));
    }
  }
  return a;
}

/// A diagonal plus rank 1 model whose poles, and all else, come in conjugate pairs.
struct PairedModel {
  using C = std::complex<double>;
  Array<C, 2> lambda, p, q, b, c;
  Array<double, 1> dt;

  PairedModel(index_t pairs, double step, Random& random)
      : lambda({1, 2 * pairs}),
        p({1, 2 * pairs}),
        q({1, 2 * pairs}),
        b({1, 2 * pairs}),
        c({1, 2 * pairs}),
        dt({1}) {
    dt(0) = step;
    const auto half = poles<C>(1, pairs, random);
    for (index_t n = 0; n < pairs; ++n) {
      const auto set = [&](Array<C, 2>& a, C v) {
        a(0, 2 * n) = v;
        a(0, 2 * n + 1) = std::conj(v);
      };
      set(lambda, half(0, n));
      const C each = 0.5 * random.scalar<C>();
      set(p, each);
      set(q, each);
      set(b, random.scalar<C>());
      set(c, random.scalar<C>());
    }
  }

  toeplitz::DiagonalPlusRankOneModel<C> view() const {
    return {lambda.view(), p.view(), q.view(), b.view(), c.view(), dt.view()};
  }

  /// K_l by the recurrence of the bilinear model.
  std::vector<C> kernel(index_t length) const {
    const index_t r = lambda.extent(1);
    StateSpace<C, transition::Dense> model(1, r);
    for (index_t i = 0; i < r; ++i) {
      for (index_t j = 0; j < r; ++j) {
        model.a(0, 0, i, j) = (i == j ? lambda(0, i) : C{}) - p(0, i) * std::conj(q(0, j));
      }
      model.b(0, 0, i) = b(0, i);
      model.c(0, 0, i) = c(0, i);
    }
    const View<const double, 2> steps(dt.data(), {1, 1});
    const auto d =
        semiseparable::discretise(model.view(), steps, semiseparable::Discretisation::bilinear);
    std::vector<C> state(r), result;
    for (index_t i = 0; i < r; ++i) state[i] = d.b(0, 0, i);
    for (index_t l = 0; l < length; ++l) {
      C sum{};
      for (index_t i = 0; i < r; ++i) sum += d.c(0, 0, i) * state[i];
      result.push_back(sum);
      std::vector<C> next(r);
      for (index_t i = 0; i < r; ++i) {
        for (index_t j = 0; j < r; ++j) next[i] += d.a(0, 0, i, j) * state[j];
      }
      state = next;
    }
    return result;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("diagonal models: the kernel is that of the recurrence", "", std::complex<float>,
                   std::complex<double>) {
  using C = TestType;
  using R = real_t<C>;
  Random random(1);
  for (const index_t length : {0, 1, 2, 37, 300}) {
    const index_t batch = 3, r = 4;
    auto a = poles<C>(batch, r, random);
    a(1, 2) = C{};  // an integrator
    const auto b = random.array<C, 2>({1, r}), c = random.array<C, 2>({batch, r});
    Array<C, 2> w({batch, r});
    for (index_t k = 0; k < batch; ++k) {
      for (index_t n = 0; n < r; ++n) w(k, n) = b(0, n) * c(k, n);
    }
    const std::vector<R> dt{R(0.01), R(0.1), R(0)};
    const auto kernel =
        toeplitz::s4d_kernel<C>(exec::cpu{}, {a.view(), w.view(), View<const R, 1>(dt)}, length);
    REQUIRE(kernel.extents() == std::array<index_t, 2>{batch, length});
    for (index_t k = 0; k < batch; ++k) {
      using W = std::complex<double>;
      std::vector<W> ratio(r), term(r);
      double size = 0;
      for (index_t n = 0; n < r; ++n) {
        const W z = W(a(k, n)) * double(dt[k]);
        // The integral of exp(u a) over a step, by its power series.
        W integral{}, power = double(dt[k]);
        for (int s = 1; s < 40; ++s) {
          integral += power;
          power *= z / double(s + 1);
        }
        ratio[n] = std::exp(z);
        term[n] = W(w(k, n)) * integral;
        size += 2 * std::abs(term[n]);
      }
      double worst = 0;
      for (index_t l = 0; l < length; ++l) {
        W sum{};
        for (index_t n = 0; n < r; ++n) {
          sum += term[n];
          term[n] *= ratio[n];
        }
        worst = std::max(worst, std::abs(2 * sum.real() - double(kernel(k, l))));
      }
      // Rounding of dt a is multiplied by l.
      CHECK(worst <= 2 * double(length + 20) * double(epsilon<R>) * size);
    }
  }
}

TEST_CASE("diagonal plus rank 1: cauchy sums at roots of unity against the recurrence") {
  Random random(2);
  // Even lengths have the node -1, where z is infinite.
  for (const index_t length : {1, 2, 3, 16, 31, 64}) {
    for (const index_t pairs : {1, 3}) {
      INFO("length " << length << ", pairs " << pairs);
      PairedModel model(pairs, 0.1, random);
      const auto expected = model.kernel(length);
      double size = 0;
      for (const auto& v : expected) size = std::max(size, std::abs(v));
      model.c = toeplitz::s4_output(model.view(), length);
      const auto kernel = toeplitz::s4_kernel(exec::cpu{}, model.view(), length);
      for (index_t l = 0; l < length; ++l) {
        CHECK(std::abs(kernel(0, l) - expected[l]) <= 1e-12 * size);
        CHECK(std::abs(kernel(0, l).imag()) <= 1e-12 * size);
      }
      // A purely diagonal model, one pole of each pair and its conjugate.
      model.p = Array<std::complex<double>, 2>(model.p.extents());
      model.c = model.q;  // any output
      const auto diagonal = model.kernel(length);
      model.c = toeplitz::s4_output(model.view(), length);
      const auto again = toeplitz::s4_kernel(exec::cpu{2}, model.view(), length);
      for (index_t l = 0; l < length; ++l) {
        CHECK(std::abs(again(0, l) - diagonal[l]) <= 1e-12 * (1 + std::abs(diagonal[0])));
      }
    }
  }
  PairedModel none(0, 0.1, random);
  CHECK(toeplitz::s4_kernel(exec::cpu{}, none.view(), 5)(0, 4) == 0.0);
  CHECK(toeplitz::s4_kernel(exec::cpu{}, none.view(), 0).size() == 0);
}

TEMPLATE_TEST_CASE("kernels as lower triangular toeplitz matrices", "", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(3);
  const auto kernel = random.array<T, 2>({2, 5});
  const auto t = toeplitz::from_kernel(kernel.view());
  for (index_t b = 0; b < 2; ++b) {
    for (index_t i = 0; i < 5; ++i) {
      for (index_t j = 0; j < 5; ++j) {
        CHECK(t.entry(i, j, b) == (i >= j ? kernel(b, i - j) : T{}));
      }
    }
  }
  CHECK(toeplitz::from_kernel(View<const T, 2>(nullptr, {1, 0})).rows() == 0);
}

TEST_CASE("kernels refuse models that make no sense") {
  using C = std::complex<double>;
  const Array<C, 2> a({2, 3}), w({2, 2});
  const std::vector<double> dt{0.1, -1};
  CHECK(message_from<ShapeError>([&] {
          toeplitz::s4d_kernel<C>({}, {a.view(), w.view(), View<const double, 1>(dt)}, 4);
        }) == "toeplitz::s4d_kernel: w has extent 2 in dimension 1, expected 3");
  CHECK_THROWS_AS(toeplitz::s4d_kernel<C>({}, {a.view(), a.view(), View<const double, 1>(dt)}, 4),
                  DomainError);
  CHECK_THROWS_AS(toeplitz::s4d_kernel<C>({}, {a.view(), a.view(), View<const double, 1>(dt)}, -1),
                  DomainError);
  Random random(4);
  PairedModel model(1, 0, random);
  CHECK(message_from<DomainError>([&] { toeplitz::s4_kernel({}, model.view(), 4); }) ==
        "toeplitz::s4_kernel: step 0 is 0.000000, it must be finite and positive");
  model.dt(0) = 2;
  model.lambda(0, 1) = C{};  // z = 0 at frequency 0
  CHECK(message_from<DomainError>([&] {
          toeplitz::s4_kernel({}, model.view(), 4);
        }).rfind("toeplitz::s4_kernel: pole 1 of model 0 is the node z of frequency 0") == 0);
}
