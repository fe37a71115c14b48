#include "structmat/cauchy/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "cauchy/coincidence.cuh"
#include "cauchy/line.cuh"
#include "cauchy/plan_method.hpp"
#include "core/instantiate.hpp"
#include "structmat/core/operand.hpp"

namespace structmat {

namespace cauchy {
namespace {

using gpu::device_scalar_t;
using gpu::Strided;

constexpr const char* planning = "cauchy::plan";
constexpr const char* applying = "cauchy::apply";
constexpr int threads = 256;

__device__ inline index_t first_thread() {
  return static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline index_t thread_count() {
  return static_cast<index_t>(gridDim.x) * blockDim.x;
}

// ---- plans

template <class D>
struct Copy {
  Strided<const D, 3> from;
  D* to;
  index_t count, rows, columns;
};
template <class D>
__global__ void copy_elements(const __grid_constant__ Copy<D> m) {
  for (index_t k = first_thread(); k < m.count; k += thread_count()) {
    const index_t row = k / m.columns, b = row / m.rows;
    m.to[k] = m.from(b, row - b * m.rows, k - row * m.columns);
  }
}

/// A copy of the elements that are there: a batch that is broadcast has one entry.
template <Scalar T>
Array<T, 3, space::cuda> copied(const View<const T, 3, space::cuda>& from, cudaStream_t stream) {
  View<const T, 3, space::cuda> once = from;
  if (from.stride(0) == 0 && from.extent(0) > 1) once = from.slice(0, 0, 1);
  Array<T, 3, space::cuda> to(once.extents(), uninitialized);
  if (to.empty()) return to;
  gpu::launch(
      planning, copy_elements<device_scalar_t<T>>,
      gpu::persistent_blocks(to.size(), threads, gpu::multiprocessors(planning)), threads, stream,
      {gpu::strided(once), gpu::device_pointer(to.data()), to.size(), to.extent(1), to.extent(2)});
  return to;
}
template <Scalar T>
Array<T, 3, space::cuda> copied(const View<const T, 2, space::cuda>& nodes, cudaStream_t stream) {
  return copied<T>(
      View<const T, 3, space::cuda>(nodes.data(), {nodes.extent(0), nodes.extent(1), 1},
                                    {nodes.stride(0), nodes.stride(1), 1}),
      stream);
}

enum Parts : unsigned { imaginary_parts_differ = 1, real_parts_differ = 2 };

template <class R>
struct Lie {
  Strided<const gpu::Complex<R>, 2> s, t;
  index_t batch, m, n;
  unsigned* flags;  // (batch)
};
template <class R>
__global__ void compare_parts(const __grid_constant__ Lie<R> p) {
  const index_t all = p.m + p.n;
  for (index_t k = first_thread(); k < p.batch * all; k += thread_count()) {
    const index_t b = k / all, i = k - b * all;
    const gpu::Complex<R> first = p.m > 0 ? p.s(b, 0) : p.t(b, 0);
    const gpu::Complex<R> node = i < p.m ? p.s(b, i) : p.t(b, i - p.m);
    const unsigned flags = (node.im != first.im ? imaginary_parts_differ : 0u) |
                           (node.re != first.re ? real_parts_differ : 0u);
    if (flags != 0) atomicOr(p.flags + b, flags);
  }
}

/// How the nodes of all batch entries lie.
template <class V>
Geometry geometry_of(const V& m, cudaStream_t stream) {
  using T = typename V::value_type;
  const index_t batch = m.batch(), count = batch * (m.rows() + m.cols());
  if constexpr (is_complex_v<T>) {
    if (count == 0) return Geometry::horizontal;
    Array<unsigned, 1, space::cuda> flags({batch});
    gpu::launch(planning, compare_parts<real_t<T>>,
                gpu::persistent_blocks(count, threads, gpu::multiprocessors(planning)), threads,
                stream,
                {gpu::strided(m.s), gpu::strided(m.t), batch, m.rows(), m.cols(), flags.data()});
    gpu::check(cudaStreamSynchronize(stream), planning);
    const auto of = [](unsigned f) {
      if ((f & imaginary_parts_differ) == 0) return Geometry::horizontal;
      return (f & real_parts_differ) == 0 ? Geometry::vertical : Geometry::plane;
    };
    const auto all = to_host(flags);
    for (const unsigned f : all) {
      if (of(f) != of(all(0))) return Geometry::plane;
    }
    return of(all(0));
  } else {
    return Geometry::horizontal;
  }
}

/// Is a product pair by pair faster than on a line? Times are picoseconds on one H200: of a pair, and
/// of a node beside a chain of short launches. A complex pair counts as two, as a column on a line does.
template <Scalar T>
bool pairs_are_faster(index_t batch, index_t m, index_t n) {
  constexpr bool single = sizeof(real_t<T>) == 4;
  constexpr double parts = is_complex_v<T> ? 2 : 1;
  constexpr double pair = parts * (single ? 0.22 : 0.46), node = parts * (single ? 70 : 135),
                   chain = single ? 40e6 : 55e6;
  const double rows = static_cast<double>(m), cols = static_cast<double>(n),
               matrices = static_cast<double>(batch);
  return matrices * pair * rows * cols < chain + matrices * node * (rows + cols);
}

/// The parts of nodes along the line.
template <Scalar T>
Strided<const real_t<T>, 2> along(const View<const T, 2, space::cuda>& nodes, bool vertical) {
  constexpr index_t reals = is_complex_v<T> ? 2 : 1;
  Strided<const real_t<T>, 2> parts{reinterpret_cast<const real_t<T>*>(nodes.data()), {}};
  if (parts.data != nullptr && vertical) ++parts.data;
  for (int d = 0; d < 2; ++d) parts.stride[d] = reals * nodes.stride(d);
  return parts;
}

}  // namespace

template <Scalar T>
struct DevicePlanState {
  using R = real_t<T>;
  static constexpr index_t reals = is_complex_v<T> ? 2 : 1;

  template <class V>
  DevicePlanState(const V& m, const PlanOptions& options, cudaStream_t stream)
      : coincidence(m.coincidence), batch(m.batch()), rows(m.rows()), cols(m.cols()) {
    gpu::require_device(planning);
    if constexpr (requires { m.g; }) {
      like = true;
      order = m.order();
      g = copied<T>(m.g, stream);
      h = copied<T>(m.h, stream);
    }
    const Geometry geometry = geometry_of(m, stream);
    method = chosen(geometry, options);
    vertical = geometry == Geometry::vertical;
    shared = batch <= 1 || (m.s.stride(0) == 0 && m.t.stride(0) == 0);
    if (method == Method::line) {
      line.emplace(along<T>(m.s, vertical), along<T>(m.t, vertical),
                   shared ? std::min<index_t>(1, batch) : batch, rows, cols, options.tolerance,
                   coincidence, stream);
    } else {
      if (coincidence == Coincidence::error) {
        gpu::require_distinct(planning, gpu::strided(m.s), gpu::strided(m.t), batch, rows, cols,
                              stream);
      }
      s = copied<T>(m.s, stream);
      t = copied<T>(m.t, stream);
    }
    gpu::check(cudaStreamSynchronize(stream), planning);
  }

  Method chosen(Geometry geometry, const PlanOptions& options) const {
    check_method(options, geometry, is_complex_v<T>);
    if (options.method == Method::plane) {
      throw Unsupported(
          "cauchy::plan: the method for the plane does not exist on a device; there, nodes that do "
          "not lie on a line are summed pair by pair");
    }
    if (options.method != Method::automatic) return options.method;
    if (options.tolerance == 0 || geometry == Geometry::plane ||
        pairs_are_faster<T>(batch, rows, cols)) {
      return Method::direct;
    }
    return Method::line;
  }

  /// Real columns of sums for one right-hand side.
  index_t width() const { return order * reals; }
  /// Right-hand sides of one pass. With shared nodes, those of all batch entries count.
  index_t at_once(index_t k) const {
    constexpr index_t columns = 16;
    return std::min(shared ? batch * k : k,
                    std::max<index_t>(1, columns / std::max<index_t>(1, width())));
  }
  /// f(view of the matrix), for a plan that is direct.
  template <class F>
  auto visit(const F& f) const {
    const auto nodes = [](const Array<T, 3, space::cuda>& a) { return a.view().select(2, 0); };
    if (like) {
      return f(CauchyLikeView<T, space::cuda>{nodes(s), nodes(t), g.view(), h.view(), coincidence});
    }
    return f(CauchyView<T, space::cuda>{nodes(s), nodes(t), coincidence});
  }

  bool sums_are_zero() const { return rows == 0 || cols == 0 || order == 0; }

  Coincidence coincidence;
  index_t batch, rows, cols, order = 1;
  bool like = false, vertical = false, shared = false;
  Method method = Method::direct;
  Array<T, 3, space::cuda> s, t;  // direct
  Array<T, 3, space::cuda> g, h;
  std::optional<gpu::line::Line<R>> line;
};

namespace {

// ---- products

/// Right-hand sides [first, first + count) of a pass, and the columns of sums that belong to them.
template <class D>
struct Pass {
  using R = gpu::real_of_t<D>;

  Strided<const D, 3> x, in, out;  // in, out: generators
  Strided<D, 3> y;
  gpu::line::TreeView<R> sources, targets;
  R *charges, *sums;
  index_t first, count, columns;  // columns of x
  index_t order;
  bool shared, like, conjugated, vertical, negative;

  struct Column {
    index_t entry, column;
  };
  __device__ Column column_of(index_t tree, index_t number) const {
    const index_t n = first + number;
    if (!shared) return {tree, n};
    return {n / columns, n % columns};
  }
};

template <class D>
__global__ void gather(const __grid_constant__ Pass<D> m) {
  constexpr index_t reals = gpu::is_complex<D> ? 2 : 1;
  const index_t all = m.sources.all_nodes();
  for (index_t k = first_thread(); k < all; k += thread_count()) {
    const index_t tree = k / m.sources.n, j = m.sources.order[k];
    auto* to = m.charges + k;
    for (index_t q = 0; q < m.count; ++q) {
      const auto at = m.column_of(tree, q);
      const D value = gpu::conjugate_if(m.conjugated, m.x(at.entry, j, at.column));
      for (index_t l = 0; l < m.order; ++l) {
        const D charge = m.like ? m.in(at.entry, j, l) * value : value;
        if constexpr (gpu::is_complex<D>) {
          to[0] = charge.re;
          to[all] = charge.im;
        } else {
          to[0] = charge;
        }
        to += reals * all;
      }
    }
  }
}

template <class D>
__global__ void scatter(const __grid_constant__ Pass<D> m) {
  constexpr index_t reals = gpu::is_complex<D> ? 2 : 1;
  const index_t all = m.targets.all_nodes();
  for (index_t k = first_thread(); k < all; k += thread_count()) {
    const index_t tree = k / m.targets.n, base = tree * m.targets.n, i = k - base;
    const auto* from = m.sums + base + m.targets.rank[k];
    for (index_t q = 0; q < m.count; ++q) {
      const auto at = m.column_of(tree, q);
      D result(0);
      for (index_t l = 0; l < m.order; ++l) {
        D sum;
        if constexpr (gpu::is_complex<D>) {
          // 1 / (i (a - b)) = -i / (a - b)
          sum = m.vertical ? D(from[all], -from[0]) : D(from[0], from[all]);
        } else {
          sum = from[0];
        }
        result += m.like ? m.out(at.entry, i, l) * sum : sum;
        from += reals * all;
      }
      result = gpu::conjugate_if(m.conjugated, result);
      m.y(at.entry, i, at.column) = m.negative ? -result : result;
    }
  }
}

template <Scalar T>
void apply_line(const exec::cuda& e, const DevicePlanState<T>& plan, Op op,
                const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y) {
  using D = device_scalar_t<T>;
  const int processors = gpu::multiprocessors(applying);
  const bool exchanged = op != Op::none;
  const index_t k = x.extent(2), at_once = plan.at_once(k);
  const index_t all = plan.shared ? y.extent(0) * k : k;
  const auto memory = gpu::cut(applying, e.workspace, [&](gpu::Workspace& w) {
    return plan.sums_are_zero() ? gpu::line::PassMemory<real_t<T>>{}
                                : plan.line->take(w, at_once * plan.width());
  });
  if (y.empty()) return;

  // C^T is minus the matrix of exchanged nodes, C^H x is conj(C^T conj(x)).
  Pass<D> pass{};
  pass.x = gpu::strided(x);
  pass.y = gpu::strided(y);
  if (plan.like) {
    const auto g = gpu::strided(plan.g.view()), h = gpu::strided(plan.h.view());
    pass.in = exchanged ? g : h;
    pass.out = exchanged ? h : g;
  }
  pass.sources = plan.line->sources(exchanged);
  pass.targets = plan.line->targets(exchanged);
  pass.charges = memory.charges;
  pass.sums = memory.sums;
  pass.columns = k;
  pass.order = plan.sums_are_zero() ? 0 : plan.order;
  pass.shared = plan.shared;
  pass.like = plan.like;
  pass.conjugated = op == Op::adjoint;
  pass.vertical = plan.vertical;
  pass.negative = exchanged;
  for (pass.first = 0; pass.first < all; pass.first += at_once) {
    pass.count = std::min(at_once, all - pass.first);
    if (pass.order > 0) {
      gpu::launch(applying, gather<D>,
                  gpu::persistent_blocks(pass.sources.all_nodes(), threads, processors), threads,
                  gpu::stream_of(e), pass);
      plan.line->enqueue(exchanged, pass.count * plan.width(), memory, gpu::stream_of(e));
    }
    gpu::launch(applying, scatter<D>,
                gpu::persistent_blocks(pass.targets.all_nodes(), threads, processors), threads,
                gpu::stream_of(e), pass);
  }
}

/// The workspace is sized by the batch of the matrix: where x brings a larger one, entries take turns.
template <Scalar T>
void apply_direct(const exec::cuda& e, const DevicePlanState<T>& plan, Op op,
                  const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y) {
  plan.visit([&](const auto& m) {
    if (plan.batch > 1 || y.extent(0) <= 1) return structmat::apply(e, m, op, x, y);
    for (index_t b = 0; b < y.extent(0); ++b) {
      structmat::apply(e, m, op, x.slice(0, b, b + 1), y.slice(0, b, b + 1));
    }
  });
}

}  // namespace
}  // namespace cauchy

template <Scalar T>
CauchyPlan<T, space::cuda>::CauchyPlan(const CauchyView<T, space::cuda>& m,
                                       const cauchy::PlanOptions& options, const exec::cuda& e)
    : state_(std::make_shared<const cauchy::DevicePlanState<T>>(
          cauchy::checked(m, cauchy::planning), options, gpu::stream_of(e))) {}
template <Scalar T>
CauchyPlan<T, space::cuda>::CauchyPlan(const CauchyLikeView<T, space::cuda>& m,
                                       const cauchy::PlanOptions& options, const exec::cuda& e)
    : state_(std::make_shared<const cauchy::DevicePlanState<T>>(
          cauchy::checked(m, cauchy::planning), options, gpu::stream_of(e))) {}

template <Scalar T>
index_t CauchyPlan<T, space::cuda>::batch() const {
  return state_->batch;
}
template <Scalar T>
index_t CauchyPlan<T, space::cuda>::rows() const {
  return state_->rows;
}
template <Scalar T>
index_t CauchyPlan<T, space::cuda>::cols() const {
  return state_->cols;
}
template <Scalar T>
cauchy::Method CauchyPlan<T, space::cuda>::method() const {
  return state_->method;
}

template <Scalar T>
void apply(const exec::cuda& e, const CauchyPlan<T, space::cuda>& plan, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  const index_t m = plan.rows(), n = plan.cols();
  detail::check_operands(cauchy::applying, plan.batch(), op == Op::none ? m : n,
                         op == Op::none ? n : m, x, y);
  gpu::require_writable(cauchy::applying, y, "y");
  gpu::require_apart(cauchy::applying, e.workspace, x, "x");
  gpu::require_apart(cauchy::applying, e.workspace, y, "y");
  if (plan.method() == cauchy::Method::line) {
    cauchy::apply_line(e, plan.state(), op, x, y);
  } else {
    cauchy::apply_direct(e, plan.state(), op, x, y);
  }
}

template <Scalar T>
index_t apply_workspace_bytes(const CauchyPlan<T, space::cuda>& plan, index_t k) {
  constexpr const char* operation = "cauchy::apply_workspace_bytes";
  if (k < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
  }
  const auto& state = plan.state();
  if (plan.method() == cauchy::Method::direct) {
    return state.visit([&](const auto& m) { return apply_workspace_bytes(m, k, plan.batch()); });
  }
  if (state.sums_are_zero()) return 0;
  return gpu::counted(operation, [&](gpu::Workspace& w) {
    return state.line->take(w, state.at_once(k) * state.width());
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template class STRUCTMAT_EXPORT CauchyPlan<T, space::cuda>;                                   \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&, const CauchyPlan<T, space::cuda>&, \
                                          Op, View<const T, 3, space::cuda>,                    \
                                          View<T, 3, space::cuda>);                             \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(const CauchyPlan<T, space::cuda>&, \
                                                             index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
