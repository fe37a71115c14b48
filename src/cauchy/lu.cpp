#include "structmat/cauchy/lu.hpp"

#include <algorithm>
#include <cmath>

#include "cauchy/coincidence.hpp"
#include "cauchy/elimination.hpp"
#include "core/instantiate.hpp"
#include "core/scale.hpp"
#include "core/threads.hpp"
#include "quasiseparable/check_solve.hpp"
#include "toeplitz/magnitude.hpp"

namespace structmat::cauchy {
namespace {

template <Scalar T>
using NodeOf = std::conditional_t<is_complex_v<T>, PlaneNode<real_t<T>>, LineNode<real_t<T>>>;

template <Scalar T>
NodeOf<T> node_of(const T& value) {
  if constexpr (is_complex_v<T>) {
    return {value.real(), value.imag()};
  } else {
    return {value};
  }
}

/// The first line whose node or generators are not finite; their number if there is none.
template <Scalar T>
index_t first_bad_line(const View<const T, 1>& nodes, const View<const T, 2>& generators) {
  for (index_t i = 0; i < nodes.extent(0); ++i) {
    if (!toeplitz::is_finite(nodes(i))) return i;
    for (index_t l = 0; l < generators.extent(1); ++l) {
      if (!toeplitz::is_finite(generators(i, l))) return i;
    }
  }
  return nodes.extent(0);
}

/// Nodes and generators of one batch entry.
template <Scalar T>
struct Lines {
  View<const T, 1> s, t;
  View<const T, 2> g, h;  ///< without rows for a Cauchy matrix
};

template <Scalar T>
Side<T, NodeOf<T>> side_of(const View<const T, 1>& nodes, index_t order) {
  Side<T, NodeOf<T>> side(nodes.extent(0), order);
  for (index_t i = 0; i < side.n; ++i) {
    for (index_t l = 0; l < order; ++l) side.set(i, l, T{1});
    side.set_node(i, node_of(nodes(i)));
  }
  return side;
}

/// The problem with generators of size 1; the matrix is 2^exponent times as large.
template <Scalar T>
Problem<T, NodeOf<T>> problem_of(const Lines<T>& m, int& exponent) {
  const bool is_cauchy = m.g.data() == nullptr;
  const index_t order = is_cauchy ? 1 : m.g.extent(1);
  Problem<T, NodeOf<T>> problem{side_of(m.s, order), side_of(m.t, order), is_cauchy};
  exponent = 0;
  if (is_cauchy) return problem;
  std::vector<int> of_g, of_h;
  for (index_t l = 0; l < order; ++l) {
    of_g.push_back(toeplitz::scale_exponent<T>(m.g.select(1, l)));
    of_h.push_back(toeplitz::scale_exponent<T>(m.h.select(1, l)));
    const int both = of_g.back() + of_h.back();
    exponent = l == 0 ? both : std::max(exponent, both);
  }
  for (index_t i = 0; i < m.s.extent(0); ++i) {
    for (index_t l = 0; l < order; ++l) {
      const auto column = std::size_t(l);
      problem.rows.set(i, l, scaled(m.g(i, l), -of_g[column]));
      problem.cols.set(i, l, scaled(m.h(i, l), of_g[column] - exponent));
    }
  }
  return problem;
}

}  // namespace

template <Scalar T>
struct Lu<T>::Entry {
  Elimination<T, NodeOf<T>> factors;
  int exponent;  ///< A is 2^exponent times what is factored
};

template <Scalar T>
struct LuBuilder {
  using Entry = typename Lu<T>::Entry;

  static std::shared_ptr<const Entry> eliminate(const Lines<T>& lines, const LuOptions& options,
                                                PivotStatus& status, double& growth) {
    int exponent = 0;
    Elimination<T, NodeOf<T>> e(problem_of(lines, exponent));
    status = e.status();
    growth = e.growth();
    if (options.storage == Storage::full) e.store();
    return std::make_shared<const Entry>(Entry{std::move(e), exponent});
  }

  template <class V>
  static Lu<T> build(const exec::cpu& e, const V& given, const LuOptions& options) {
    constexpr const char* operation = "cauchy::factor_lu";
    const V m = checked(given, operation);
    if (m.rows() != m.cols()) {
      throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.rows()) +
                       " x " + std::to_string(m.cols()) + ", it must be square");
    }
    Lu<T> f;
    f.size_ = m.rows();
    f.entries_.resize(std::size_t(m.batch()));
    const auto lines_of = [&](index_t b) {
      Lines<T> lines{m.s.select(0, b), m.t.select(0, b), {}, {}};
      if constexpr (requires { m.g; }) {
        lines.g = m.g.select(0, b);
        lines.h = m.h.select(0, b);
      }
      return lines;
    };
    for (index_t b = 0; b < m.batch(); ++b) {
      const auto found = find_coincidence(m.s.select(0, b), m.t.select(0, b));
      if (found) throw_coincidence(operation, found->first, found->second, b);
    }
    std::vector<PivotStatus> status(f.entries_.size());
    std::vector<double> growth(f.entries_.size(), 1);
    const index_t work = f.size_ * f.size_ * m.batch();
    parallel_for(team_for(e.threads, work), m.batch(), [&](index_t b) {
      const auto at = std::size_t(b);
      const Lines<T> lines = lines_of(b);
      const index_t bad =
          std::min(first_bad_line(lines.s, lines.g), first_bad_line(lines.t, lines.h));
      if (bad < f.size_) {
        status[at] = {PivotStatus::Kind::not_finite, b, bad, NAN};
        return;
      }
      f.entries_[at] = eliminate(lines, options, status[at], growth[at]);
    });
    f.status_ = first_status(status);
    for (const double g : growth) f.growth_ = std::max(f.growth_, g);
    return f;
  }

  static void solve(const exec::cpu& e, const Lu<T>& f, Op op, const View<const T, 3>& b,
                    const View<T, 3>& x) {
    const index_t batch = quasiseparable::check_solve("cauchy::solve", f, b, x);
    const index_t n = f.size(), k = x.extent(2);
    if (n == 0 || k == 0) return;
    parallel_for(team_for(e.threads, n * n * batch), batch, [&](index_t i) {
      const Entry& entry = *f.entries_[std::size_t(f.batch() == 1 ? 0 : i)];
      Array<T, 2> columns = to_array(b.select(0, b.extent(0) == 1 ? 0 : i).transposed());
      entry.factors.solve(op, columns.view());
      for (T& v : columns) v = scaled(v, -entry.exponent);
      copy(std::as_const(columns).view().transposed(), x.select(0, i));
    });
  }

  static LogDeterminant<T> log_determinant(const Lu<T>& f, index_t batch) {
    if (batch < 0 || batch >= f.batch()) {
      throw ShapeError("cauchy::log_determinant: batch entry " + std::to_string(batch) + " of " +
                       std::to_string(f.batch()));
    }
    const auto& kept = f.entries_[std::size_t(batch)];
    if (kept == nullptr) {
      throw DomainError("cauchy::log_determinant: nodes or generators of batch entry " +
                        std::to_string(batch) + " are not finite");
    }
    const Entry& entry = *kept;
    LogDeterminant<T> d = entry.factors.log_determinant();
    d.log_abs += double(f.size()) * entry.exponent * std::log(2.0);
    return d;
  }
};

template <Scalar T>
Lu<T> factor_lu(const exec::cpu& e, const CauchyLikeView<T>& m, const LuOptions& options) {
  return LuBuilder<T>::build(e, m, options);
}
template <Scalar T>
Lu<T> factor_lu(const exec::cpu& e, const CauchyView<T>& m, const LuOptions& options) {
  return LuBuilder<T>::build(e, m, options);
}
template <Scalar T>
void solve(const exec::cpu& e, const Lu<T>& f, Op op, View<const T, 3> b, View<T, 3> x) {
  LuBuilder<T>::solve(e, f, op, b, x);
}
template <Scalar T>
LogDeterminant<T> log_determinant(const Lu<T>& f, index_t batch) {
  return LuBuilder<T>::log_determinant(f, batch);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT Lu<T> factor_lu<T>(const exec::cpu&, const CauchyLikeView<T>&,      \
                                               const LuOptions&);                               \
  template STRUCTMAT_EXPORT Lu<T> factor_lu<T>(const exec::cpu&, const CauchyView<T>&,          \
                                               const LuOptions&);                               \
  template STRUCTMAT_EXPORT void solve<T>(const exec::cpu&, const Lu<T>&, Op, View<const T, 3>, \
                                          View<T, 3>);                                          \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T>(const Lu<T>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
