#include "bench_operations.hpp"

#include <memory>

#include "hermitian_on_device.hpp"
#include "random_matrix.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/dense/solve.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/apply_vjp.hpp"
#include "structmat/quasiseparable/compress.hpp"
#include "structmat/quasiseparable/multiply.hpp"
#include "structmat/quasiseparable/solve.hpp"

namespace structmat::cli {
namespace {

template <Scalar T>
double relative_difference(const Array<T, 2>& x, const Array<T, 2>& reference) {
  Array<T, 2> difference = x;
  for (index_t i = 0; i < x.size(); ++i) difference.data()[i] -= reference.data()[i];
  const double norm = dense::frobenius_norm(View<const T, 2>(reference));
  const double error = dense::frobenius_norm(View<const T, 2>(difference));
  return norm > 0 ? error / norm : error;
}

template <Scalar T>
Array<T, 2> random_columns(index_t n, index_t k, std::uint64_t seed) {
  Array<T, 2> x({n, k});
  Random(seed).fill(x);
  return x;
}

/// Hermitian, with a diagonal of 1 more than the sum of moduli in its row.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> random_dominant(index_t n, index_t order) {
  auto m = random_quasiseparable<T, K>(n, {order, order}, 0);
  const auto conjugated = [](auto a) {
    std::transform(a.begin(), a.end(), a.begin(), conjugate<T>);
    return a;
  };
  m.g = conjugated(m.q), m.h = conjugated(m.p);
  if constexpr (K::rank == 4) {
    m.b = conjugated(to_array(m.a.view().transposed()));
  } else {
    m.b = conjugated(m.a);
  }
  auto moduli = m;
  for (auto* generator : {&moduli.p, &moduli.q, &moduli.g, &moduli.h}) {
    for (T& v : *generator) v = std::abs(v);
  }
  for (T& v : moduli.a) v = std::abs(v);
  for (T& v : moduli.b) v = std::abs(v);
  std::fill(moduli.d.begin(), moduli.d.end(), T{1});
  Array<T, 3> ones({1, n, 1}), sums({1, n, 1});
  std::fill(ones.begin(), ones.end(), T{1});
  apply(exec::cpu{}, moduli, ones, sums);
  std::copy(sums.begin(), sums.end(), m.d.begin());
  return m;
}

/// Results and operands, which outlive the functions that use them.
template <Scalar T, transition::Uniform K>
struct Data {
  Quasiseparable<T, K> m{};
  Array<T, 2> entries{}, x{}, result{}, expected{};
};

template <Scalar T, transition::Uniform K>
struct Maker {
  std::shared_ptr<Data<T, K>> data = std::make_shared<Data<T, K>>();
  bool with_dense;

  Maker(Quasiseparable<T, K> m, index_t k, bool dense_wanted) : with_dense(dense_wanted) {
    data->x = random_columns<T>(m.size(), k, 1);
    data->m = std::move(m);
    if (with_dense) data->entries = expand(data->m);
  }

  TimedOperation operation(double numbers, std::function<void()> structured,
                           std::function<void()> dense) const {
    if (!with_dense) dense = nullptr;
    return {numbers, std::move(structured), std::move(dense),
            [d = data] { return relative_difference(d->result, d->expected); }};
  }
};

template <Scalar T, transition::Uniform K>
TimedOperation solve_operation(index_t n, index_t order, index_t k, bool on_device,
                               bool with_dense) {
  const Maker<T, K> maker(random_dominant<T, K>(n, order), k, with_dense);
  const auto d = maker.data;
  d->result = Array<T, 2>(d->x.extents());
  return maker.operation(
      double(d->m.stored() + 2 * d->x.size()),
      [d, on_device] {
        if (on_device) {
          solve_on_device(d->m, Op::none, d->x, d->result);
        } else {
          const auto f = quasiseparable::factor_ldl(d->m);
          quasiseparable::solve(exec::cpu{}, f, d->x, d->result);
        }
      },
      [d] {
        d->expected = d->x;
        dense::solve(View<const T, 2>(d->entries), d->expected.view());
      });
}

template <Scalar T, transition::Uniform K>
TimedOperation cholesky_operation(index_t n, index_t order, bool on_device) {
  const Maker<T, K> maker(random_dominant<T, K>(n, order), 0, false);
  const auto d = maker.data;
  return maker.operation(
      double(d->m.p.size() + 2 * d->m.q.size() + d->m.a.size() + 2 * d->m.d.size()),
      [d, on_device] {
        if (on_device) {
          factor_on_device(d->m);
        } else {
          quasiseparable::factor_ldl(d->m);
        }
      },
      nullptr);
}

template <Scalar T, transition::Uniform K>
TimedOperation multiply_operation(index_t n, index_t order, bool with_dense) {
  const Maker<T, K> maker(random_quasiseparable<T, K>(n, {order, order}, 0), 0, with_dense);
  const auto d = maker.data;
  const double result = double(quasiseparable::multiply(exec::cpu{}, d->m, d->m).stored());
  return maker.operation(
      double(2 * d->m.stored()) + result,
      [d, with_dense] {
        const auto product = quasiseparable::multiply(exec::cpu{}, d->m, d->m);
        if (with_dense && d->result.empty()) d->result = expand(product);
      },
      [d] {
        d->expected = Array<T, 2>(d->entries.extents());
        const View<const T, 2> m = d->entries;
        dense::gemm(Op::none, Op::none, T{1}, m, m, T{0}, d->expected.view());
      });
}

template <Scalar T, transition::Uniform K>
TimedOperation inverse_operation(index_t n, index_t order, bool with_dense) {
  const Maker<T, K> maker(random_dominant<T, K>(n, order), 0, with_dense);
  const auto d = maker.data;
  return maker.operation(
      double(2 * d->m.stored()),
      [d, with_dense] {
        const auto inverse = quasiseparable::inverse(
            quasiseparable::factor_qr(quasiseparable::to_solver_blocks(d->m.view())));
        if (with_dense && d->result.empty()) d->result = expand(inverse);
      },
      [d] {
        d->expected = d->entries;
        // LAPACK's columns are its rows: (A^T)^-1 = (A^-1)^T.
        dense::invert(d->expected.view().transposed());
      });
}

template <Scalar T, transition::Uniform K>
TimedOperation compress_operation(index_t n, index_t order) {
  const Maker<T, K> maker(random_quasiseparable<T, K>(n, {order, order}, 0), 0, false);
  const auto d = maker.data;
  return maker.operation(
      double(2 * d->m.stored()), [d] { quasiseparable::compress(d->m); }, nullptr);
}

template <Scalar T, transition::Uniform K>
TimedOperation vjp_operation(index_t n, index_t order, index_t k, bool with_dense) {
  const Maker<T, K> maker(random_quasiseparable<T, K>(n, {order, order}, 0), k, with_dense);
  const auto d = maker.data;
  const auto y_bar = std::make_shared<Array<T, 2>>(random_columns<T>(n, k, 2));
  const auto m_bar = std::make_shared<Quasiseparable<T, K>>(n, Order{order, order});
  return maker.operation(
      double(2 * d->m.stored() + 3 * d->x.size()),
      [d, y_bar, m_bar] {
        d->result = Array<T, 2>(d->x.extents());
        apply_vjp(exec::cpu{}, d->m.view(), Op::none, View<const T, 3>(as_batch(d->x.view())),
                  View<const T, 3>(as_batch(y_bar->view())), QuasiseparableCotangent<T, K>(*m_bar),
                  View<T, 3>(as_batch(d->result.view())));
      },
      [d, y_bar] {
        d->expected = Array<T, 2>(d->x.extents());
        const View<const T, 2> m = d->entries, bar = *y_bar, x = d->x;
        dense::gemm(Op::adjoint, Op::none, T{1}, m, bar, T{0}, d->expected.view());
        Array<T, 2> entries_bar(d->entries.extents(), uninitialized);
        dense::gemm(Op::none, Op::adjoint, T{1}, bar, x, T{0}, entries_bar.view());
      });
}

}  // namespace

template <Scalar T, transition::Uniform K>
TimedOperation quasiseparable_operation(const std::string& name, index_t n, index_t order,
                                        index_t k, bool on_device, bool with_dense) {
  if (name == "solve") return solve_operation<T, K>(n, order, k, on_device, with_dense);
  if (name == "cholesky") return cholesky_operation<T, K>(n, order, on_device);
  if (on_device) {
    throw Unsupported("backend cuda: --op " + name +
                      " runs on the CPU; on a device products, solve and cholesky do");
  }
  if (name == "multiply") return multiply_operation<T, K>(n, order, with_dense);
  if (name == "inverse") return inverse_operation<T, K>(n, order, with_dense);
  if (name == "compress") return compress_operation<T, K>(n, order);
  return vjp_operation<T, K>(n, order, k, with_dense);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                   \
  template TimedOperation quasiseparable_operation<T, transition::K>( \
      const std::string&, index_t, index_t, index_t, bool, bool);
#define STRUCTMAT_INSTANTIATE_SCALAR(T) \
  STRUCTMAT_INSTANTIATE(T, Scalar)      \
  STRUCTMAT_INSTANTIATE(T, Diagonal)    \
  STRUCTMAT_INSTANTIATE(T, Dense)
STRUCTMAT_INSTANTIATE_SCALAR(float)
STRUCTMAT_INSTANTIATE_SCALAR(double)
STRUCTMAT_INSTANTIATE_SCALAR(std::complex<float>)
STRUCTMAT_INSTANTIATE_SCALAR(std::complex<double>)

}  // namespace structmat::cli
