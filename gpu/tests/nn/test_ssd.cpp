// SSD on a device against the CPU in double, on the same numbers.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/nn/ssd.hpp"
#include "support/fixed_shape.hpp"
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
  bool gate = false, skip = true, state = true;
};

template <class T>
struct Results {
  Array<T, 4> y;
  Array<float, 4> last;
  friend bool operator==(const Results& a, const Results& b) {
    return same_bits(a.y, b.y) && same_bits(a.last, b.last);
  }
  template <class U>
  static bool same_bits(const Array<U, 4>& a, const Array<U, 4>& b) {
    return a.extents() == b.extents() &&
           std::memcmp(a.data(), b.data(), sizeof(U) * static_cast<std::size_t>(a.size())) == 0;
  }
};
template <class T>
Results<T> run(const SsdView<T, Cuda>& m, const SsdInput<T, Cuda>& in) {
  const index_t sequences = m.starts.extent(0) > 0 ? m.starts.extent(0) - 1 : in.x.extent(0);
  Array<T, 4, Cuda> y(in.x.extents(), uninitialized);
  Array<float, 4, Cuda> last({sequences, in.x.extent(2), in.x.extent(3), m.b.extent(3)},
                             uninitialized);
  Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
  apply(exec::cuda{nullptr, workspace}, m, in, SsdOutput<T, Cuda>{y, last});
  return {to_host(y), to_host(last)};
}

template <class T>
struct Device;

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
    const Device<T> device(*this);
    const auto [gy, glast] = run(device.matrix(), device.input());
    return {worst(gy, y), worst(glast, last)};
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

/// The operands of a case on the device.
template <class T>
struct Device {
  explicit Device(const Case<T>& k)
      : shape(k.shape),
        x(on_device<T>(k.x)),
        z(on_device<T>(k.z)),
        b(on_device<T>(k.b)),
        c(on_device<T>(k.c)),
        dt(on_device<T>(k.dt)),
        a(on_device<float>(k.a)),
        bias(on_device<float>(k.bias)),
        d(on_device<float>(k.d)),
        initial(on_device<float>(k.initial)),
        starts(to_device(k.starts)) {}
  SsdView<T, Cuda> matrix() const {
    SsdView<T, Cuda> m{dt, a, b, c};
    m.dt_bias = bias, m.starts = starts;
    if (shape.skip) m.d = d;
    return m;
  }
  SsdInput<T, Cuda> input() const {
    SsdInput<T, Cuda> in{x};
    if (shape.gate) in.z = z;
    if (shape.state) in.initial_state = initial;
    return in;
  }
  Shape shape;
  Array<T, 4, Cuda> x, z, b, c;
  Array<T, 3, Cuda> dt;
  Array<float, 1, Cuda> a, bias;
  Array<float, 2, Cuda> d;
  Array<float, 4, Cuda> initial;
  Array<index_t, 1, Cuda> starts;
};

/// Tokens [begin, end) of one entry of the batch, which start from states of sequence `sequence`.
template <class T>
Results<T> run_part(const Device<T>& k, index_t entry, index_t begin, index_t end,
                    index_t sequence) {
  SsdView<T, Cuda> m = k.matrix();
  SsdInput<T, Cuda> in = k.input();
  const auto part = [&](auto& v) {
    if (v.data()) v = v.slice(0, entry, entry + 1).slice(1, begin, end);
  };
  m.starts = {};
  part(m.dt), part(m.b), part(m.c), part(in.x), part(in.z);
  if (in.initial_state.data()) in.initial_state = in.initial_state.slice(0, sequence, sequence + 1);
  return run(m, in);
}
/// The same part of results of all.
template <class T>
Results<T> part_of(const Results<T>& all, index_t entry, index_t begin, index_t end,
                   index_t sequence) {
  return {to_array(all.y.view().slice(0, entry, entry + 1).slice(1, begin, end)),
          to_array(all.last.view().slice(0, sequence, sequence + 1))};
}

/// One head of one channel and one state, steps as they are, B = C = 1.
template <class T>
struct OneState {
  OneState(index_t length, double step, double rate, double input)
      : one(filled<T, 4>({1, length, 1, 1}, 1)),
        x(filled<T, 4>({1, length, 1, 1}, input)),
        dt(filled<T, 3>({1, length, 1}, step)),
        a(filled<float, 1>({1}, rate)) {}
  template <class U, int Rank>
  static Array<U, Rank, Cuda> filled(const std::array<index_t, Rank>& extents, double value) {
    Array<U, Rank> v(extents, uninitialized);
    for (index_t i = 0; i < v.size(); ++i) v.data()[i] = U(static_cast<float>(value));
    return to_device(v);
  }
  SsdView<T, Cuda> matrix(bool softplus = false) const {
    SsdView<T, Cuda> m{dt, a, one, one};
    m.softplus = softplus;
    return m;
  }
  Results<T> operator()(bool softplus = false) const {
    return run(matrix(softplus), SsdInput<T, Cuda>{x});
  }
  Array<T, 4, Cuda> one, x;
  Array<T, 3, Cuda> dt;
  Array<float, 1, Cuda> a;
};

/// `from`, as columns [begin, begin + extent of the last dimension) of rows of `wide` numbers; `every`: that apart.
template <class T, int Rank>
class Wide {
 public:
  Wide(const Array<T, Rank, Cuda>& from, index_t wide, index_t begin, index_t every)
      : extents_(from.extents()), begin_(begin), every_(every) {
    std::array<index_t, Rank> all = extents_;
    all[Rank - 1] = wide;
    Array<T, Rank> host(all);
    const Array<T, Rank> values = to_host(from);
    const index_t columns = extents_[Rank - 1];
    for (index_t i = 0; i < values.size(); ++i)
      host.data()[i / columns * wide + begin + i % columns * every] = values.data()[i];
    array_ = to_device(host);
  }
  View<T, Rank, Cuda> view() {
    View<T, Rank, Cuda> v = array_;
    auto strides = v.strides();
    strides[Rank - 1] = every_;
    return View<T, Rank, Cuda>(v.data() + begin_, extents_, strides);
  }

  Array<T, Rank> values() const {
    const Array<T, Rank> all = to_host(array_);
    auto strides = all.view().strides();
    strides[Rank - 1] = every_;
    return to_array(View<const T, Rank>(all.data() + begin_, extents_, strides));
  }

 private:
  std::array<index_t, Rank> extents_;
  index_t begin_, every_;
  Array<T, Rank, Cuda> array_;
};

}  // namespace

TEMPLATE_TEST_CASE("SSD on a device", "[nn_ssd]", float, bf16) {
  // Over the largest number. bf16: states, entries of a chunk's matrix and the result are rounded, 2^-9 each, and a
  // handful of them add up. float: logarithms of decays, summed over 64 tokens, have 64 eps at most.
  const double limit = sizeof(TestType) == 2 ? 0.015 : 4e-6;
  for (const Shape& s :
       {Shape{1, 1, 1, 1, 1, 1}, Shape{2, 65, 4, 2, 3, 5}, Shape{1, 130, 2, 1, 64, 16},
        Shape{1, 300, 9, 1, 16, 64}, Shape{1, 127, 2, 1, 80, 130}, Shape{1, 70, 1, 1, 130, 200},
        Shape{1, 70, 2, 1, 8, 0}, Shape{1, 200, 4, 2, 16, 20, {0, 0, 3, 70, 70, 200}},
        Shape{1, 130, 3, 1, 64, 128}, Shape{1, 64, 3, 1, 64, 64, {}, true},
        Shape{2, 63, 2, 1, 8, 8, {}, true, false, false}}) {
    INFO(s.length << " tokens, P " << s.channels << ", N " << s.states);
    const auto [y, last] = Case<TestType>(s).errors();
    CHECK(y < limit);
    CHECK(last < limit);
  }
}

TEMPLATE_TEST_CASE("known sums of SSD on a device", "[nn_ssd]", float, bf16) {
  const auto value = [](const Results<TestType>& r, index_t t) {
    return static_cast<double>(static_cast<float>(r.y(0, t, 0, 0)));
  };
  SECTION("any length") {
    if constexpr (sizeof(TestType) == 4) {
      for (const index_t length : {1, 63, 64, 65, 257, 300}) {
        const auto r = OneState<TestType>(length, 0.1, -1, 1)();
        for (const auto& [t, y] : {std::pair<index_t, double>{0, 0.1},
                                   {1, 0.1904837418},
                                   {255, 1.0508331944695},
                                   {299, 1.0508331944774}}) {
          if (t < length) CHECK(value(r, t) == Approx(y).epsilon(1e-6));
        }
      }
    }
  }
  SECTION("huge decays, none") {
    const auto r = OneState<TestType>(512, 1, -1000, 1)();
    double worst = 0;
    for (index_t t = 0; t < 512; ++t) worst = std::max(worst, std::abs(value(r, t) - 1));
    CHECK(worst == 0);
    CHECK(value(OneState<TestType>(4096, 0x1p-8, 0, 1)(), 4095) == 16);
  }
  SECTION("ends of softplus") {
    CHECK(value(OneState<TestType>(1, 100, -1, 1)(true), 0) == 100);
    CHECK(std::abs(value(OneState<TestType>(1, -100, -1, 1)(true), 0)) < 1e-43);
  }
  SECTION("states that are given and taken") {
    const OneState<TestType> k(300, 0.1, -1, 0);
    const auto state = OneState<TestType>::template filled<float, 4>({1, 1, 1, 1}, 1);
    SsdInput<TestType, Cuda> in{k.x};
    in.initial_state = state;
    const auto r = run(k.matrix(), in);
    const double step = static_cast<double>(static_cast<float>(TestType(0.1f)));
    const double accuracy = sizeof(TestType) == 4 ? 1e-5 : 0.02;
    for (const index_t t : {0, 63, 64, 200})
      CHECK(value(r, t) == Approx(std::exp(-step * double(t + 1))).epsilon(accuracy));
    CHECK(double(r.last(0, 0, 0, 0)) == Approx(std::exp(-300 * step)).epsilon(1e-4));
  }
}

TEMPLATE_TEST_CASE("pieces, packed sequences and single samples of SSD on a device", "[nn_ssd]",
                   float, bf16) {
  SECTION("packed") {
    const Case<TestType> k({1, 203, 2, 1, 20, 24, {0, 0, 3, 70, 70, 200, 203}, true});
    const Device<TestType> device(k);
    const auto packed = run(device.matrix(), device.input());
    for (index_t s = 0; s + 1 < k.starts.size(); ++s) {
      const index_t begin = k.starts(s), end = k.starts(s + 1);
      CHECK(run_part(device, 0, begin, end, s) == part_of(packed, 0, begin, end, s));
    }
    const Array<float, 4> initial = to_host(device.initial);
    CHECK(Results<float>::same_bits(to_array(packed.last.view().slice(0, 0, 1)),
                                    to_array(initial.view().slice(0, 0, 1))));
  }
  SECTION("samples") {
    const Case<TestType> k({3, 100, 4, 2, 16, 16});
    const Device<TestType> device(k);
    const auto all = run(device.matrix(), device.input());
    for (index_t entry = 0; entry < 3; ++entry)
      CHECK(run_part(device, entry, 0, 100, entry) == part_of(all, entry, 0, 100, entry));
  }
  SECTION("a state that is handed on, in place") {
    const Case<TestType> k({1, 300, 2, 1, 16, 16});
    const Device<TestType> device(k);
    const auto whole = run(device.matrix(), device.input());
    Array<TestType, 4, Cuda> y(k.x.extents(), uninitialized);
    Array<float, 4, Cuda> state = to_device(to_host(device.initial));
    index_t begin = 0;
    for (const index_t end : {177, 178, 300}) {
      SsdView<TestType, Cuda> m = device.matrix();
      m.dt = m.dt.slice(1, begin, end), m.b = m.b.slice(1, begin, end);
      m.c = m.c.slice(1, begin, end);
      const SsdInput<TestType, Cuda> in{device.input().x.slice(1, begin, end), {}, state};
      Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
      apply(exec::cuda{nullptr, workspace}, m, in,
            SsdOutput<TestType, Cuda>{y.view().slice(1, begin, end), state});
      begin = end;
    }
    const auto as_double = [](const auto& v) {
      Array<double, 4> d(v.extents(), uninitialized);
      for (index_t i = 0; i < v.size(); ++i)
        d.data()[i] = static_cast<double>(static_cast<float>(v.data()[i]));
      return d;
    };
    const double limit = sizeof(TestType) == 2 ? 0.015 : 4e-6;
    CHECK(Case<TestType>::worst(to_host(y), as_double(whole.y)) < limit);
    CHECK(Case<TestType>::worst(to_host(state), as_double(whole.last)) < limit);
  }
}

TEMPLATE_TEST_CASE("SSD of strided and broadcast operands on a device", "[nn_ssd]", float, bf16) {
  using T = TestType;
  const Case<T> k({2, 70, 3, 1, 64, 64, {}, true});
  const Device<T> device(k);
  const auto expected = run(device.matrix(), device.input());
  // Whole vectors in wider rows; rows that begin between them; numbers apart.
  for (const auto& [begin, every] : {std::pair<index_t, index_t>{16, 1}, {3, 1}, {2, 3}}) {
    INFO("columns from " << begin << " on, every " << every);
    constexpr index_t wide = 256;
    Wide<T, 4> x(device.x, wide, begin, every), z(device.z, wide, begin, every),
        b(device.b, wide, begin, every), c(device.c, wide, begin, every);
    Wide<T, 3> dt(device.dt, wide, begin, every);
    Wide<float, 2> d(device.d, wide, begin, every);
    Wide<float, 4> initial(device.initial, wide, begin, every);
    Wide<T, 4> y(device.x, wide, begin, every);
    Wide<float, 4> last(device.initial, wide, begin, every);
    SsdView<T, Cuda> m = device.matrix();
    m.dt = dt.view(), m.b = b.view(), m.c = c.view(), m.d = d.view();
    const SsdInput<T, Cuda> in{x.view(), z.view(), initial.view()};
    Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
    apply(exec::cuda{nullptr, workspace}, m, in, SsdOutput<T, Cuda>{y.view(), last.view()});
    CHECK(Results<T>{y.values(), last.values()} == expected);
  }
  SECTION("one entry for all") {
    SsdView<T, Cuda> m = device.matrix();
    m.b = m.b.slice(0, 0, 1), m.c = m.c.slice(0, 0, 1), m.dt = m.dt.slice(0, 0, 1);
    const auto once = run(m, device.input());
    m.b = m.b.broadcast(0, 2), m.c = m.c.broadcast(0, 2), m.dt = m.dt.broadcast(0, 2);
    CHECK(run(m, device.input()) == once);
    CHECK(run_part(device, 0, 0, 70, 0) == part_of(once, 0, 0, 70, 0));
  }
  SECTION("D of heads") {
    SsdView<T, Cuda> m = device.matrix();
    m.d = View<const float, 2, Cuda>(device.d.data(), {3, 64}, {64, 0});
    Array<float, 2> spread(k.d.extents(), uninitialized);
    for (index_t h = 0; h < 3; ++h) {
      for (index_t p = 0; p < 64; ++p) spread(h, p) = static_cast<float>(k.d(h, 0));
    }
    const auto apart = to_device(spread);
    const auto of_heads = run(m, device.input());
    m.d = apart;
    CHECK(run(m, device.input()) == of_heads);
  }
}

TEMPLATE_TEST_CASE("SSD on a device: the same bits each time", "[nn_ssd]", float, bf16) {
  const bool small = test::quick();
  const Case<TestType> k({2, small ? 70 : 1000, small ? 2 : 32, 1, 64, small ? 64 : 128});
  const Device<TestType> device(k);
  const auto first = run(device.matrix(), device.input());
  for (int i = 1; i < (small ? 2 : 30); ++i) CHECK(run(device.matrix(), device.input()) == first);
}

TEST_CASE("SSD on a device refuses", "[nn_ssd]") {
  const auto refused = [](const Shape& s) {
    const Device<bf16> device{Case<bf16>(s)};
    CHECK_THROWS_AS(apply_workspace_bytes(device.matrix(), device.input()), Unsupported);
  };
  refused({1, 2, 1, 1, 1, 257});
  const Device<float> device{Case<float>({1, 5, 1, 1, 4, 4})};
  const auto m = device.matrix();
  const auto in = device.input();
  Array<std::byte, 1, Cuda> workspace({apply_workspace_bytes(m, in)}, uninitialized);
  const exec::cuda e{nullptr, workspace};
  Array<float, 4, Cuda> y(device.x.extents());
  using Result = SsdOutput<float, Cuda>;
  const View<float, 4, Cuda> broadcast(y.data(), {1, 5, 1, 4}, {0, 0, 0, 1});
  CHECK_THROWS_AS(apply(e, m, in, Result{broadcast}), Unsupported);
  CHECK_THROWS_AS(apply(e, m, in, Result{y.view().slice(1, 0, 4)}), ShapeError);
  const View<float, 4, Cuda> of_x(const_cast<float*>(device.x.data()), device.x.extents());
  CHECK_THROWS_AS(apply(e, m, in, Result{of_x}), DomainError);
}

TEST_CASE("SSD on a device of fixed shape", "[nn_fixed_shape]") {
  const Device<bf16> device{Case<bf16>({1, 70, 2, 1, 64, 16, {0, 30, 70}, true})};
  const auto m = device.matrix();
  const auto in = device.input();
  Array<bf16, 4, Cuda> y(device.x.extents());
  Array<float, 4, Cuda> last(device.initial.extents());
  test::check_fixed_shape(
      "nn::ssd::apply", apply_workspace_bytes(m, in),
      [&](const exec::cuda& e) {
        apply(e, m, in, SsdOutput<bf16, Cuda>{y, last});
      },
      y, last);
}
