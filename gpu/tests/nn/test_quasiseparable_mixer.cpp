// The quasiseparable mixer on a device against the CPU in double, on the same numbers.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using nn::QuasiseparableMixerView;

namespace {

using Cuda = space::cuda;

/// Numbers that T, float and double hold.
template <class T>
struct Numbers {
  explicit Numbers(unsigned seed) : gen(seed) {}
  template <int Rank>
  Array<double, Rank> operator()(const std::array<index_t, Rank>& extents, double low,
                                 double high) {
    Array<double, Rank> a(extents, uninitialized);
    std::uniform_real_distribution<float> d(static_cast<float>(low), static_cast<float>(high));
    for (index_t i = 0; i < a.size(); ++i)
      a.data()[i] = static_cast<double>(static_cast<float>(T(d(gen))));
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
  bool shift = true, diagonal = true, state = false;
};

template <class T>
double error_of(const Shape& s) {
  Numbers<T> numbers(3);
  const index_t sequences = s.starts.empty() ? s.batch : static_cast<index_t>(s.starts.size()) - 1;
  const auto x = numbers.template operator()<4>({s.batch, s.length, s.heads, s.channels}, -1, 1);
  std::vector<Array<double, 4>> bc;
  for (int i = 0; i < 4; ++i)
    bc.push_back(numbers.template operator()<4>({s.batch, s.length, s.groups, s.states}, -1, 1));
  const auto dtf = numbers.template operator()<3>({s.batch, s.length, s.heads}, -3, 0.5);
  const auto dtb = numbers.template operator()<3>({s.batch, s.length, s.heads}, -3, 0.5);
  const auto delta = numbers.template operator()<3>({s.batch, s.length, s.heads}, -1, 1);
  const auto a = numbers.template operator()<1>({s.heads}, -1, -0.05),
             bias = numbers.template operator()<1>({s.heads}, -1, 1);
  const auto d = numbers.template operator()<2>({s.heads, s.channels}, -1, 1);
  const auto first =
      numbers.template operator()<4>({sequences, s.heads, s.channels, s.states}, -1, 1);
  const auto starts = starts_array(s.starts);
  Array<double, 4> y(x.extents());
  QuasiseparableMixerView<double> m{{dtf, bc[0], bc[1]}, {dtb, bc[2], bc[3]}, a};
  m.dt_bias = bias, m.starts = starts, m.shift = s.shift;
  if (s.diagonal) m.delta = delta, m.d = d;
  if (s.state) m.forward.initial_state = m.backward.initial_state = first;
  apply(exec::cpu{}, m, x.view(), y.view());

  const auto dx = on_device<T>(x);
  std::vector<Array<T, 4, Cuda>> dbc;
  for (const auto& v : bc) dbc.push_back(on_device<T>(v));
  const auto ddtf = on_device<T>(dtf), ddtb = on_device<T>(dtb), ddelta = on_device<T>(delta);
  const auto da = on_device<float>(a), dbias = on_device<float>(bias);
  const auto dd = on_device<float>(d);
  const auto dfirst = on_device<float>(first);
  const auto dstarts = to_device(starts);
  QuasiseparableMixerView<T, Cuda> g{{ddtf, dbc[0], dbc[1]}, {ddtb, dbc[2], dbc[3]}, da};
  g.dt_bias = dbias, g.starts = dstarts, g.shift = s.shift;
  if (s.diagonal) g.delta = ddelta, g.d = dd;
  if (s.state) g.forward.initial_state = g.backward.initial_state = dfirst;
  Array<T, 4, Cuda> gy(x.extents(), uninitialized);
  const View<const T, 4, Cuda> xs = dx;
  Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(g, xs)}, uninitialized);
  apply(exec::cuda{nullptr, workspace}, g, xs, gy.view());
  const auto got = to_host(gy);
  double error = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    const double v = static_cast<double>(static_cast<float>(got.data()[i]));
    if (std::isnan(v)) return INFINITY;
    error = std::max(error, std::abs(v - y.data()[i]));
    largest = std::max(largest, std::abs(y.data()[i]));
  }
  return error / largest;
}

}  // namespace

TEMPLATE_TEST_CASE("the quasiseparable mixer on a device", "[nn_quasiseparable_mixer]", float,
                   bf16) {
  const double limit = sizeof(TestType) == 2 ? 0.015 : 4e-6;
  for (const Shape& shape :
       {Shape{1, 1, 1, 1, 1, 1}, Shape{2, 65, 4, 2, 3, 5}, Shape{1, 130, 2, 1, 64, 16},
        Shape{1, 300, 9, 1, 16, 64}, Shape{1, 127, 2, 1, 80, 130},
        Shape{1, 200, 4, 2, 16, 20, {0, 0, 3, 70, 70, 200}}}) {
    for (int flags = 0; flags < 8; ++flags) {
      Shape s = shape;
      s.shift = flags & 1, s.diagonal = flags & 2, s.state = flags & 4;
      if (s.length == 1 && !s.diagonal) continue;  // nothing but zero
      INFO(s.length << " tokens, P " << s.channels << ", N " << s.states << ", flags " << flags);
      CHECK(error_of<TestType>(s) < limit);
    }
  }
}
