// SSD on a device against the CPU in double, on the same numbers.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/nn/ssd.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using nn::SsdInput, nn::SsdOutput, nn::SsdView;

namespace {

using Cuda = space::cuda;

/// Numbers that T, float and double hold.
template <class T>
struct Numbers {
  explicit Numbers(unsigned seed) : gen(seed) {}
  template <int Rank>
  Array<double, Rank> operator()(const std::array<index_t, Rank>& extents, double low, double high) {
    Array<double, Rank> a(extents, uninitialized);
    std::uniform_real_distribution<float> d(static_cast<float>(low), static_cast<float>(high));
    for (index_t i = 0; i < a.size(); ++i) a.data()[i] = static_cast<double>(static_cast<float>(T(d(gen))));
    return a;
  }
  std::mt19937 gen;
};
template <class T, int Rank>
Array<T, Rank, Cuda> on_device(const Array<double, Rank>& from) {
  Array<T, Rank> a(from.extents(), uninitialized);
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = T(static_cast<float>(from.data()[i]));
  return to_device(a);
}
Array<index_t, 1> starts_array(const std::vector<index_t>& starts) {
  Array<index_t, 1> a({static_cast<index_t>(starts.size())}, uninitialized);
  for (index_t i = 0; i < a.size(); ++i) a(i) = starts[i];
  return a;
}

struct Shape {
  index_t batch, length, heads, groups, channels, states;
  std::vector<index_t> starts{};
  bool gate = false, skip = true, state = true;
};

template <class T>
struct Case {
  explicit Case(const Shape& s, double step = 0.5)
      : shape(s),
        numbers(11),
        sequences(s.starts.empty() ? s.batch : static_cast<index_t>(s.starts.size()) - 1),
        x(numbers.template operator()<4>({s.batch, s.length, s.heads, s.channels}, -1, 1)),
        z(numbers.template operator()<4>({s.batch, s.length, s.heads, s.channels}, -3, 3)),
        dt(numbers.template operator()<3>({s.batch, s.length, s.heads}, -3, step)),
        b(numbers.template operator()<4>({s.batch, s.length, s.groups, s.states}, -1, 1)),
        c(numbers.template operator()<4>({s.batch, s.length, s.groups, s.states}, -1, 1)),
        a(numbers.template operator()<1>({s.heads}, -1, -0.05)),
        d(numbers.template operator()<2>({s.heads, s.channels}, -1, 1)),
        bias(numbers.template operator()<1>({s.heads}, -1, 1)),
        initial(numbers.template operator()<4>({sequences, s.heads, s.channels, s.states}, -1, 1)),
        starts(starts_array(s.starts)) {}

  /// The worst errors of y and of the final states over their largest numbers.
  std::pair<double, double> errors() const {
    Array<double, 4> y(x.extents()), last(initial.extents());
    SsdView<double> m{dt, a, b, c};
    m.dt_bias = bias, m.starts = starts;
    if (shape.skip) m.d = d;
    SsdInput<double> in{x};
    if (shape.gate) in.z = z;
    if (shape.state) in.initial_state = initial;
    apply(exec::cpu{}, m, in, SsdOutput<double>{y, last});
    const auto [gy, glast] = run();
    return {worst(gy, y), worst(glast, last)};
  }
  std::pair<Array<T, 4>, Array<float, 4>> run() const {
    const auto dx = on_device<T>(x), dz = on_device<T>(z), db = on_device<T>(b), dc = on_device<T>(c);
    const auto ddt = on_device<T>(dt);
    const auto da = on_device<float>(a), dbias = on_device<float>(bias);
    const auto dd = on_device<float>(d);
    const auto dinitial = on_device<float>(initial);
    const auto dstarts = to_device(starts);
    SsdView<T, Cuda> m{ddt, da, db, dc};
    m.dt_bias = dbias, m.starts = dstarts;
    if (shape.skip) m.d = dd;
    SsdInput<T, Cuda> in{dx};
    if (shape.gate) in.z = dz;
    if (shape.state) in.initial_state = dinitial;
    Array<T, 4, Cuda> y(x.extents(), uninitialized);
    Array<float, 4, Cuda> last(initial.extents(), uninitialized);
    Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
    apply(exec::cuda{nullptr, workspace}, m, in, SsdOutput<T, Cuda>{y, last});
    return {to_host(y), to_host(last)};
  }
  template <class U>
  static double worst(const Array<U, 4>& got, const Array<double, 4>& expected) {
    double error = 0, largest = 0;
    for (index_t i = 0; i < got.size(); ++i) {
      const double v = static_cast<double>(static_cast<float>(got.data()[i]));
      if (std::isnan(v)) return INFINITY;
      error = std::max(error, std::abs(v - expected.data()[i]));
      largest = std::max(largest, std::abs(expected.data()[i]));
    }
    return largest == 0 ? error : error / largest;
  }

  Shape shape;
  Numbers<T> numbers;
  index_t sequences;
  Array<double, 4> x, z;
  Array<double, 3> dt;
  Array<double, 4> b, c;
  Array<double, 1> a;
  Array<double, 2> d;
  Array<double, 1> bias;
  Array<double, 4> initial;
  Array<index_t, 1> starts;
};

}  // namespace

TEMPLATE_TEST_CASE("SSD on a device", "[nn_ssd]", float, bf16) {
  const double limit = sizeof(TestType) == 2 ? 0.015 : 4e-6;
  for (const Shape& s : {Shape{1, 1, 1, 1, 1, 1}, Shape{2, 65, 4, 2, 3, 5}, Shape{1, 130, 2, 1, 64, 16},
                         Shape{1, 300, 9, 1, 16, 64}, Shape{1, 127, 2, 1, 80, 130},
                         Shape{1, 70, 1, 1, 130, 200}, Shape{1, 200, 4, 2, 16, 20, {0, 0, 3, 70, 70, 200}},
                         Shape{2, 63, 2, 1, 8, 8, {}, true, false, false}}) {
    INFO(s.length << " tokens, P " << s.channels << ", N " << s.states);
    const auto [y, last] = Case<TestType>(s).errors();
    CHECK(y < limit);
    CHECK(last < limit);
  }
}
