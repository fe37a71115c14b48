// Vandermonde-like matrices: X = diag(weights) sum_j diag(g_j) V(bases) Z_f(J h_j), with two sets of
// nodes: those of modulus at most 1, and those beyond, whose reciprocals meet the coefficients in the
// opposite order. Rows are kept in the order of the sets.
#include "core/instantiate.hpp"
#include "displacement/core.cuh"
#include "displacement/reduction.hpp"
#include "displacement/term_sum.cuh"
#include "structmat/toeplitz/plan.hpp"
#include "structmat/vandermonde/apply.hpp"

namespace structmat::displacement {
namespace {

constexpr int threads = 64;

/// The rows of X as kernels see them.
template <class T>
struct Rows {
  const index_t* place;  ///< the row of X where row p stands
  const T *weights, *bases;
  const T* g;  ///< (m, r)
  index_t count, inside, order;
};

template <class T>
struct Combination {
  Rows<T> rows;
  const T* values;  ///< (m, r, k)
  gpu::Strided<T, 3> y;
  index_t k;
};

/// y(place_p) := weight_p sum_l g_pl values_pl
template <class T>
__global__ void __launch_bounds__(threads) combine(const __grid_constant__ Combination<T> p) {
  const index_t r = p.rows.order;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.rows.count * p.k;
       at += index_t{gridDim.x} * threads) {
    const index_t row = at / p.k, c = at - row * p.k;
    T sum(0);
    for (index_t l = 0; l < r; ++l) {
      sum = gpu::multiply_add(p.rows.g[row * r + l], p.values[(row * r + l) * p.k + c], sum);
    }
    p.y(0, p.rows.place[row], c) = p.rows.weights[row] * sum;
  }
}

template <class T>
struct Distribution {
  Rows<T> rows;
  gpu::Strided<const T, 3> x;
  T* values;  ///< (m, r, k)
  index_t k;
  bool conjugated;
};

/// values_pl := g_pl weight_p x(place_p), or with conjugates of g and weight
template <class T>
__global__ void __launch_bounds__(threads) distribute(const __grid_constant__ Distribution<T> p) {
  const index_t r = p.rows.order;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.rows.count * p.k;
       at += index_t{gridDim.x} * threads) {
    const index_t row = at / p.k, c = at - row * p.k;
    const T weighted =
        gpu::conjugate_if(p.conjugated, p.rows.weights[row]) * p.x(0, p.rows.place[row], c);
    for (index_t l = 0; l < r; ++l) {
      p.values[(row * r + l) * p.k + c] =
          gpu::conjugate_if(p.conjugated, p.rows.g[row * r + l]) * weighted;
    }
  }
}

template <class T>
struct Recurrence {
  Rows<T> rows;
  const T* h;  ///< (n, r)
  gpu::Strided<T, 3> dense;
  index_t cols;
  T corner;
};

/// x_i X_ij - X_{i,j+1} = M_ij, with corner X_i0 for X_in, in a thread for each row. Forwards from
///   X_i0 = weight sum_j x^{n-1-j} M_ij, or, with y = 1 / x, backwards from
///   X_{i,n-1} = weight (corner sum_{j<n-1} y^{j+1} M_ij + M_{i,n-1}).
template <class T>
__global__ void __launch_bounds__(threads) run_rows(const __grid_constant__ Recurrence<T> p) {
  const index_t r = p.rows.order, n = p.cols;
  for (index_t row = index_t{blockIdx.x} * threads + threadIdx.x; row < p.rows.count;
       row += index_t{gridDim.x} * threads) {
    const T base = p.rows.bases[row], weight = p.rows.weights[row];
    const T* const g = p.rows.g + row * r;
    const index_t i = p.rows.place[row];
    const auto image = [&](index_t j) {
      T sum(0);
      for (index_t l = 0; l < r; ++l) sum = gpu::multiply_add(g[l], p.h[j * r + l], sum);
      return sum;
    };
    T value(0);
    if (row < p.rows.inside) {
      for (index_t j = 0; j < n; ++j) value = gpu::multiply_add(base, value, image(j));
      value = weight * value;
      for (index_t j = 0; j < n; ++j) {
        p.dense(0, i, j) = value;
        value = base * value - image(j);
      }
    } else {
      for (index_t j = n - 2; j >= 0; --j) value = base * (value + image(j));
      value = weight * (p.corner * value + image(n - 1));
      for (index_t j = n - 1; j >= 0; --j) {
        p.dense(0, i, j) = value;
        if (j > 0) value = base * (value + image(j - 1));
      }
    }
  }
}

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
    const Recurrence<D> p{kernel_rows(), gpu::device_pointer(h_.data()), gpu::strided(dense), cols_,
                          kernel_corner()};
    gpu::launch(operation, run_rows<D>, grid(operation, rows_), gpu::stream_of(e), p);
  }
  index_t to_dense_bytes(const char*) const override { return 0; }

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
