#include "structmat/vandermonde/solve.hpp"

#include <algorithm>
#include <cmath>

#include "core/finite.hpp"
#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "vandermonde/columns.hpp"
#include "vandermonde/node_order.hpp"

namespace structmat {

namespace {

using vandermonde::NodeOrder;

/// V a = f: c becomes the divided differences, then the coefficients.
template <Scalar T>
void interpolate(const T* x, index_t n, T* c) {
  for (index_t k = 0; k + 1 < n; ++k) {
    for (index_t i = n - 1; i > k; --i) c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - k - 1]);
  }
  for (index_t k = n - 2; k >= 0; --k) {
    const T node = x[k];
    for (index_t i = k; i + 1 < n; ++i) c[i] -= product(node, c[i + 1]);
  }
}

/// V^T w = b: the transposed steps, the other way.
template <Scalar T>
void find_weights(const T* x, index_t n, T* c) {
  for (index_t k = 0; k + 1 < n; ++k) {
    const T node = x[k];
    for (index_t i = n - 1; i > k; --i) c[i] -= product(node, c[i - 1]);
  }
  for (index_t k = n - 2; k >= 0; --k) {
    for (index_t i = k + 1; i < n; ++i) c[i] /= x[i] - x[i - k - 1];
    for (index_t i = k; i + 1 < n; ++i) c[i] -= c[i + 1];
  }
}

/// The first node that is not finite or that is there before; ok if there is none.
template <Scalar T>
PivotStatus examined(const View<const T, 1>& nodes, index_t batch) {
  std::vector<std::pair<T, index_t>> sorted;
  sorted.reserve(nodes.extent(0));
  for (index_t i = 0; i < nodes.extent(0); ++i) {
    if (!is_finite(nodes(i))) {
      return {PivotStatus::Kind::not_finite, batch, i, double(std::abs(nodes(i)))};
    }
    sorted.emplace_back(nodes(i), i);
  }
  const auto key = [](const auto& p) {
    return std::make_pair(std::real(p.first), std::imag(p.first));
  };
  std::sort(sorted.begin(), sorted.end(), [&](const auto& p, const auto& q) {
    return key(p) == key(q) ? p.second < q.second : key(p) < key(q);
  });
  PivotStatus status;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first != sorted[i - 1].first) continue;
    if (status.ok() || sorted[i].second < status.index) {
      status = {PivotStatus::Kind::zero, batch, sorted[i].second, 0};
    }
  }
  return status;
}

template <Scalar T>
PivotStatus examined(const VandermondeView<T>& m, const View<const T, 3>& b) {
  for (index_t entry = 0; entry < m.batch(); ++entry) {
    const PivotStatus status = examined(m.x.select(0, entry), entry);
    if (!status.ok()) return status;
  }
  for (index_t entry = 0; entry < b.extent(0); ++entry) {
    for (index_t i = 0; i < b.extent(1); ++i) {
      for (index_t c = 0; c < b.extent(2); ++c) {
        if (!is_finite(b(entry, i, c))) {
          return {PivotStatus::Kind::not_finite, entry, i, double(std::abs(b(entry, i, c)))};
        }
      }
    }
  }
  return {};
}

template <Scalar T>
void require_square(const char* operation, const VandermondeView<T>& m) {
  if (m.rows() == m.cols()) return;
  throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.rows()) + " x " +
                   std::to_string(m.cols()) + ", it must be square");
}

/// A product of numbers of any size: its logarithm, and a number of its direction.
template <Scalar T>
class LogProduct {
 public:
  void multiply(const T& factor) {
    int exponent = 0;
    const auto larger = std::max(std::abs(std::real(factor)), std::abs(std::imag(factor)));
    std::frexp(larger, &exponent);
    exponent_ += exponent;
    Wide scaled(factor);
    value_ = product(value_, Wide(std::ldexp(std::real(scaled), -exponent),
                                  std::ldexp(std::imag(scaled), -exponent)));
    // Each factor is at least 1/2 now.
    if (++count_ % 256 == 0) renormalise();
  }

  LogDeterminant<T> result() {
    renormalise();
    const double size = std::abs(value_);
    if (size == 0) return {-INFINITY, T{0}};
    const Wide direction = value_ / size;
    const double log_abs = std::log(size) + static_cast<double>(exponent_) * std::log(2.0);
    if constexpr (is_complex_v<T>) {
      return {log_abs, T(direction)};
    } else {
      return {log_abs, T(direction.real())};
    }
  }

 private:
  using Wide = std::complex<double>;
  void renormalise() {
    int exponent = 0;
    std::frexp(std::max(std::abs(value_.real()), std::abs(value_.imag())), &exponent);
    value_ = {std::ldexp(value_.real(), -exponent), std::ldexp(value_.imag(), -exponent)};
    exponent_ += exponent;
  }
  Wide value_ = 1;
  index_t exponent_ = 0, count_ = 0;
};

}  // namespace

template <Scalar T>
vandermonde::SolveReport solve(const exec::cpu& e, const VandermondeView<T>& matrix, Op op,
                               View<const T, 3> b, View<T, 3> x,
                               const vandermonde::SolveOptions& options) {
  constexpr auto operation = "vandermonde::solve";
  const auto own = vandermonde::checked(matrix, operation);
  require_square(operation, own);
  const index_t n = own.rows(), k = b.extent(2);
  const index_t batch = detail::check_operands(operation, own.batch(), n, n, b, x);
  vandermonde::SolveReport report;
  report.status = examined(own, b);
  if (!report.status.ok()) return report;
  std::vector<std::vector<index_t>> orders;
  orders.reserve(own.batch());
  for (index_t entry = 0; entry < own.batch(); ++entry) {
    report.order = vandermonde::resolved(options.order, own.x.select(0, entry));
    orders.push_back(vandermonde::ordered(report.order, own.x.select(0, entry)));
  }
  const bool conjugated = op == Op::adjoint;
  parallel_for(team_for(e.threads, 3 * batch * k * n * n), batch * k, [&](index_t column) {
    const index_t entry = column / k, matrix_entry = own.batch() == 1 ? 0 : entry;
    const auto& order = orders[matrix_entry];
    const View<const T, 1> nodes = own.x.select(0, matrix_entry);
    const View<const T, 1> from = b.select(0, b.extent(0) == 1 ? 0 : entry).select(1, column % k);
    const View<T, 1> to = x.select(0, entry).select(1, column % k);
    std::vector<T> ordered(n), work(n);
    for (index_t i = 0; i < n; ++i) {
      ordered[i] = conjugated ? conjugate(nodes(order[i])) : nodes(order[i]);
      work[i] = op == Op::none ? from(order[i]) : from(i);
    }
    if (op == Op::none) {
      interpolate(ordered.data(), n, work.data());
    } else {
      find_weights(ordered.data(), n, work.data());
    }
    for (index_t i = 0; i < n; ++i) to(op == Op::none ? i : order[i]) = work[i];
  });
  return report;
}

template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu&, const VandermondeView<T>& matrix,
                                  index_t batch) {
  constexpr auto operation = "vandermonde::log_determinant";
  const auto m = vandermonde::checked(matrix, operation);
  require_square(operation, m);
  detail::require_index(operation, {m.batch(), 1, 1}, {batch, 0, 0});
  LogProduct<T> product_of_differences;
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = i + 1; j < m.rows(); ++j) {
      product_of_differences.multiply(m.x(batch, j) - m.x(batch, i));
    }
  }
  return product_of_differences.result();
}

#define STRUCTMAT_INSTANTIATE(T)                                                     \
  template STRUCTMAT_EXPORT vandermonde::SolveReport solve<T>(                       \
      const exec::cpu&, const VandermondeView<T>&, Op, View<const T, 3>, View<T, 3>, \
      const vandermonde::SolveOptions&);                                             \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T>(                    \
      const exec::cpu&, const VandermondeView<T>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
