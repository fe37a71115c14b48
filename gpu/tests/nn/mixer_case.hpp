/// \file
/// Calls of the quasiseparable mixer with the same numbers on the host, in double, and on the device.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/nn/quasiseparable_mixer.hpp"

namespace structmat::test {

struct MixerShape {
  index_t batch, length, heads, groups, channels, states;
  std::vector<index_t> starts{};
  bool shift = true, diagonal = true, state = true;
  bool d_by_head = false;

  index_t sequences() const {
    return starts.empty() ? batch : static_cast<index_t>(starts.size()) - 1;
  }
};

/// What a call reads, of elements T and parameters R.
template <class T, class R, class Space>
struct MixerArrays {
  Array<T, 4, Space> x, y_bar, b[2], c[2];
  Array<T, 3, Space> dt[2], delta;
  Array<R, 1, Space> a, bias;
  Array<R, 2, Space> d;
  Array<R, 4, Space> initial[2];
  Array<index_t, 1, Space> starts;

  nn::QuasiseparableMixerView<T, Space> matrix(const MixerShape& s) const {
    nn::QuasiseparableMixerView<T, Space> m{{dt[0], b[0], c[0]}, {dt[1], b[1], c[1]}, a};
    m.dt_bias = bias, m.shift = s.shift;
    if (!s.starts.empty()) m.starts = starts;
    if (s.diagonal) {
      m.delta = delta, m.d = d;
      if (s.d_by_head) m.d = m.d.slice(1, 0, 1).broadcast(1, s.channels);
    }
    if (s.state) m.forward.initial_state = initial[0], m.backward.initial_state = initial[1];
    return m;
  }
};

/// Cotangents.
template <class T, class R, class Space>
struct MixerBars {
  Array<T, 4, Space> x, b[2], c[2];
  Array<T, 3, Space> dt[2], delta;
  Array<R, 1, Space> a, bias;
  Array<R, 2, Space> d;
  Array<R, 4, Space> initial[2];

  /// of(name, array) for all of them.
  template <class Self, class Of>
  static void each(Self& self, const Of& of) {
    of("x", self.x);
    for (int i = 0; i < 2; ++i) {
      of("B", self.b[i]), of("C", self.c[i]), of("dt", self.dt[i]);
      of("initial_state", self.initial[i]);
    }
    of("delta", self.delta), of("a", self.a), of("dt_bias", self.bias), of("D", self.d);
  }
  nn::QuasiseparableMixerCotangent<T, Space> view(const MixerShape& s, bool accumulate) {
    nn::QuasiseparableMixerCotangent<T, Space> bar{x};
    bar.forward = {dt[0], b[0], c[0], initial[0]}, bar.backward = {dt[1], b[1], c[1], initial[1]};
    bar.a = a, bar.delta = delta, bar.d = d, bar.dt_bias = bias, bar.accumulate = accumulate;
    if (s.d_by_head) bar.d = bar.d.slice(1, 0, 1).broadcast(1, s.channels);
    return bar;
  }
};

template <class T>
struct MixerCase {
  using Cuda = space::cuda;
  using Host = MixerArrays<double, double, space::host>;
  using Device = MixerArrays<T, float, Cuda>;
  using HostBars = MixerBars<double, double, space::host>;
  using DeviceBars = MixerBars<T, float, Cuda>;

  explicit MixerCase(const MixerShape& s, double step = 0.5) : shape(s), gen_(3) {
    const std::array<index_t, 4> like_x{s.batch, s.length, s.heads, s.channels},
        like_b{s.batch, s.length, s.groups, s.states},
        like_state{s.sequences(), s.heads, s.channels, s.states};
    const std::array<index_t, 3> like_dt{s.batch, s.length, s.heads};
    make(host.x, device.x, like_x, -1, 1), make(host.y_bar, device.y_bar, like_x, -1, 1);
    for (int i = 0; i < 2; ++i) {
      make(host.b[i], device.b[i], like_b, -1, 1), make(host.c[i], device.c[i], like_b, -1, 1);
      make(host.dt[i], device.dt[i], like_dt, -3, step);
      make(host.initial[i], device.initial[i], like_state, -1, 1);
    }
    make(host.delta, device.delta, like_dt, -1, 1);
    make(host.a, device.a, std::array<index_t, 1>{s.heads}, -1, -0.05);
    make(host.bias, device.bias, std::array<index_t, 1>{s.heads}, -1, 1);
    make(host.d, device.d, std::array<index_t, 2>{s.heads, s.channels}, -1, 1);
    host.starts = Array<index_t, 1>({static_cast<index_t>(s.starts.size())});
    std::copy(s.starts.begin(), s.starts.end(), host.starts.data());
    device.starts = to_device(host.starts);
  }

  static Array<std::byte, 1, Cuda> memory(index_t bytes) {
    Array<std::byte, 1> junk({bytes});
    std::fill(junk.begin(), junk.end(), std::byte{0xff});
    return to_device(junk);
  }
  Array<T, 4> forward() const { return forward(device.matrix(shape), device.x.view()); }
  static Array<T, 4> forward(const nn::QuasiseparableMixerView<T, Cuda>& m,
                             const View<const T, 4, Cuda>& x) {
    Array<T, 4, Cuda> y(x.extents(), uninitialized);
    auto workspace = memory(apply_workspace_bytes(m, x));
    apply(exec::cuda{nullptr, workspace}, m, x, y.view());
    return to_host(y);
  }
  Array<double, 4> expected() const {
    Array<double, 4> y(host.x.extents());
    apply(exec::cpu{}, host.matrix(shape), host.x.view(), y.view());
    return y;
  }

  HostBars expected_bars() const {
    HostBars bars = like<HostBars>([](const auto& extents, auto& array) {
      array = std::remove_cvref_t<decltype(array)>(extents);
    });
    apply_vjp(exec::cpu{}, host.matrix(shape), host.x.view(), host.y_bar.view(),
              bars.view(shape, true));
    return bars;
  }
  /// On the device, from numbers that all are `value`.
  DeviceBars bars(float value, bool accumulate) const {
    DeviceBars bars = filled(value);
    const auto m = device.matrix(shape);
    const View<const T, 4, Cuda> x = device.x;
    auto workspace = memory(apply_vjp_workspace_bytes(m, x));
    apply_vjp(exec::cuda{nullptr, workspace}, m, x, device.y_bar.view(),
              bars.view(shape, accumulate));
    return bars;
  }
  DeviceBars filled(float value) const {
    return like<DeviceBars>([&](const auto& extents, auto& array) {
      using A = std::remove_cvref_t<decltype(to_host(array))>;
      A here(extents);
      std::fill(here.begin(), here.end(), std::remove_cvref_t<decltype(*here.data())>(value));
      array = to_device(here);
    });
  }

  MixerShape shape;
  Host host;
  Device device;

 private:
  /// Numbers that T, float and double hold.
  template <class D, std::size_t Rank, class A>
  void make(D& on_host, A& on_device, const std::array<index_t, Rank>& extents, double low,
            double high) {
    std::uniform_real_distribution<float> random(static_cast<float>(low), static_cast<float>(high));
    on_host = D(extents, uninitialized);
    auto narrow = to_host(A(extents, uninitialized));
    for (index_t i = 0; i < on_host.size(); ++i) {
      const T number(random(gen_));
      narrow.data()[i] = std::remove_cvref_t<decltype(*narrow.data())>(static_cast<float>(number));
      on_host.data()[i] = static_cast<double>(static_cast<float>(number));
    }
    on_device = to_device(narrow);
  }
  template <class Bars, class Make>
  Bars like(const Make& make_one) const {
    Bars bars;
    make_one(host.x.extents(), bars.x);
    for (int i = 0; i < 2; ++i) {
      make_one(host.b[i].extents(), bars.b[i]), make_one(host.c[i].extents(), bars.c[i]);
      make_one(host.dt[i].extents(), bars.dt[i]);
      make_one(host.initial[i].extents(), bars.initial[i]);
    }
    make_one(host.delta.extents(), bars.delta), make_one(host.a.extents(), bars.a);
    make_one(host.bias.extents(), bars.bias), make_one(host.d.extents(), bars.d);
    return bars;
  }

  std::mt19937 gen_;
};

/// On the host, in double.
template <class T, int Rank>
std::vector<double> numbers(const Array<T, Rank>& from) {
  std::vector<double> v(static_cast<std::size_t>(from.size()));
  for (index_t i = 0; i < from.size(); ++i) {
    if constexpr (std::same_as<T, double>) {
      v[i] = from.data()[i];
    } else {
      v[i] = static_cast<double>(static_cast<float>(from.data()[i]));
    }
  }
  return v;
}
template <class T, int Rank>
std::vector<double> numbers(const Array<T, Rank, space::cuda>& from) {
  return numbers(to_host(from));
}

struct Named {
  std::string name;
  std::vector<double> numbers;
};
template <class Bars>
std::vector<Named> all_numbers(const Bars& bars) {
  std::vector<Named> all;
  Bars::each(bars, [&](const char* name, const auto& array) {
    all.push_back({name, numbers(array)});
  });
  return all;
}

/// The worst difference over the largest number; infinite for NaN.
inline double worst_error(const std::vector<double>& got, const std::vector<double>& expected) {
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i])) return INFINITY;
    error = std::max(error, std::abs(got[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return largest == 0 ? error : error / largest;
}

inline std::string text(const MixerShape& s) {
  return std::to_string(s.length) + " tokens, P " + std::to_string(s.channels) + ", N " +
         std::to_string(s.states) + (s.shift ? ", shift" : "") + (s.diagonal ? ", diagonal" : "") +
         (s.state ? ", state" : "") + (s.starts.empty() ? "" : ", packed");
}

/// What belongs to tokens [begin, end) of entries, or sequences, [first, last).
template <class T>
nn::QuasiseparableMixerView<T, space::cuda> part_of(nn::QuasiseparableMixerView<T, space::cuda> m,
                                                    bool packed, index_t first, index_t last,
                                                    index_t begin, index_t end) {
  const auto cut = [&](auto& v) {
    if (!packed) v = v.slice(0, first, last);
    v = v.slice(1, begin, end);
  };
  for (auto* way : {&m.forward, &m.backward}) {
    cut(way->dt), cut(way->b), cut(way->c);
    if (way->initial_state.data()) way->initial_state = way->initial_state.slice(0, first, last);
  }
  if (m.delta.data()) cut(m.delta);
  m.starts = {};
  return m;
}

/// x, B, C, dt and delta of a case as slices of the rows of one tensor.
template <class T>
struct Projection {
  using Cuda = space::cuda;
  template <int Rank>
  using Slice = View<const T, Rank, Cuda>;

  /// Rows have `unused` numbers more than are looked at.
  explicit Projection(const MixerCase<T>& k, index_t unused = 7) {
    const MixerShape& s = k.shape;
    const index_t wide = s.heads * s.channels, narrow = s.groups * s.states;
    for (int i = 0; i < 4; ++i) of_bc[i] = wide + i * narrow;
    for (int i = 0; i < 3; ++i) of_steps[i] = wide + 4 * narrow + i * s.heads;
    row = wide + 4 * narrow + 3 * s.heads + unused;
    Array<T, 2> here({s.batch * s.length, row});
    const auto fill = [&](index_t first, const auto& from) {
      const auto numbers = to_host(from);
      const index_t width = numbers.size() / here.extent(0);
      for (index_t t = 0; t < here.extent(0); ++t) {
        for (index_t i = 0; i < width; ++i) here(t, first + i) = numbers.data()[t * width + i];
      }
    };
    fill(0, k.device.x), fill(of_steps[2], k.device.delta);
    for (int i = 0; i < 2; ++i) {
      fill(of_bc[2 * i], k.device.b[i]), fill(of_bc[2 * i + 1], k.device.c[i]);
      fill(of_steps[i], k.device.dt[i]);
    }
    tensor = to_device(here);
  }

  Slice<4> x(const MixerShape& s) const { return rows(s, 0, s.heads, s.channels); }
  nn::QuasiseparableMixerView<T, Cuda> matrix(const MixerCase<T>& k) const {
    const MixerShape& s = k.shape;
    auto m = k.device.matrix(s);
    for (int i = 0; i < 2; ++i) {
      auto& way = i == 0 ? m.forward : m.backward;
      way.b = rows(s, of_bc[2 * i], s.groups, s.states);
      way.c = rows(s, of_bc[2 * i + 1], s.groups, s.states);
      way.dt = rows(s, of_steps[i], s.heads, 1).select(3, 0);
    }
    if (s.diagonal) m.delta = rows(s, of_steps[2], s.heads, 1).select(3, 0);
    return m;
  }

  Array<T, 2, Cuda> tensor;
  index_t row = 0, of_bc[4], of_steps[3];

 private:
  Slice<4> rows(const MixerShape& s, index_t first, index_t count, index_t width) const {
    return {
        tensor.data() + first, {s.batch, s.length, count, width}, {s.length * row, row, width, 1}};
  }
};

}  // namespace structmat::test
