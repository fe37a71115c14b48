// The three phases of the CUDA matrix-vector product, run one after the other on the host, against
// the definition and against the plain recurrence.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "../../gpu/quasiseparable/apply_body.cuh"

using namespace structmat;
using namespace structmat::quasiseparable::device;

namespace {

struct OneLane {
  static constexpr int count = 1;
  int index() const { return 0; }
  template <class T>
  T sum(T value) const {
    return value;
  }
};

template <class T>
struct Generators {
  index_t n, lower, upper;
  bool scalar;
  std::vector<T> p, a, q, d, g, b, h, x;

  Generators(index_t size, index_t r_lower, index_t r_upper, bool scalar_transition, unsigned seed)
      : n(size), lower(r_lower), upper(r_upper), scalar(scalar_transition) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<T> entry(-1, 1), decay(T(0.3), T(0.99));
    const auto fill = [&](std::vector<T>& v, index_t count, auto& distribution) {
      v.reserve(static_cast<std::size_t>(count) + 1);  // never a null pointer
      v.resize(static_cast<std::size_t>(count));
      for (T& value : v) value = distribution(random);
    };
    fill(p, n * lower, entry);
    fill(q, n * lower, entry);
    fill(a, n * (scalar ? 1 : lower), decay);
    fill(g, n * upper, entry);
    fill(h, n * upper, entry);
    fill(b, n * (scalar ? 1 : upper), decay);
    fill(d, n, entry);
    fill(x, n, entry);
    poison_unread();
  }

  /// Numbers that no entry of the matrix contains.
  void poison_unread() {
    if (n == 0) return;
    const T junk = std::numeric_limits<T>::quiet_NaN();
    const index_t wide_a = scalar ? 1 : lower, wide_b = scalar ? 1 : upper;
    for (index_t s = 0; s < wide_a; ++s) a[s] = a[(n - 1) * wide_a + s] = junk;
    for (index_t s = 0; s < wide_b; ++s) b[s] = b[(n - 1) * wide_b + s] = junk;
    for (index_t s = 0; s < lower; ++s) p[s] = q[(n - 1) * lower + s] = junk;
    for (index_t s = 0; s < upper; ++s) h[s] = g[(n - 1) * upper + s] = junk;
  }

  Triangle<T> triangle(bool reversed) const {
    const index_t r = reversed ? upper : lower;
    const index_t wide = scalar ? 1 : r;
    if (reversed) return {{g.data(), r}, {b.data(), wide}, {h.data(), r}, r, n, true};
    return {{p.data(), r}, {a.data(), wide}, {q.data(), r}, r, n, false};
  }
};

/// y and |M| |x| from the recurrence in long double, whose range holds every product.
template <class T>
std::pair<std::vector<long double>, std::vector<long double>> recurrence(const Generators<T>& m) {
  std::vector<long double> y(m.n), bound(m.n);
  for (index_t i = 0; i < m.n; ++i) {
    y[i] = static_cast<long double>(m.d[i]) * m.x[i];
    bound[i] = std::fabs(y[i]);
  }
  for (const bool reversed : {false, true}) {
    const Triangle<T> part = m.triangle(reversed);
    for (index_t s = 0; s < part.states; ++s) {
      long double state = 0, magnitude = 0;
      for (index_t t = 0; t < m.n; ++t) {
        const index_t i = reversed ? m.n - 1 - t : t;
        if (t > 0) {
          const long double p = part.p.data[t * part.p.step + s];
          y[i] += p * state;
          bound[i] += std::fabs(p) * magnitude;
        }
        if (t == m.n - 1) break;
        const long double a = t > 0 ? part.a.data[t * part.a.step + (m.scalar ? 0 : s)] : T(0);
        const long double qx = static_cast<long double>(part.q.data[t * part.q.step + s]) * m.x[i];
        state = t > 0 ? a * state + qx : qx;
        magnitude = t > 0 ? std::fabs(a) * magnitude + std::fabs(qx) : std::fabs(qx);
      }
    }
  }
  return {y, bound};
}

template <class K, int Count, class T>
std::vector<T> three_phases(const Generators<T>& m) {
  constexpr int rows = 4, segments = 5;
  if (m.n == 0) return {};
  const Chunks chunks(m.n);
  std::vector<T> y(m.n, std::numeric_limits<T>::quiet_NaN());
  const Sequence<const T> x{m.x.data(), 1}, d{m.d.data(), 1};
  const Sequence<T> out{y.data(), 1};
  bool with_diagonal = true;
  for (const bool reversed : {false, true}) {
    const Triangle<T> part = m.triangle(reversed);
    const T junk = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> mantissa(chunks.count() * part.states, junk), states = mantissa;
    std::vector<int> exponent(mantissa.size(), -12345);
    for (index_t first = 0; first < part.states; first += Count) {
      const StateSlots<Count> slots{first, 1, part.states};
      for (index_t c = 0; c < chunks.count(); ++c) {
        if (part.rank(chunks, c) == chunks.count() - 1) continue;
        ScaledProduct<T> product[Count];
        T state[Count];
        summarise<K, rows>(part, part.in_order(x), slots, part.begin(chunks, c),
                           part.end(chunks, c), product, state);
        for (int v = 0; v < Count && slots.real(v); ++v) {
          mantissa[c * part.states + slots[v]] = product[v].mantissa;
          exponent[c * part.states + slots[v]] = product[v].exponent;
          states[c * part.states + slots[v]] = state[v];
        }
      }
    }
    for (index_t s = 0; s < part.states; ++s) {
      const Summaries<T> summaries{&mantissa[s], &exponent[s],   part.states, &states[s],
                                   part.states,  chunks.count(), reversed};
      const index_t length = (chunks.count() + segments - 1) / segments;
      T of_segment[segments];
      T segment_mantissa[segments];
      int segment_exponent[segments];
      for (int g = 0; g < segments; ++g) {
        ScaledProduct<T> product;
        segment_summary(summaries, g * length, std::min((g + 1) * length, chunks.count()), product,
                        of_segment[g]);
        segment_mantissa[g] = product.mantissa;
        segment_exponent[g] = product.exponent;
      }
      scan_segments(segment_mantissa, segment_exponent, of_segment, segments, 1);
      for (int g = 0; g < segments; ++g) {
        distribute(summaries, g * length, std::min((g + 1) * length, chunks.count()),
                   of_segment[g]);
      }
    }
    for (index_t first = 0; first < part.states || with_diagonal; first += Count) {
      const StateSlots<Count> slots{first, 1, part.states};
      for (index_t c = 0; c < chunks.count(); ++c) {
        T state[Count];
        for (int v = 0; v < Count; ++v) {
          const bool known = part.rank(chunks, c) > 0 && slots.real(v);
          state[v] = known ? states[c * part.states + slots[v]] : T(0);
        }
        apply_chunk<K, rows>(OneLane{}, part, part.in_order(d), part.in_order(x),
                             part.in_order(out), slots, part.begin(chunks, c), part.end(chunks, c),
                             with_diagonal, true, state);
      }
      with_diagonal = false;
    }
  }
  return y;
}

template <class T>
std::vector<T> three_phases(const Generators<T>& m) {
  return m.scalar ? three_phases<transition::Scalar, 3>(m)
                  : three_phases<transition::Diagonal, 3>(m);
}

template <class T>
void require_accurate(const Generators<T>& m) {
  const auto y = three_phases(m);
  const auto [exact, bound] = recurrence(m);
  const long double factor = 4 * (m.n + m.lower + m.upper) * static_cast<long double>(epsilon<T>);
  for (index_t i = 0; i < m.n; ++i) {
    INFO("n " << m.n << ", orders " << m.lower << " " << m.upper << ", row " << i << ": " << y[i]
              << " for " << exact[i]);
    REQUIRE(std::fabs(y[i] - exact[i]) <=
            factor * bound[i] + m.n * std::numeric_limits<T>::denorm_min());
  }
}

}  // namespace

TEMPLATE_TEST_CASE("chunked recurrence agrees with the plain one", "", float, double) {
  for (const bool scalar : {false, true}) {
    for (const index_t n : {0, 1, 2, 3, 7, 15, 16, 17, 127, 128, 129, 257, 1025, 5000}) {
      for (const auto& [lower, upper] : {std::pair{0, 0}, {1, 1}, {3, 4}, {0, 2}, {8, 0}, {7, 5}}) {
        require_accurate(Generators<TestType>(n, lower, upper, scalar, 1));
      }
    }
    require_accurate(Generators<TestType>(70001, 2, 1, scalar, 2));
  }
}

TEST_CASE("the plain recurrence agrees with the definition") {
  const Generators<double> m(40, 3, 2, false, 3);
  const auto y = three_phases(m);
  for (index_t i = 0; i < m.n; ++i) {
    double sum = m.d[i] * m.x[i], size = std::fabs(sum);
    for (index_t j = 0; j < m.n; ++j) {
      if (i == j) continue;
      const bool upper = j > i;
      const auto& [left, transition, right, r] =
          upper ? std::tie(m.g, m.b, m.h, m.upper) : std::tie(m.p, m.a, m.q, m.lower);
      for (index_t s = 0; s < r; ++s) {
        double term = left[i * r + s] * right[j * r + s];
        for (index_t l = std::min(i, j) + 1; l < std::max(i, j); ++l) term *= transition[l * r + s];
        sum += term * m.x[j];
        size += std::fabs(term * m.x[j]);
      }
    }
    REQUIRE(std::fabs(y[i] - sum) <= 4 * 45 * epsilon<double> * size);
  }
}

TEMPLATE_TEST_CASE("products outside the range of the type lose nothing", "", float, double) {
  const TestType huge = std::sqrt(std::numeric_limits<TestType>::max());
  // A large number far back, zeros since: what is left of it is all there is.
  Generators<TestType> decaying(300, 2, 2, false, 4);
  for (auto* v : {&decaying.a, &decaying.b}) {
    std::fill(v->begin(), v->end(), TestType(std::is_same_v<TestType, float> ? 1e-3 : 1e-21));
  }
  std::fill(decaying.x.begin(), decaying.x.end(), TestType(0));
  decaying.x[0] = decaying.x[299] = huge;
  decaying.poison_unread();
  require_accurate(decaying);

  // Transitions that vanish, then grow: the product over the chunk is moderate, its parts are not.
  Generators<TestType> swinging(300, 1, 1, false, 5);
  for (index_t i = 0; i < 300; ++i) {
    swinging.a[i] = swinging.b[i] = i % 64 < 32 ? TestType(0.01) : TestType(100);
  }
  swinging.poison_unread();
  std::fill(swinging.x.begin(), swinging.x.end(), TestType(0));
  swinging.x[0] = 1;
  const auto y = three_phases(swinging);
  for (const TestType value : y) REQUIRE(std::isfinite(value));

  // The product overflows, the state is zero.
  Generators<TestType> growing(300, 1, 1, false, 6);
  std::fill(growing.a.begin(), growing.a.end(), TestType(1000));
  std::fill(growing.b.begin(), growing.b.end(), TestType(1000));
  growing.poison_unread();
  std::fill(growing.x.begin(), growing.x.end(), TestType(0));
  for (const TestType value : three_phases(growing)) REQUIRE(value == 0);
}

TEST_CASE("NaN and infinity reach only the rows that depend on them") {
  constexpr index_t n = 200, at = 70;
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {inf, std::numeric_limits<double>::quiet_NaN()}) {
    const auto check = [](const std::vector<double>& y, auto&& affected) {
      for (index_t i = 0; i < n; ++i) {
        INFO("row " << i);
        REQUIRE(std::isfinite(y[i]) == !affected(i));
      }
    };
    Generators<double> m(n, 2, 2, false, 7);
    m.a[at * 2] = bad;
    check(three_phases(m), [](index_t i) { return i > at; });

    m = Generators<double>(n, 2, 2, false, 7);
    m.b[at * 2 + 1] = bad;
    check(three_phases(m), [](index_t i) { return i < at; });

    m = Generators<double>(n, 2, 0, false, 7);
    m.x[at] = bad;
    check(three_phases(m), [](index_t i) { return i >= at; });

    m = Generators<double>(n, 2, 2, false, 7);
    m.p[at * 2] = bad;
    check(three_phases(m), [](index_t i) { return i == at; });
  }
}

TEST_CASE("a scaled product keeps what its factors had") {
  ScaledProduct<float> product;
  for (int i = 0; i < 200; ++i) product.multiply(0.125f);
  REQUIRE(product.times(1e30f) == 0);
  for (int i = 0; i < 200; ++i) product.multiply(8.0f);
  REQUIRE(product.times(3.0f) == 3.0f);
  product.multiply(std::numeric_limits<float>::denorm_min());
  product.multiply(std::numeric_limits<float>::max());
  product.multiply(0.0f);
  REQUIRE(product.times(3.0f) == 0);
  product.multiply(std::numeric_limits<float>::infinity());
  REQUIRE(std::isnan(product.times(1.0f)));

  ScaledProduct<double> left, right;
  for (int i = 0; i < 3000; ++i) {
    left.multiply(0x1p-1000);
    right.multiply(0x1p1000);
  }
  left.multiply(right);
  REQUIRE(left.times(5.0) == 5.0);
}
