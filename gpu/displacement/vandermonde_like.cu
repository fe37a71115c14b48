// Vandermonde-like matrices: X = diag(weights) sum_j diag(g_j) V(bases) Z_f(J h_j), with two sets of
// nodes: those of modulus at most 1, and those beyond, whose reciprocals meet the coefficients in the
// opposite order. Rows are kept in the order of the sets.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "displacement/core.cuh"
#include "displacement/reduction.hpp"
#include "displacement/term_sum.cuh"
#include "displacement/vandermonde_like_kernel.cuh"
#include "structmat/toeplitz/plan.hpp"
#include "structmat/vandermonde/apply.hpp"

namespace structmat::displacement {
namespace {

using namespace device;

template <class V>
Array<typename V::value_type, 1, space::cuda> uploaded(const V& values) {
  Array<typename V::value_type, 1> host({static_cast<index_t>(values.size())}, uninitialized);
  std::copy(values.begin(), values.end(), host.data());
  return to_device(host);
}

template <Scalar T>
class VandermondeLike final : public DeviceCore<T> {
  using D = gpu::device_scalar_t<T>;

 public:
  VandermondeLike(const exec::cuda& e, const Generators<T>& x)
      : rows_(x.rows()),
        cols_(x.cols()),
        order_(x.order()),
        corner_(x.displacement.right.corner),
        h_(to_device(x.h)) {
    std::vector<WeightedRow<T>> all;
    for (index_t i = 0; i < rows_; ++i) all.push_back(weighted_row(x, i));
    std::vector<index_t> place;
    for (const bool in : {true, false}) {
      for (index_t i = 0; i < rows_; ++i) {
        if (all[static_cast<std::size_t>(i)].inside == in) place.push_back(i);
      }
      if (in) inside_ = static_cast<index_t>(place.size());
    }
    std::vector<T> weights, bases;
    Array<T, 2> g({rows_, order_}, uninitialized);
    for (index_t p = 0; p < rows_; ++p) {
      const index_t i = place[static_cast<std::size_t>(p)];
      weights.push_back(all[static_cast<std::size_t>(i)].weight);
      bases.push_back(all[static_cast<std::size_t>(i)].base);
      for (index_t l = 0; l < order_; ++l) g(p, l) = x.g(i, l);
    }
    place_ = uploaded(place);
    weights_ = uploaded(weights);
    bases_ = uploaded(bases);
    g_ = to_device(g);
    if (!has_terms()) return;
    Array<T, 2> lags({order_, 2 * cols_ - 1}, uninitialized);
    for (index_t l = 0; l < order_; ++l) {
      for (index_t p = 0; p < cols_; ++p) lags(l, cols_ - 1 + p) = x.h(cols_ - 1 - p, l);
      for (index_t s = 1; s < cols_; ++s) lags(l, cols_ - 1 - s) = product(corner_, x.h(s - 1, l));
    }
    const auto there = to_device(lags);
    right_.emplace(e, ToeplitzView<T, space::cuda>{there.view(), cols_, cols_});
  }

  void apply(const char* operation, const exec::cuda& e, Op op, View<const T, 3, space::cuda> x,
             View<T, 3, space::cuda> y) const override {
    const cudaStream_t stream = gpu::stream_of(e);
    if (!has_terms()) return device::sum_terms<T>(operation, stream, nullptr, 0, y);
    const index_t k = x.extent(2), columns = order_ * k;
    const auto w = gpu::cut(operation, e.workspace, layout(k));
    const exec::cuda inner = within(e, w.library, w.library_bytes);
    // Column (l, c) of term l and right-hand side c.
    const View<T, 3, space::cuda> between(w.between, {1, cols_, columns}),
        values(w.values, {1, rows_, columns}),
        by_term(w.between, {order_, cols_, k}, {k, columns, 1});
    const auto side = [&](bool in, const View<T, 3, space::cuda>& v) {
      return in ? v.slice(1, 0, inside_) : v.slice(1, inside_, rows_);
    };
    const auto in_order = [](bool in, const View<T, 3, space::cuda>& v) {
      return in ? v : v.reversed(1);
    };
    if (op == Op::none) {
      structmat::apply(inner, *right_, op, x, by_term);
      for (const bool in : {true, false}) {
        if (nodes(in).rows() == 0) continue;
        structmat::apply(inner, nodes(in), op, View<const T, 3, space::cuda>(in_order(in, between)),
                         side(in, values));
      }
      const Combination<D> p{kernel_rows(), gpu::device_pointer(w.values), gpu::strided(y), k};
      return gpu::launch(operation, combine<D>, grid(operation, rows_ * k), stream, p);
    }
    const Distribution<D> p{kernel_rows(), gpu::strided(x), gpu::device_pointer(w.values), k,
                            op == Op::adjoint};
    gpu::launch(operation, distribute<D>, grid(operation, rows_ * k), stream, p);
    const View<T, 3, space::cuda> other(w.results, {1, cols_, columns});
    const bool both = inside_ > 0 && inside_ < rows_;
    for (const bool in : {true, false}) {
      if (nodes(in).rows() == 0) continue;
      structmat::apply(inner, nodes(in), op, View<const T, 3, space::cuda>(side(in, values)),
                       in_order(in, both && !in ? other : between));
    }
    // The other part follows at once.
    if (both) device::sum_terms<T>(operation, stream, w.between, 2, between);
    const View<T, 3, space::cuda> results(w.results, {order_, cols_, k});
    structmat::apply(inner, *right_, op, View<const T, 3, space::cuda>(by_term), results);
    device::sum_terms<T>(operation, stream, w.results, order_, y);
  }

  index_t apply_bytes(const char* operation, index_t k) const override {
    return has_terms() ? gpu::counted(operation, layout(k)) : 0;
  }

  void to_dense(const char* operation, const exec::cuda& e,
                View<T, 3, space::cuda> dense) const override {
    const cudaStream_t stream = gpu::stream_of(e);
    T* const chunks = gpu::cut(operation, e.workspace, dense_layout());
    const Recurrence<D> p{kernel_rows(),
                          gpu::device_pointer(h_.data()),
                          gpu::strided(dense),
                          gpu::device_pointer(chunks),
                          cols_,
                          kernel_corner(),
                          gpu::by_rows(dense)};
    const index_t work = rows_ * chunks_of(cols_);
    gpu::launch(operation, sum_chunks<D>, grid(operation, work), stream, p);
    gpu::launch(operation, begin_chunks<D>, grid(operation, rows_), stream, p);
    // Up to one more group of 32 rows than rows fill.
    gpu::launch(operation, run_chunks<D>, grid(operation, work + 32 * chunks_of(cols_)), stream, p);
  }
  index_t to_dense_bytes(const char* operation) const override {
    return gpu::counted(operation, dense_layout());
  }

 private:
  bool has_terms() const { return rows_ > 0 && cols_ > 0 && order_ > 0; }

  VandermondeView<T, space::cuda> nodes(bool in) const {
    const T* const first = bases_.data() + (in ? 0 : inside_);
    return {View<const T, 2, space::cuda>(first, {1, in ? inside_ : rows_ - inside_}), cols_};
  }
  Rows<D> kernel_rows() const {
    return {place_.data(),
            gpu::device_pointer(weights_.data()),
            gpu::device_pointer(bases_.data()),
            gpu::device_pointer(g_.data()),
            rows_,
            inside_,
            order_};
  }
  D kernel_corner() const {
    if constexpr (is_complex_v<T>)
      return {corner_.real(), corner_.imag()};
    else
      return corner_;
  }
  gpu::Grid grid(const char* operation, index_t work) const {
    return {gpu::persistent_blocks(work, threads, gpu::multiprocessors(operation)), threads};
  }

  auto dense_layout() const {
    return [this](gpu::Workspace& w) { return w.take<T>(rows_ * chunks_of(cols_)); };
  }

  struct Buffers {
    T *between, *results, *values;
    std::byte* library;
    index_t library_bytes;
  };
  auto layout(index_t k) const {
    const index_t columns = order_ * k;
    index_t library = apply_workspace_bytes(*right_, k);
    for (const bool in : {true, false}) {
      if (nodes(in).rows() > 0)
        library = std::max(library, apply_workspace_bytes(nodes(in), columns));
    }
    return [this, columns, library](gpu::Workspace& w) {
      // `results` follows `between` without a gap.
      T* const between = w.take<T>(2 * cols_ * columns);
      T* const values = w.take<T>(rows_ * columns);
      return Buffers{between, between == nullptr ? nullptr : between + cols_ * columns, values,
                     w.take<std::byte>(library), library};
    };
  }

  index_t rows_, cols_, order_, inside_ = 0;
  T corner_;
  Array<index_t, 1, space::cuda> place_;
  Array<T, 1, space::cuda> weights_, bases_;
  Array<T, 2, space::cuda> g_, h_;
  std::optional<ToeplitzPlan<T, space::cuda>> right_;
};

}  // namespace

template <Scalar T>
DeviceCorePointer<T> make_device_vandermonde_like(const exec::cuda& e, const Generators<T>& x) {
  return std::make_unique<const VandermondeLike<T>>(e, x);
}

#define STRUCTMAT_INSTANTIATE(T)                                                \
  template DeviceCorePointer<T> make_device_vandermonde_like(const exec::cuda&, \
                                                             const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
