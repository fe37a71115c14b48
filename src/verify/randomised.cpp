#include "structmat/verify/randomised.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/instantiate.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "verify/gaussian.hpp"
#include "verify/probe_products.hpp"

namespace structmat::verify {
namespace {

constexpr auto operation = "verify::randomised";

/// One family of blocks and its compressions.
template <Scalar T>
struct Family {
  Compressions<T> compressions;
  index_t order;
  index_t sides;  ///< blocks at one k: 2 for the sum
  std::optional<Part> part{};
  double epsilon = 0;
  /// op(block at k) x
  std::function<Array<T, 2>(index_t k, Op op, View<const T, 2> x)> block{};
  std::function<index_t(index_t k)> columns{};

  bool can_exceed(index_t k) const { return sides * std::min(k, compressions.size() - k) > order; }
  index_t blocks() const {
    index_t count = 0;
    for (index_t k = 1; k < compressions.size(); ++k) count += can_exceed(k);
    return count;
  }
};

void check_options(const RandomisedOptions& o) {
  const auto refuse = [](const std::string& what) {
    throw DomainError(std::string(operation) + ": " + what);
  };
  if (o.relative != Relative::matrix) {
    throw Unsupported(std::string(operation) +
                      ": relative to the block is not offered, only relative to the matrix");
  }
  if (o.order.lower < 0 || o.order.upper < 0) {
    refuse("the order asked for is (" + std::to_string(o.order.lower) + ", " +
           std::to_string(o.order.upper) + "), it must not be negative");
  }
  if (o.tolerance && !(*o.tolerance >= 0)) {
    refuse("the tolerance is " + std::to_string(*o.tolerance) + ", it must be at least 0");
  }
  if (o.oversampling < 0) {
    refuse("the oversampling is " + std::to_string(o.oversampling) + ", it must be at least 0");
  }
  if (!(o.failure_probability > 0 && o.failure_probability < 1)) {
    refuse("the failure probability is " + std::to_string(o.failure_probability) +
           ", it must lie between 0 and 1");
  }
}

/// 1 / ||A||_F, 0 for A = 0.
template <Scalar T>
T scale_of(index_t n, double norm) {
  using Limits = std::numeric_limits<real_t<T>>;
  if (norm == 0) return T{};
  const double largest = double(Limits::max()) / (16 * std::sqrt(double(n))),
               least = double(Limits::min()) / double(Limits::epsilon());
  if (!(norm >= least && norm <= largest)) {
    throw DomainError(std::string(operation) + ": ||A||_F is " + std::to_string(norm) +
                      ", products with it leave the range of the scalar type");
  }
  return T(real_t<T>(1 / norm));
}

index_t probe_count(index_t order, index_t oversampling) {
  return order + 1 + oversampling;
}

/// A lower bound of sigma_{order+1} of the block at k, relative to ||A||_F.
template <Scalar T>
double lower_bound(const Family<T>& f, index_t k, T scale) {
  using R = real_t<T>;
  const index_t s = f.compressions.probes();
  Array<T, 2> x = to_array(f.compressions.g1.slice(0, 0, f.columns(k)));
  for (T& v : x) v *= scale;
  const Array<T, 2> y = f.block(k, Op::none, x);
  // Y^H = U S V^H, Q = V.
  const index_t m = y.extent(0), rank = std::min(m, s);
  Array<T, 2> adjoint({s, m}, uninitialized), v({m, rank});
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < s; ++j) adjoint(j, i) = conjugate(y(i, j));
  }
  Array<R, 1> values({rank});
  dense::svd_right<T>(adjoint, values, v.view().transposed());
  for (T& e : v) e = conjugate(e) * scale;
  const Array<T, 2> b = f.block(k, Op::adjoint, v);
  Array<R, 1> sigma({std::min(b.extent(0), b.extent(1))});
  dense::singular_values<T>(b, sigma);
  const double found = f.order < sigma.extent(0) ? double(sigma(f.order)) : 0;
  return std::max(0.0, found - double(f.compressions.size()) * double(epsilon<T>));
}

template <Scalar T>
double rounding(const Family<T>& f, double drift) {
  return 4 * double(f.compressions.probes()) * double(epsilon<T>) + drift;
}

/// Sets tolerance and failure probability of the report and epsilon of the families.
template <Scalar T>
void set_levels(std::vector<Family<T>>& families, const RandomisedOptions& options,
                RandomisedReport& report) {
  index_t blocks = 0;
  for (const auto& f : families) blocks += f.blocks();
  report.failure_probability = blocks > 0 ? options.failure_probability : 0;
  const double share = options.failure_probability / double(2 * std::max<index_t>(blocks, 1));
  double least = 0;
  for (auto& f : families) {
    const index_t s = f.compressions.probes();
    f.epsilon = least_singular_value<T>(f.order + 1, s, share);
    const double noise = double(report.size + 10 * s) * double(epsilon<T>);
    least = std::max(least, noise / (f.epsilon * f.epsilon));
  }
  report.tolerance = options.tolerance.value_or(least);
}

/// Compares all M_k with what the tolerance allows; where one exceeds it, looks at its block.
template <Scalar T>
void judge(const Family<T>& f, T scale, int threads, RandomisedReport& report) {
  if (f.blocks() == 0) return;
  const double error = rounding(f, report.drift), gain = f.epsilon * f.epsilon;
  std::vector<double> bound = bounds(f.compressions, f.order, threads);
  const auto detectable = [&](index_t k) { return (bound[k] + error) / gain; };
  std::vector<index_t> by_bound;
  for (index_t k = 1; k < report.size; ++k) {
    if (f.can_exceed(k)) by_bound.push_back(k);
  }
  std::stable_sort(by_bound.begin(), by_bound.end(),
                   [&](index_t a, index_t b) { return bound[a] > bound[b]; });
  Verdict verdict = Verdict::holds;
  double lower = 0;
  index_t worst = by_bound.front();
  for (const index_t k : by_bound) {
    if (detectable(k) <= report.tolerance) break;
    // The bound from QR may exceed the singular value by some factor.
    const Array<T, 2> m = compression(f.compressions, k);
    Array<real_t<T>, 1> sigma({m.extent(0)});
    dense::singular_values<T>(m, sigma);
    bound[k] = std::min(bound[k], double(sigma(f.order)));
    if (detectable(k) <= report.tolerance) continue;
    worst = k;
    lower = lower_bound(f, k, scale);
    verdict = lower > report.tolerance ? Verdict::violated : Verdict::undecided;
    break;
  }
  if (verdict == Verdict::holds) {
    worst = *std::max_element(by_bound.begin(), by_bound.end(),
                              [&](index_t a, index_t b) { return bound[a] < bound[b]; });
  }
  double most = 0;
  for (const index_t k : by_bound) most = std::max(most, detectable(k));

  // A violation decides, whatever the other family has; of equal verdicts the larger block shows.
  const auto weight = [](Verdict v) {
    return v == Verdict::violated ? 2 : v == Verdict::undecided ? 1 : 0;
  };
  const CompressedBlock block{worst, f.part, bound[worst] + error, lower};
  const int change = weight(verdict) - weight(report.verdict);
  if (!report.worst || change > 0 || (change == 0 && most > report.detectable)) {
    report.worst = block;
  }
  if (change > 0) report.verdict = verdict;
  report.detectable = std::max(report.detectable, most);
}

}  // namespace

template <Scalar T>
RandomisedReport randomised(View<const T, 2> a, const RandomisedOptions& options) {
  check_options(options);
  const index_t n = a.extent(0);
  dense::require_square(operation, a);
  dense::require_finite(operation, a);
  RandomisedReport report;
  report.size = n;
  report.asked = options.order;
  report.seed = options.seed;
  report.frobenius_norm = dense::frobenius_norm(a);
  const T scale = scale_of<T>(n, report.frobenius_norm);

  // The transpose of a column-major matrix needs no copy; its parts are exchanged.
  const bool exchanged = !RowPanels<T>::fits(a) && RowPanels<T>::fits(a.transposed());
  const Order order = exchanged ? Order{options.order.upper, options.order.lower} : options.order;
  RowPanels<T> panels(exchanged ? a.transposed() : a);
  // No block of an n x n matrix has a rank above n / 2.
  const index_t lower_order = std::min(order.lower, n / 2),
                upper_order = std::min(order.upper, n / 2);
  const index_t lower_probes = probe_count(lower_order, options.oversampling),
                upper_probes = probe_count(upper_order, options.oversampling);
  report.probes = std::max(lower_probes, upper_probes);

  std::mt19937_64 engine(options.seed);
  const Array<T, 2> g1 = gaussian<T>(n, report.probes, engine),
                    g2 = gaussian<T>(n, report.probes, engine);
  const auto family = [&](Part part, index_t r, index_t s) {
    const auto of = [s](const Array<T, 2>& g) { return g.view().slice(1, 0, s); };
    const bool is_lower = part == Part::lower;
    Family<T> f{Compressions<T>(of(g1), of(g2)), r, 1,
                is_lower != exchanged ? Part::lower : Part::upper};
    f.block = [&panels, n, is_lower](index_t k, Op op, View<const T, 2> x) {
      return is_lower ? multiply_block<T>(panels, {k, n}, {0, k}, op, x)
                      : multiply_block<T>(panels, {0, k}, {k, n}, op, x);
    };
    f.columns = [n, is_lower](index_t k) { return is_lower ? k : n - k; };
    return f;
  };
  std::vector<Family<T>> families;
  families.push_back(family(Part::lower, lower_order, lower_probes));
  families.push_back(family(Part::upper, upper_order, upper_probes));
  set_levels(families, options, report);
  if (families[0].blocks() + families[1].blocks() > 0) {
    const auto progress = [&](double done) {
      if (options.progress) options.progress(0.75 * done);
    };
    multiply_probes<T>(panels, scale, families[0].compressions, families[1].compressions, progress);
    for (const auto& f : families) judge(f, scale, options.exec.threads, report);
  }
  if (options.progress) options.progress(1);
  return report;
}

namespace detail {

template <Scalar T>
RandomisedReport randomised(index_t rows, index_t cols, const Products<T>& products,
                            const RandomisedOptions& options) {
  check_options(options);
  const index_t n = rows;
  if (rows != cols) {
    throw ShapeError(std::string(operation) + ": the operator is " + std::to_string(rows) + " x " +
                     std::to_string(cols) + ", it must be square");
  }
  RandomisedReport report;
  report.claim = OrderClaim::sum;
  report.size = n;
  report.asked = options.order;
  report.seed = options.seed;
  // More than n is never reached, whatever is asked for.
  const index_t order = std::min(options.order.lower, n) + std::min(options.order.upper, n);
  const index_t s = probe_count(std::min(order, n), options.oversampling);
  report.probes = s;

  std::mt19937_64 engine(options.seed);
  const Array<T, 2> g1 = gaussian<T>(n, s, engine), g2 = gaussian<T>(n, s, engine);
  std::vector<Family<T>> families;
  families.push_back({Compressions<T>(g1, g2), std::min(order, n), 2});
  Family<T>& f = families.front();
  set_levels(families, options, report);
  if (n > 0) {
    products(false, g1, f.compressions.x1);
    products(true, g2, f.compressions.x2);
    dense::require_finite("verify::randomised: A G1", View<const T, 2>(f.compressions.x1.view()));
    dense::require_finite("verify::randomised: A^H G2", View<const T, 2>(f.compressions.x2.view()));
    report.frobenius_norm =
        dense::frobenius_norm<T>(f.compressions.x1.view()) / std::sqrt(double(s));
  }
  if (options.progress) options.progress(0.5);
  const T scale = scale_of<T>(n, report.frobenius_norm);
  if (f.blocks() > 0) {
    for (auto* x : {&f.compressions.x1, &f.compressions.x2}) {
      for (T& v : *x) v *= scale;
    }
    const index_t segments = Compressions<T>::segments(n);
    fill_starts(f.compressions, segments + 1);
    report.drift = dense::frobenius_norm<T>(f.compressions.start(segments));
    f.columns = [n](index_t) { return n; };
    // The commutator A P - P A, or its adjoint P A^H - A^H P.
    f.block = [&](index_t k, Op op, View<const T, 2> x) {
      Array<T, 2> masked = to_array(x), first({n, x.extent(1)}), second({n, x.extent(1)});
      std::fill(masked.begin() + k * x.extent(1), masked.end(), T{});
      const Array<T, 2> whole = to_array(x);
      products(op == Op::adjoint, masked, first);
      products(op == Op::adjoint, whole, second);
      std::fill(second.begin() + k * x.extent(1), second.end(), T{});
      const T sign = op == Op::adjoint ? T{-1} : T{1};
      for (index_t i = 0; i < first.size(); ++i) {
        first.data()[i] = sign * (first.data()[i] - second.data()[i]);
      }
      return first;
    };
    judge(f, scale, options.exec.threads, report);
  }
  if (options.progress) options.progress(1);
  return report;
}

}  // namespace detail

#define STRUCTMAT_INSTANTIATE(T)                                                      \
  template STRUCTMAT_EXPORT RandomisedReport randomised<T>(View<const T, 2>,          \
                                                           const RandomisedOptions&); \
  template STRUCTMAT_EXPORT RandomisedReport detail::randomised<T>(                   \
      index_t, index_t, const detail::Products<T>&, const RandomisedOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
