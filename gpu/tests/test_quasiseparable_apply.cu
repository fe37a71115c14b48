// y := op(M) x for quasiseparable M on the device, against the definition and the recurrence on the
// host.
// --quick: a selection for compute-sanitizer.
#include <cuda_runtime.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/launch.cuh"
#include "tests/quasiseparable_reference.hpp"

using namespace structmat;
using namespace structmat::testing;

namespace {

int passed = 0, failed = 0;

void report(bool ok, const std::string& what) {
  ++(ok ? passed : failed);
  if (!ok) std::printf("FAILED: %s\n", what.c_str());
}

std::string text(index_t n) {
  return std::to_string(n);
}

template <class T, class K>
std::string label(index_t n, Order order, index_t k, Op op) {
  return std::string(dtype_name<T>()) + " " + K::name + " n " + text(n) + " orders " +
         text(order.lower) + "," + text(order.upper) + " k " + text(k) +
         (op == Op::none        ? ""
          : op == Op::transpose ? " transpose"
                                : " adjoint");
}

class Stream {
 public:
  Stream() { gpu::check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "stream"); }
  ~Stream() { cudaStreamDestroy(handle_); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return handle_; }
  void wait() const { gpu::check(cudaStreamSynchronize(handle_), "stream"); }

 private:
  cudaStream_t handle_ = nullptr;
};

template <class T>
bool equal_bits(const Array<T, 3>& a, const Array<T, 3>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
Array<T, 3> filled(std::array<index_t, 3> extents, T value) {
  Array<T, 3> a(extents, uninitialized);
  std::fill(a.begin(), a.end(), value);
  return a;
}

template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();

/// op(M) x into a y of NaN, with a workspace of the size asked for, on a stream of its own.
template <class T, class K>
Array<T, 3> product(const QuasiseparableView<T, K, space::cuda>& m, Op op, const Array<T, 3>& x,
                    index_t batch, index_t workspace_bytes = -1) {
  const Stream stream;
  const auto x_device = to_device(x);
  const auto y = to_device(filled({batch, x.extent(1), x.extent(2)}, nan<T>));
  const index_t bytes =
      workspace_bytes < 0 ? apply_workspace_bytes(m, x.extent(2)) : workspace_bytes;
  Array<std::byte, 1, space::cuda> workspace({bytes}, uninitialized);
  const View<T, 3, space::cuda> out(const_cast<T*>(y.data()), y.extents());
  apply(exec::cuda{stream, workspace}, m, op, x_device.view(), out);
  stream.wait();
  return to_host(y);
}

/// |error| <= 4 (n + r) eps |M| |x|, as the header promises, with n cut where transitions of at
/// most 0.99 leave nothing; sums of denormal numbers are exact to the last denormal one.
template <class T, class W>
double worst_ratio(const Array<T, 3>& y, index_t b, index_t c, const Expected<W>& expected,
                   index_t terms) {
  double worst = 0;
  for (index_t i = 0; i < y.extent(1); ++i) {
    const W error = std::fabs(static_cast<W>(y(b, i, c)) - expected.value[i]);
    const W bound = 4 * static_cast<W>(terms) * epsilon<T> * expected.magnitude[i] +
                    static_cast<W>(terms) * std::numeric_limits<T>::denorm_min();
    // Written so that NaN is the worst.
    if (!(error <= bound)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, static_cast<double>(error / bound));
  }
  return worst;
}

template <class T, class K>
bool accurate(const Quasiseparable<T, K>& m, Op op, const Array<T, 3>& x, const Array<T, 3>& y,
              index_t memory = 2000) {
  const index_t n = m.size();
  const index_t terms = std::min(n, memory) + m.order().lower + m.order().upper;
  for (index_t b = 0; b < y.extent(0); ++b) {
    for (index_t c = 0; c < y.extent(2); ++c) {
      std::vector<T> column(n);
      for (index_t i = 0; i < n; ++i) column[i] = x(x.extent(0) == 1 ? 0 : b, i, c);
      const auto expected =
          n <= 17 ? by_definition(m.view(), op, b, column) : by_recurrence(m.view(), op, b, column);
      if (!(worst_ratio(y, b, c, expected, terms) <= 1)) return false;
    }
  }
  return true;
}

template <class T, class K>
void compare(index_t n, Order order, index_t matrices, index_t inputs, index_t k, Op op) {
  auto m = random_matrix<T, K>(n, order, matrices, static_cast<unsigned>(n + 7 * k));
  poison_unread(m, nan<T>);
  Array<T, 3> x({inputs, n, k});
  std::mt19937 random(99);
  fill(x, random, T(-1), T(1));
  const OnDevice<T, K> device(m);
  const auto y = product(device.view(), op, x, std::max(matrices, inputs));
  report(accurate(m, op, x, y),
         label<T, K>(n, order, k, op) + " batch " + text(matrices) + "," + text(inputs));
}

template <class T, class K>
void battery(bool quick) {
  const std::vector<index_t> sizes =
      quick ? std::vector<index_t>{0, 1, 2, 16, 17, 129, 257}
            : std::vector<index_t>{0, 1, 2, 3, 7, 16, 17, 127, 128, 129, 257, 5000};
  const std::vector<index_t> orders =
      quick ? std::vector<index_t>{0, 3, 8, 40} : std::vector<index_t>{0, 1, 3, 4, 8, 16, 40, 70};
  const std::vector<index_t> columns =
      quick ? std::vector<index_t>{1, 3, 9} : std::vector<index_t>{1, 3, 9, 64};
  for (const index_t n : sizes) {
    for (std::size_t r = 0; r < orders.size(); ++r) {
      const Order orders_here[] = {{orders[r], orders[r]},
                                   {orders[r], orders[(r + 3) % orders.size()]}};
      for (const Order order : orders_here) {
        for (const index_t k : columns) {
          // The reference on the host would take most of the time.
          if (n > 1000 && k > 3 && order.lower + order.upper > 16) continue;
          for (const Op op : {Op::none, Op::transpose}) compare<T, K>(n, order, 1, 1, k, op);
        }
      }
    }
    for (const auto& [matrices, inputs] : {std::array<index_t, 2>{3, 3}, {1, 3}, {3, 1}}) {
      for (const index_t k : {index_t{1}, index_t{3}, index_t{9}}) {
        compare<T, K>(n, {3, 5}, matrices, inputs, k, Op::none);
        compare<T, K>(n, {5, 3}, matrices, inputs, k, Op::adjoint);
      }
    }
  }
  compare<T, K>(130, {2, 2}, 1, 1, 0, Op::none);
}

/// Every generator with room between its rows and between batch entries; x and y in column-major,
/// reversed, with a hole between columns that must stay as it is.
template <class T, class K>
void strided() {
  constexpr index_t n = 300, k = 3, batch = 2, r = 5, pad = 3;
  const auto m = random_matrix<T, K>(n, {r, r}, batch, 5);
  const auto padded = [&](const Array<T, 3>& a) {
    Array<T, 3> wide({batch, n + pad, r + pad});
    std::fill(wide.begin(), wide.end(), nan<T>);
    copy(a.view(), wide.view().slice(1, 0, n).slice(2, 0, r));
    return to_device(wide);
  };
  const auto cut = [&](const Array<T, 3, space::cuda>& a) {
    return View<const T, 3, space::cuda>(a.data(), {batch, n, r},
                                         {(n + pad) * (r + pad), r + pad, 1});
  };
  const OnDevice<T, K> plain(m);
  const auto p = padded(m.p), q = padded(m.q), g = padded(m.g), h = padded(m.h);
  QuasiseparableView<T, K, space::cuda> view = plain.view();
  view.p = cut(p);
  view.q = cut(q);
  view.g = cut(g);
  view.h = cut(h);

  Array<T, 3> x({batch, n, k});
  std::mt19937 random(6);
  fill(x, random, T(-1), T(1));
  const auto expected = product(plain.view(), Op::none, x, batch);

  constexpr index_t column = n + pad, entry = k * column;
  auto x_host = filled({batch, k, column}, nan<T>), y_host = x_host;
  copy(x.view().transposed().reversed(2), x_host.view().slice(2, 0, n));
  const auto x_device = to_device(x_host);
  auto y_device = to_device(y_host);
  const View<const T, 3, space::cuda> xs(x_device.data() + n - 1, {batch, n, k},
                                         {entry, -1, column});
  const View<T, 3, space::cuda> ys(y_device.data() + n - 1, {batch, n, k}, {entry, -1, column});
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(view, k)});
  apply(exec::cuda{nullptr, workspace}, view, Op::none, xs, ys);
  y_host = to_host(y_device);
  bool same = true, untouched = true;
  for (index_t b = 0; b < batch; ++b) {
    for (index_t c = 0; c < k; ++c) {
      for (index_t i = 0; i < n; ++i) same &= y_host(b, c, n - 1 - i) == expected(b, i, c);
      for (index_t i = n; i < column; ++i) untouched &= std::isnan(y_host(b, c, i));
    }
  }
  report(same, label<T, K>(n, {r, r}, k, Op::none) + " strided");
  report(untouched, label<T, K>(n, {r, r}, k, Op::none) + " strided: writes between the columns");
}

template <class E, class F>
void throws(const char* what, F&& call) {
  try {
    call();
    report(false, std::string(what) + ": nothing thrown");
  } catch (const E& e) {
    report(std::strncmp(e.what(), "quasiseparable::apply", 21) == 0,
           std::string(what) + ": the message is: " + e.what());
  } catch (const std::exception& e) {
    report(false, std::string(what) + ": another exception: " + e.what());
  }
}

void error_exits() {
  using K = transition::Diagonal;
  constexpr index_t n = 100, k = 2, batch = 2;
  const auto host = random_matrix<double, K>(n, {4, 4}, batch, 8);
  const OnDevice<double, K> device(host);
  const auto m = device.view();
  Array<double, 3, space::cuda> x({batch, n, k});
  Array<double, 3, space::cuda> y = to_device(filled({batch, n, k}, 7.0));
  const index_t bytes = apply_workspace_bytes(m, k);
  Array<std::byte, 1, space::cuda> workspace({bytes});
  const auto ws = workspace.view();
  const View<const double, 3, space::cuda> xs = x.view();
  const auto ys = y.view();
  const auto run = [](auto space, const auto& matrix, auto in, auto out) {
    apply(exec::cuda{nullptr, space}, matrix, Op::none, View<const double, 3, space::cuda>(in),
          out);
  };
  throws<ShapeError>("rows of x", [&] { run(ws, m, xs.slice(1, 0, n - 1), ys); });
  throws<ShapeError>("rows of y", [&] { run(ws, m, xs, ys.slice(1, 0, n - 1)); });
  throws<ShapeError>("columns", [&] { run(ws, m, xs, ys.slice(2, 0, 1)); });
  throws<ShapeError>("batch of y", [&] { run(ws, m, xs, ys.slice(0, 0, 1)); });
  throws<ShapeError>("generators", [&] {
    auto bad = m;
    bad.q = bad.q.slice(2, 0, 3);
    run(ws, bad, xs, ys);
  });
  throws<DomainError>("workspace too small", [&] { run(ws.slice(0, 0, bytes - 1), m, xs, ys); });
  throws<DomainError>("no workspace", [&] { run(View<std::byte, 1, space::cuda>(), m, xs, ys); });
  throws<DomainError>("x is y", [&] { run(ws, m, ys, ys); });
  throws<Unsupported>("stride between states", [&] {
    auto bad = m;
    bad.p = View<const double, 3, space::cuda>(m.p.data(), m.p.extents(), {4 * n, 1, n});
    run(ws, bad, xs, ys);
  });
  throws<Unsupported>("y broadcast", [&] {
    run(ws, m, xs, View<double, 3, space::cuda>(y.data(), {batch, n, k}, {0, k, 1}));
  });
  throws<Unsupported>("workspace alignment", [&] {
    Array<std::byte, 1, space::cuda> larger({bytes + 8});
    run(larger.view().slice(0, 1, bytes + 1), m, xs, ys);
  });
  throws<ShapeError>("negative k", [&] { apply_workspace_bytes(m, -1); });
  bool untouched = true;
  for (const double value : to_host(y)) untouched &= value == 7.0;
  report(untouched, "a refused call has written to y");
  report(cudaGetLastError() == cudaSuccess, "a refused call has left a CUDA error");
}

/// Two runs, a captured graph replayed twice, and batch entries that take turns in a small
/// workspace: the same bits.
template <class T, class K>
void repeatable(index_t n, Order order, index_t k) {
  const std::string name = label<T, K>(n, order, k, Op::none);
  const auto host = random_matrix<T, K>(n, order, 1, 11);
  const OnDevice<T, K> device(host);
  Array<T, 3> x({3, n, k});
  std::mt19937 random(12);
  fill(x, random, T(-1), T(1));
  const index_t bytes = apply_workspace_bytes(device.view(), k);
  const auto y = product(device.view(), Op::none, x, 3);
  report(equal_bits(y, product(device.view(), Op::none, x, 3)), name + ": two runs differ");
  report(equal_bits(y, product(device.view(), Op::none, x, 3, 2 * bytes)),
         name + ": the size of the workspace matters");
  report(equal_bits(y, product(device.view(), Op::none, x, 3, 3 * bytes)),
         name + ": the size of the workspace matters");

  const Stream stream;
  const auto x_device = to_device(x);
  const auto poison = filled({3, n, k}, nan<T>);
  auto y_device = to_device(poison);
  Array<std::byte, 1, space::cuda> workspace({bytes});
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  gpu::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  apply(exec::cuda{stream, workspace}, device.view(), Op::none, x_device.view(), y_device.view());
  gpu::check(cudaStreamEndCapture(stream, &graph), "capture");
  gpu::check(cudaGraphInstantiate(&executable, graph, 0), "capture");
  for (int replay = 0; replay < 2; ++replay) {
    detail::copy_host_to_device(y_device.data(), poison.data(), poison.size() * sizeof(T));
    gpu::check(cudaGraphLaunch(executable, stream), "replay");
    stream.wait();
    report(equal_bits(y, to_host(y_device)), name + ": a replayed graph differs");
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

/// NaN at one place of x, of a and of p reaches the rows that depend on it and no other.
template <class T>
void containment() {
  using K = transition::Diagonal;
  constexpr index_t n = 700, at = 333;
  Array<T, 3> x({1, n, 1});
  std::mt19937 random(13);
  fill(x, random, T(-1), T(1));
  const auto check = [&](const char* what, const Quasiseparable<T, K>& m, const Array<T, 3>& in,
                         auto&& affected) {
    const auto y = product(OnDevice<T, K>(m).view(), Op::none, in, 1);
    bool ok = true;
    for (index_t i = 0; i < n; ++i) ok &= std::isfinite(y(0, i, 0)) == !affected(i);
    report(ok, std::string("NaN or infinity in ") + what + " reaches other rows than it should");
  };
  for (const T bad : {nan<T>, std::numeric_limits<T>::infinity()}) {
    auto x_bad = x;
    x_bad(0, at, 0) = bad;
    check("x", random_matrix<T, K>(n, {3, 0}, 1, 14), x_bad, [](index_t i) { return i >= at; });
    check("x", random_matrix<T, K>(n, {0, 3}, 1, 14), x_bad, [](index_t i) { return i <= at; });
    auto m = random_matrix<T, K>(n, {3, 3}, 1, 14);
    m.a(0, at, 1) = bad;
    check("a", m, x, [](index_t i) { return i > at; });
    m = random_matrix<T, K>(n, {3, 3}, 1, 14);
    m.b(0, at, 1) = bad;
    check("b", m, x, [](index_t i) { return i < at; });
    m = random_matrix<T, K>(n, {3, 3}, 1, 14);
    m.g(0, at, 2) = bad;
    check("g", m, x, [](index_t i) { return i == at; });
  }
}

/// Transitions of one size everywhere.
template <class T, class K>
Quasiseparable<T, K> with_transitions(index_t n, T value) {
  auto m = random_matrix<T, K>(n, {3, 2}, 1, 15);
  std::fill(m.a.begin(), m.a.end(), value);
  std::fill(m.b.begin(), m.b.end(), value);
  poison_unread(m, nan<T>);
  return m;
}

template <class T, class K>
void extreme_transitions(index_t n) {
  const std::string name = label<T, K>(n, {3, 2}, 1, Op::none);
  std::mt19937 random(16);
  Array<T, 3> x({1, n, 1});
  fill(x, random, T(-1), T(1));

  auto m = with_transitions<T, K>(n, T(1e-3));
  report(accurate(m, Op::none, x, product(OnDevice<T, K>(m).view(), Op::none, x, 1)),
         name + ", transitions 1e-3");

  // Far apart, a large number among zeros: what is left of it after a chunk is all that there is.
  Array<T, 3> spikes({1, n, 1});
  for (index_t i = 5; i < n; i += 1000) spikes(0, i, 0) = T(1e30);
  m = with_transitions<T, K>(n, T(std::is_same_v<T, float> ? 0.4 : 3e-3));
  report(accurate(m, Op::none, spikes, product(OnDevice<T, K>(m).view(), Op::none, spikes, 1)),
         name + ", products that underflow");

  for (const T value : {T(1), T(-1)}) {
    m = with_transitions<T, K>(n, value);
    report(accurate(m, Op::none, x, product(OnDevice<T, K>(m).view(), Op::none, x, 1), n),
           name + ", transitions of modulus 1");
  }

  m = with_transitions<T, K>(n, T(1000));
  const auto zero = product(OnDevice<T, K>(m).view(), Op::none, Array<T, 3>({1, n, 1}), 1);
  report(std::all_of(zero.begin(), zero.end(), [](T value) { return value == 0; }),
         name + ", products that overflow times zero");
}

template <class T, class K>
void everything(bool quick) {
  battery<T, K>(quick);
  strided<T, K>();
  repeatable<T, K>(quick ? 1500 : 20000, {8, 3}, 1);
  repeatable<T, K>(1500, {9, 17}, 10);
  extreme_transitions<T, K>(quick ? 3000 : 300000);
  if (quick) return;
  for (const Op op : {Op::none, Op::transpose}) {
    compare<T, K>(524288, {8, 8}, 1, 1, 1, op);
    compare<T, K>(524288, {2, 3}, 1, 1, 2, op);
  }
  compare<T, K>(524287, {1, 0}, 1, 1, 9, Op::none);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  try {
    gpu::require_device("test_quasiseparable_apply");
  } catch (const NotAvailable& e) {
    std::printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", e.what());
    return 77;
  }
  try {
    error_exits();
    everything<double, transition::Diagonal>(quick);
    everything<float, transition::Diagonal>(quick);
    everything<double, transition::Scalar>(quick);
    everything<float, transition::Scalar>(quick);
    containment<double>();
    containment<float>();
  } catch (const std::exception& e) {
    report(false, std::string("unexpected exception: ") + e.what());
  }
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
