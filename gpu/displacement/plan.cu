#include "structmat/displacement/plan.hpp"

#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "displacement/core.cuh"
#include "displacement/reduction.hpp"

namespace structmat::displacement {
namespace {

constexpr char plan_operation[] = "displacement::Plan";

/// The form of a core, and all that neighbours in a batch must share to be computed together.
struct Form {
  bool left_diagonal, right_diagonal;
  Orientation orientation;
  index_t order;

  friend bool operator==(const Form&, const Form&) = default;
};

template <Scalar T>
Form form_of(const Reduction<T>& r) {
  const auto diagonal = [](const Operator<T>& a) { return a.kind == OperatorKind::diagonal; };
  return {diagonal(r.core.displacement.left), diagonal(r.core.displacement.right), r.orientation,
          r.core.order()};
}

}  // namespace

template <Scalar T>
struct DevicePlanState {
  /// Neighbours in the batch, one core.
  struct Group {
    index_t first, count;
    Form form;
    DeviceCorePointer<T> core;
  };

  DevicePlanState(const exec::cuda& e, const std::vector<Generators<T>>& given,
                  const PlanOptions& options)
      : batch(static_cast<index_t>(given.size())) {
    gpu::require_device(plan_operation);
    require_one_shape(given);
    std::vector<Generators<T>> together;
    Form form{};
    const auto finish = [&](index_t end) {
      if (together.empty()) return;
      const auto count = static_cast<index_t>(together.size());
      groups.push_back({end - count, count, form,
                        form.right_diagonal
                            ? make_device_cauchy_like(e, together, options.tolerance)
                        : form.left_diagonal ? make_device_vandermonde_like(e, together.front())
                                             : make_device_toeplitz_like(e, together)});
      together.clear();
    };
    for (index_t b = 0; b < batch; ++b) {
      Reduction<T> next = reduced(given[static_cast<std::size_t>(b)]);
      const Form own = form_of(next);
      // What a tolerance chooses for one matrix must not depend on others.
      const bool alone = own.left_diagonal && (!own.right_diagonal || options.tolerance > 0);
      if (alone || own != form) finish(b);
      form = own;
      together.push_back(std::move(next.core));
    }
    finish(batch);
  }

  void require_one_shape(const std::vector<Generators<T>>& given) {
    const auto shape = [](const Generators<T>& x) {
      return std::to_string(x.rows()) + " x " + std::to_string(x.cols());
    };
    if (given.empty()) return;
    rows = given.front().rows();
    cols = given.front().cols();
    for (const auto& x : given) {
      require_valid(plan_operation, x);
      if (x.rows() != rows || x.cols() != cols) {
        throw ShapeError(std::string(plan_operation) + ": the first matrix is " +
                         shape(given.front()) + ", another one is " + shape(x));
      }
    }
  }

  index_t batch, rows = 0, cols = 0;
  std::vector<Group> groups;
};

namespace {

template <class T>
struct Conjugation {
  gpu::Strided<const T, 3> from;
  gpu::Strided<T, 3> to;
  index_t count, rows, k;
};
template <class T>
__global__ void __launch_bounds__(256)
    conjugate_elements(const __grid_constant__ Conjugation<T> p) {
  for (index_t at = index_t{blockIdx.x} * blockDim.x + threadIdx.x; at < p.count * p.rows * p.k;
       at += index_t{gridDim.x} * blockDim.x) {
    const index_t row = at / p.k, c = at - row * p.k, b = row / p.rows, i = row - b * p.rows;
    p.to(b, i, c) = gpu::conjugate(p.from(b, i, c));
  }
}

/// to := conj(from), which may be the same memory.
template <Scalar T>
void conjugate_into(const char* operation, cudaStream_t stream, View<const T, 3, space::cuda> from,
                    View<T, 3, space::cuda> to) {
  using D = gpu::device_scalar_t<T>;
  constexpr unsigned threads = 256;
  const index_t work = to.size();
  if (work == 0) return;
  gpu::launch(
      operation, conjugate_elements<D>,
      gpu::Grid{gpu::persistent_blocks(work, threads, gpu::multiprocessors(operation)), threads},
      stream,
      Conjugation<D>{gpu::strided(from), gpu::strided(to), to.extent(0), to.extent(1),
                     to.extent(2)});
}

/// X^H = conj(conj(core)): without a product by a conjugate, conjugates of x and y serve.
template <Scalar T>
bool conjugates(const Form& form, Op op) {
  return is_complex_v<T> && op == Op::adjoint && !form.orientation.across(true);
}

template <class T>
struct Buffers {
  T* conjugated;
  std::byte* core;
  index_t core_bytes;
};

template <Scalar T>
auto layout(const char* operation, const DevicePlanState<T>& plan, index_t k) {
  index_t conjugated = 0, core = 0;
  for (const auto& group : plan.groups) {
    if (plan.rows == 0 || plan.cols == 0 || k == 0) continue;
    core = std::max(core, group.core->apply_bytes(operation, k));
    if (conjugates<T>(group.form, Op::adjoint))
      conjugated = std::max(conjugated, group.count * plan.rows * k);
  }
  return [conjugated, core](gpu::Workspace& w) {
    T* const copy = w.take<T>(conjugated);
    return Buffers<T>{copy, w.take<std::byte>(core), core};
  };
}

template <Scalar T>
void apply_group(const char* operation, const exec::cuda& e,
                 const typename DevicePlanState<T>::Group& group, Op op,
                 View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y,
                 const Buffers<T>& buffers) {
  const Orientation& how = group.form.orientation;
  const bool transposed = op != Op::none, across = how.across(transposed);
  if (how.flips_input(transposed)) x = x.reversed(1);
  if (how.flips_output(transposed)) y = y.reversed(1);
  const exec::cuda inner = within(e, buffers.core, buffers.core_bytes);
  if (!conjugates<T>(group.form, op)) {
    const Op own = !across ? Op::none : op == Op::adjoint ? Op::adjoint : Op::transpose;
    return group.core->apply(operation, inner, own, x, y);
  }
  const View<T, 3, space::cuda> copy(buffers.conjugated, x.extents());
  conjugate_into<T>(operation, gpu::stream_of(e), x, copy);
  group.core->apply(operation, inner, Op::none, copy, y);
  conjugate_into<T>(operation, gpu::stream_of(e), y, y);
}

/// One matrix and a batch of x: their columns are right-hand sides.
template <class T>
View<T, 3, space::cuda> as_columns(const View<T, 3, space::cuda>& x, index_t c) {
  const auto column = x.slice(2, c, c + 1);
  return {column.data(), {1, x.extent(1), x.extent(0)}, {0, x.stride(1), x.stride(0)}};
}

}  // namespace

template <Scalar T>
Plan<T, space::cuda>::Plan(const exec::cuda& e, const Generators<T>& x, const PlanOptions& options)
    : Plan(e, std::vector<Generators<T>>{x}, options) {}
template <Scalar T>
Plan<T, space::cuda>::Plan(const exec::cuda& e, const std::vector<Generators<T>>& batch,
                           const PlanOptions& options)
    : state_(std::make_shared<const DevicePlanState<T>>(e, batch, options)) {}
template <Scalar T>
index_t Plan<T, space::cuda>::batch() const {
  return state_->batch;
}
template <Scalar T>
index_t Plan<T, space::cuda>::rows() const {
  return state_->rows;
}
template <Scalar T>
index_t Plan<T, space::cuda>::cols() const {
  return state_->cols;
}

template <Scalar T>
index_t apply_workspace_bytes(const Plan<T, space::cuda>& m, index_t k, index_t batch) {
  constexpr auto operation = "displacement::apply_workspace_bytes";
  if (k < 0 || batch < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " columns, batch " +
                     std::to_string(batch));
  }
  if (k == 0) return 0;
  return gpu::counted(operation,
                      layout(operation, m.state(), m.batch() == 1 ? std::max(k, batch) : k));
}

template <Scalar T>
void apply(const exec::cuda& e, const Plan<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  constexpr auto operation = "displacement::apply";
  const bool transposed = op != Op::none;
  const index_t batch =
      structmat::detail::check_operands(operation, m.batch(), transposed ? m.cols() : m.rows(),
                                        transposed ? m.rows() : m.cols(), x, y);
  gpu::require_writable(operation, y, "y");
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y, "y");
  if (y.empty()) return;
  const auto& state = m.state();
  const index_t k = x.extent(2);
  if (state.batch != 1 || batch == 1) {
    const auto buffers = gpu::cut(operation, e.workspace, layout(operation, state, k));
    for (const auto& g : state.groups) {
      const auto own = [&](const auto& v) {
        return v.extent(0) == 1 ? v : v.slice(0, g.first, g.first + g.count);
      };
      apply_group<T>(operation, e, g, op, own(x), own(y), buffers);
    }
    return;
  }
  const auto buffers =
      gpu::cut(operation, e.workspace, layout(operation, state, std::max(k, batch)));
  const auto& only = state.groups.front();
  if (k <= batch) {
    for (index_t c = 0; c < k; ++c)
      apply_group<T>(operation, e, only, op, as_columns(x, c), as_columns(y, c), buffers);
  } else {
    for (index_t b = 0; b < batch; ++b)
      apply_group<T>(operation, e, only, op, x.slice(0, b, b + 1), y.slice(0, b, b + 1), buffers);
  }
}

namespace {

template <Scalar T>
index_t dense_bytes(const char* operation, const DevicePlanState<T>& plan) {
  index_t bytes = 0;
  if (plan.rows == 0 || plan.cols == 0) return bytes;
  for (const auto& g : plan.groups) bytes = std::max(bytes, g.core->to_dense_bytes(operation));
  return bytes;
}

}  // namespace

template <Scalar T>
index_t to_dense_workspace_bytes(const Plan<T, space::cuda>& m) {
  return dense_bytes("displacement::to_dense_workspace_bytes", m.state());
}

template <Scalar T>
void to_dense(const exec::cuda& e, const Plan<T, space::cuda>& m, View<T, 3, space::cuda> dense) {
  constexpr auto operation = "displacement::to_dense";
  gpu::require_dense(operation, dense, {m.batch(), m.rows(), m.cols()});
  gpu::require_apart(operation, e.workspace, dense, "the result");
  if (dense.empty()) return;
  const index_t bytes = dense_bytes(operation, m.state());
  std::byte* const memory =
      gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { return w.take<std::byte>(bytes); });
  for (const auto& g : m.state().groups) {
    g.core->to_dense(operation, within(e, memory, bytes),
                     g.form.orientation.in_core(dense.slice(0, g.first, g.first + g.count)));
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template class Plan<T, space::cuda>;                                                          \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const Plan<T, space::cuda>&, index_t, \
                                                          index_t);                             \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const Plan<T, space::cuda>&, Op,      \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>); \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(const Plan<T, space::cuda>&);      \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const Plan<T, space::cuda>&,       \
                                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
