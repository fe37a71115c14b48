#include "exact/modular.hpp"

#include <algorithm>
#include <cmath>

#include "exact/modular_reduce.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat::exact::detail {
namespace {

constexpr double exact_limit = 0x1p52;  // sums up to here are exact, and so is their reduction
constexpr double split = 0x1p13;        // half the bits of a residue
constexpr index_t longest = 1 << 14;    // of sums of products of a residue and half a residue

STRUCTMAT_CLONES void reduce(double* x, index_t count, double p) {
  for (index_t i = 0; i < count; ++i) x[i] = reduced_residue(x[i], p);
}

}  // namespace

Modular::Modular(const PrimeField& field)
    : field_(field), p_(field.prime()), half_(std::floor(p_ / 2)) {}

void Modular::subtract_product(index_t m, index_t n, index_t k, const double* a, index_t lda,
                               const double* b, index_t ldb, double* c, index_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  if (k > longest) {
    subtract_product(m, n, longest, a, lda, b, ldb, c, ldc);
    return subtract_product(m, n, k - longest, a + longest, lda, b + longest * ldb, ldb, c, ldc);
  }
  const auto view = [](auto* x, index_t rows, index_t cols, index_t ld) {
    return View<std::remove_reference_t<decltype(*x)>, 2>(x, {rows, cols}, {ld, 1});
  };
  const auto factor = view(a, m, k, lda);
  const auto reduce_rows = [&](double* x, index_t ld) {
    for (index_t i = 0; i < m; ++i) reduce(x + i * ld, n, p_);
  };
  const auto result = view(c, m, n, ldc);
  if (half_ * half_ * double(k) + half_ < exact_limit) {
    dense::gemm<double>(Op::none, Op::none, -1.0, factor, view(b, k, n, ldb), 1.0, result);
    return reduce_rows(c, ldc);
  }
  // B = 2^13 B_high + B_low: each product is then exact.
  high_.resize(static_cast<std::size_t>(k * n));
  low_.resize(high_.size());
  for (index_t i = 0; i < k; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const double x = b[i * ldb + j];
      high_[i * n + j] = std::floor(x / split + 0.5);
      low_[i * n + j] = x - split * high_[i * n + j];
    }
  }
  product_.resize(static_cast<std::size_t>(m * n));
  const auto product = view(product_.data(), m, n, n);
  dense::gemm<double>(Op::none, Op::none, 1.0, factor,
                      view(static_cast<const double*>(high_.data()), k, n, n), 0.0, product);
  reduce_rows(product_.data(), n);
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) c[i * ldc + j] -= split * product_[i * n + j];
  }
  dense::gemm<double>(Op::none, Op::none, -1.0, factor,
                      view(static_cast<const double*>(low_.data()), k, n, n), 1.0, result);
  reduce_rows(c, ldc);
}

}  // namespace structmat::exact::detail
