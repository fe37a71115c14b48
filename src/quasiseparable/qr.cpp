#include "structmat/quasiseparable/qr.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "quasiseparable/finite_blocks.hpp"
#include "recurrence/normal_form.hpp"
#include "structmat/dense/lapack.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
struct QrBuilder {
  using Step = typename Qr<T>::Step;
  using Entry = typename Qr<T>::Entry;
  using Blocks = Quasiseparable<T, transition::Block>;

  static Qr<T> build(const Blocks& m) {
    Qr<T> f;
    f.partition_ = m.partition;
    f.entries_.resize(m.batch());
    for (index_t b = 0; b < m.batch(); ++b) {
      const PivotStatus status = factor(m, b, f.entries_[b]);
      if (worse(status, f.status_)) f.status_ = status;
    }
    return f;
  }

 private:
  /// The first breakdown counts, and one that ends the work more than one that does not.
  static bool worse(const PivotStatus& next, const PivotStatus& known) {
    return (known.ok() && !next.ok()) || (known.usable() && !next.usable());
  }

  using View2 = View<const T, 2>;

  static PivotStatus factor(const Blocks& m, index_t batch, Entry& entry) {
    const index_t blocks = m.partition.blocks();
    const index_t bad = first_bad_block(m, batch);
    if (bad < blocks) return {PivotStatus::Kind::not_finite, batch, m.partition.begin(bad), NAN};
    auto lower = recurrence::block_list(m.partition, m.lower, batch);
    auto upper = recurrence::block_list(m.partition, m.upper_transposed, batch);
    recurrence::make_rows_isometric(lower);
    // The rows of the upper triangle are the columns of its transpose.
    upper = recurrence::reversed(std::move(upper));
    recurrence::make_rows_isometric(upper);
    upper = recurrence::reversed(std::move(upper));

    PivotStatus status;
    Array<T, 2> pending({0, 0});  // of [w, v], (w, w + v)
    entry.steps.resize(blocks);
    for (index_t k = 0; k < blocks; ++k) {
      Step& step = entry.steps[k];
      const View2 d = m.diagonal.block(batch, k);
      const index_t w = lower.a[k].extent(1), w_next = lower.a[k].extent(0),
                    v = upper.a[k].extent(1), v_next = upper.a[k].extent(0), size = d.extent(0),
                    rows = w + w_next + size, gone = w + size;
      step.entering = w;
      step.v_of_x = to_array(upper.p[k].view().transposed());
      step.v_of_v = to_array(upper.a[k].view().transposed());

      // Columns w_k, x_k, w_{k+1}, v_{k+1}; rows: pending, dynamics, outputs.
      Array<T, 2> system({rows, gone + w_next + v_next});
      const auto place = [&](index_t row, index_t column, const View2& from, T factor = T{1}) {
        for (index_t i = 0; i < from.extent(0); ++i) {
          for (index_t j = 0; j < from.extent(1); ++j) {
            system(row + i, column + j) = factor * from(i, j);
          }
        }
      };
      const View2 pending_v = std::as_const(pending).view().slice(1, w, w + v);
      place(0, 0, std::as_const(pending).view().slice(1, 0, w));
      place(0, w, dense::product<T>(Op::none, pending_v, Op::none, step.v_of_x).view());
      place(0, gone + w_next, dense::product<T>(Op::none, pending_v, Op::none, step.v_of_v).view());
      place(w, 0, lower.a[k].view(), T{-1});
      place(w, w, lower.q[k].view().transposed(), T{-1});
      for (index_t l = 0; l < w_next; ++l) system(w + l, gone + l) = T{1};
      place(w + w_next, 0, lower.p[k].view());
      place(w + w_next, w, d);
      place(w + w_next, gone + w_next, upper.q[k].view());

      const PivotStatus bad_pivot = eliminate(step, system, gone, entry.log_determinant);
      if (worse(bad_pivot, status)) {
        status = bad_pivot;
        status.batch = batch;
        status.index += m.partition.begin(k);
        if (status.kind == PivotStatus::Kind::not_finite) return status;
      }
      // w_{k+1} was put behind x_k although its equation stands in front of that of b_k.
      if (size % 2 == 1 && w_next % 2 == 1) {
        entry.log_determinant.sign = -entry.log_determinant.sign;
      }
      const Array<T, 2> rest =
          dense::product<T>(Op::none, std::as_const(step.unitary).view(), Op::none,
                            std::as_const(system).view().slice(1, gone, system.extent(1)));
      step.kept = to_array(rest.view().slice(0, 0, gone));
      pending = to_array(rest.view().slice(0, gone, rows));
    }
    return status;
  }

  /// QR of the first `gone` columns: unitary, triangle, and what the pivots do to the determinant.
  static PivotStatus eliminate(Step& step, const Array<T, 2>& system, index_t gone,
                               LogDeterminant<T>& determinant) {
    const index_t rows = system.extent(0);
    Array<T, 2> columns({rows, rows});  // column-major: the columns to eliminate, then room for Q
    copy(system.view().slice(1, 0, gone).transposed(), columns.view().slice(0, 0, gone));
    Array<T, 1> tau({gone});
    dense::qr_factor<T>(columns.view().slice(0, 0, gone).transposed(), tau.view());
    step.triangle = Array<T, 2>({gone, gone});
    PivotStatus status;
    for (index_t j = 0; j < gone; ++j) {
      double square = 0;
      for (index_t i = 0; i <= j; ++i) {
        step.triangle(i, j) = columns(j, i);
        square += std::norm(std::complex<double>(columns(j, i)));
      }
      const T pivot = columns(j, j);
      const double size = std::abs(pivot), norm = std::sqrt(square);
      const index_t index = std::max<index_t>(j - step.entering, 0);
      if (!std::isfinite(norm)) {
        status = {PivotStatus::Kind::not_finite, 0, index, size};
      } else if (status.usable() && size == 0) {
        status = {PivotStatus::Kind::zero, 0, index, size};
      } else if (status.ok() && size <= 4 * double(rows) * double(epsilon<T>) * norm) {
        status = {PivotStatus::Kind::near_singular, 0, index, size};
      }
      // det(I - tau v v^H) is -1 for real tau that are not 0, and -tau / conj(tau) in general.
      if (tau(j) != T{}) determinant.sign *= -tau(j) / conjugate(tau(j));
      determinant.sign *= size > 0 ? pivot / static_cast<real_t<T>>(size) : T{};
      determinant.log_abs += std::log(size);
    }
    dense::form_q<T>(columns.view().transposed(), std::as_const(tau).view());
    step.unitary = std::move(columns);  // Q in column-major order is Q^T in row-major order
    if constexpr (is_complex_v<T>) {
      for (T& q : step.unitary) q = conjugate(q);
    }
    return status;
  }
};

template <Scalar T>
Qr<T> factor_qr(const Quasiseparable<T, transition::Block>& m) {
  return QrBuilder<T>::build(m);
}

template <Scalar T>
LogDeterminant<T> log_determinant(const Qr<T>& f, index_t batch) {
  constexpr auto operation = "quasiseparable::log_determinant";
  if (batch < 0 || batch >= f.batch()) {
    throw ShapeError(std::string(operation) + ": batch entry " + std::to_string(batch) +
                     ", the factors have " + std::to_string(f.batch()));
  }
  if (f.status().kind == PivotStatus::Kind::not_finite) {
    throw DomainError(std::string(operation) + ": " + describe(f.status()));
  }
  return f.entry(batch).log_determinant;
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template STRUCTMAT_EXPORT Qr<T> factor_qr<T>(const Quasiseparable<T, transition::Block>&); \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T>(const Qr<T>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
