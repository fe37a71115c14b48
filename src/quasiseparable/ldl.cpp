#include "structmat/quasiseparable/ldl.hpp"

#include <cmath>
#include <vector>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/hermitian_input.hpp"
#include "quasiseparable/ldl_factor.hpp"
#include "quasiseparable/ldl_transfer.hpp"
#include "quasiseparable/log_product.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr const char* operation = "quasiseparable::factor_ldl";

template <Scalar T, transition::Uniform K>
void require_apart(const QuasiseparableView<T, K>& m, const View<T, 3>& w,
                   const View<real_t<T>, 2>& d) {
  const auto refuse = [](const char* output, const char* other, bool overlap) {
    if (overlap) {
      throw DomainError(std::string(operation) + ": " + output + " and " + other +
                        " overlap in memory");
    }
  };
  refuse("w", "p", overlaps(View<const T, 3>(w), m.p));
  refuse("w", "q", overlaps(View<const T, 3>(w), m.q));
  refuse("w", "a", overlaps(View<const T, 3>(w), m.a));
  refuse("w", "the diagonal of the matrix", overlaps(View<const T, 3>(w), m.d));
  refuse("w", "d", overlaps(w, d));
  refuse("d", "p", overlaps(d, m.p));
  refuse("d", "q", overlaps(d, m.q));
  refuse("d", "a", overlaps(d, m.a));
  refuse("d", "the diagonal of the matrix", overlaps(d, m.d));
}

/// All rows of one batch entry, one after the other.
template <Scalar T, transition::Uniform K>
PivotStatus factor_rows_in_turn(Factorisation<T, K> f, index_t begin, index_t end) {
  for (index_t i = begin; i < end; i += chunk_rows) {
    if (!f.rows(i, std::min(i + chunk_rows, end))) break;
  }
  return f.status();
}

/// The two phases of exec::cpu::chunks.
template <Scalar T, transition::Uniform K>
PivotStatus factor_chunks(const QuasiseparableView<T, K>& m, index_t batch,
                          const LdlOptions& options, int chunks, int team, const View<T, 3>& w,
                          const View<real_t<T>, 2>& d) {
  const std::vector<index_t> ends = chunk_ends(m.size(), chunks);
  const auto count = ends.size();
  const Factorisation<T, K> fresh(m, batch, options, w, d);
  std::vector<Factorisation<T, K>> ahead(count - 1, fresh);
  const auto lower = UnitTriangle<const T, K>::lower(m.p.select(0, batch), w.select(0, batch),
                                                     m.a.select(0, batch));
  std::vector<Transfer<T, K>> transfers(
      count - 1, Transfer<T, K>(lower, true, View<const real_t<T>, 1>(d.select(0, batch))));
  parallel_for(team, chunks - 1, [&](index_t task) {
    const auto j = static_cast<std::size_t>(task);
    const index_t begin = j == 0 ? 0 : ends[j - 1];
    for (index_t i = begin; i < ends[j]; i += chunk_rows) {
      const index_t end = std::min(i + chunk_rows, ends[j]);
      if (!ahead[j].rows(i, end)) return;
      if (j > 0) transfers[j].rows(i, end);
    }
  });
  // A principal submatrix that is not definite: neither is the matrix, and the rows in order find
  // its first bad pivot.
  for (const auto& f : ahead) {
    if (!f.status().ok()) return factor_rows_in_turn(fresh, 0, m.size());
  }
  for (std::size_t j = 1; j + 1 < count; ++j) {
    transfers[j].add_to_factor(ahead[j - 1].state().data(), ahead[j].state().data());
  }
  std::vector<PivotStatus> status(count - 1);
  parallel_for(team, chunks - 1, [&](index_t task) {
    const auto j = static_cast<std::size_t>(task);
    // The state behind chunk j is where chunk j + 1 begins.
    status[j] = factor_rows_in_turn(ahead[j], ends[j], ends[j + 1]);
  });
  return first_bad(status);
}

}  // namespace

template <Scalar T, transition::Uniform K, class Space>
LdlView<T, K, Space> checked(LdlView<T, K, Space> f, const char* who, index_t batch) {
  recurrence::Shape shape(who, batch, f.size());
  shape.require("d", f.d, 0);
  shape.require("p", f.p, f.order());
  shape.require("w", f.w, f.order());
  shape.require("a", f.a, f.order());
  const index_t all = shape.batch();
  return {f.p.broadcast(0, all), f.w.broadcast(0, all), f.a.broadcast(0, all),
          f.d.broadcast(0, all)};
}

template <Scalar T, transition::Uniform K>
PivotStatus factor_ldl(const exec::cpu& e, const QuasiseparableView<T, K>& matrix,
                       const LdlOptions& options, View<T, 3> w, View<real_t<T>, 2> d) {
  const auto m = checked_hermitian(matrix, operation);
  const index_t batch = m.batch(), n = m.size(), r = m.order().lower;
  detail::require_extents(operation, w, {batch, n, r});
  detail::require_extents(operation, d, {batch, n});
  require_apart(m, w, d);

  require_chunks(operation, e);
  if (e.chunks > 1 && !options.definite) {
    throw Unsupported(std::string(operation) + ": " + std::to_string(e.chunks) +
                      " chunks, a matrix that may be indefinite takes 1");
  }
  std::vector<PivotStatus> status(static_cast<std::size_t>(batch));
  const int team = team_for(e.threads, batch * n * (r + 1) * (r + 1));
  if (e.chunks > 1) {
    for (index_t b = 0; b < batch && n > 0; ++b) {
      status[static_cast<std::size_t>(b)] = factor_chunks(m, b, options, e.chunks, team, w, d);
    }
    return first_bad(status);
  }
  parallel_for(team, batch, [&](index_t b) {
    status[static_cast<std::size_t>(b)] =
        factor_rows_in_turn(Factorisation<T, K>(m, b, options, w, d), 0, n);
  });
  return first_bad(status);
}

template <Scalar T, transition::Uniform K>
Ldl<T, K> factor_ldl(const exec::cpu& e, const QuasiseparableView<T, K>& matrix,
                     const LdlOptions& options) {
  const auto m = checked_hermitian(matrix, operation);
  Ldl<T, K> f;
  f.w = Array<T, 3>({m.batch(), m.size(), m.order().lower}, uninitialized);
  f.d = Array<real_t<T>, 2>({m.batch(), m.size()}, uninitialized);
  f.status = factor_ldl(e, m, options, f.w.view(), f.d.view());
  f.p = to_array(matrix.p);
  f.a = to_array(matrix.a);
  return f;
}

template <Scalar T, transition::Uniform K>
LogDeterminant<T> log_determinant(const LdlView<T, K>& factor, index_t batch) {
  constexpr const char* who = "quasiseparable::log_determinant";
  const auto f = checked(factor, who);
  if (batch < 0 || batch >= f.batch()) {
    throw ShapeError(std::string(who) + ": batch entry " + std::to_string(batch) +
                     ", the factor has " + std::to_string(f.batch()));
  }
  LogProduct product;
  bool negative = false;
  for (index_t i = 0; i < f.size(); ++i) {
    const auto d = static_cast<double>(f.d(batch, i));
    if (d == 0) return {-std::numeric_limits<double>::infinity(), T{}};
    negative ^= d < 0;
    product.times(std::abs(d));
  }
  return {product.log(), T(negative ? -1 : 1)};
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                      \
  template STRUCTMAT_EXPORT LdlView<T, transition::K> checked(LdlView<T, transition::K>, \
                                                              const char*, index_t);     \
  template STRUCTMAT_EXPORT LdlView<T, transition::K, space::cuda> checked(              \
      LdlView<T, transition::K, space::cuda>, const char*, index_t);                     \
  template STRUCTMAT_EXPORT PivotStatus factor_ldl<T, transition::K>(                    \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, const LdlOptions&,  \
      View<T, 3>, View<real_t<T>, 2>);                                                   \
  template STRUCTMAT_EXPORT Ldl<T, transition::K> factor_ldl<T, transition::K>(          \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, const LdlOptions&); \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T, transition::K>(         \
      const LdlView<T, transition::K>&, index_t);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
