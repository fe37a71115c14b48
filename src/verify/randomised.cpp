#include "structmat/verify/randomised.hpp"

#include <memory>

#include "core/instantiate.hpp"
#include "structmat/dense/norm.hpp"
#include "verify/probe_products.hpp"
#include "verify/randomised_judgement.hpp"

namespace structmat::verify {
namespace {

constexpr auto operation = randomised_name;

/// A family whose compressions follow from `c`.
template <Scalar T>
Family<T> family_of(const Compressions<T>& c, index_t order, int threads) {
  Family<T> f;
  f.size = c.size();
  f.probes = c.probes();
  f.order = order;
  f.bounds = [&c, order, threads](double) { return bounds(c, order, threads); };
  f.compression = [&c](index_t k) { return compression(c, k); };
  return f;
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
  std::vector<std::unique_ptr<Compressions<T>>> compressions;
  const auto family = [&](Part part, index_t r, index_t s) {
    const auto of = [s](const Array<T, 2>& g) { return g.view().slice(1, 0, s); };
    const bool is_lower = part == Part::lower;
    compressions.push_back(std::make_unique<Compressions<T>>(of(g1), of(g2)));
    const Compressions<T>& c = *compressions.back();
    Family<T> f = family_of(c, r, options.exec.threads);
    f.part = is_lower != exchanged ? Part::lower : Part::upper;
    f.block = [&panels, n, is_lower](index_t k, Op op, View<const T, 2> x) {
      return is_lower ? multiply_block<T>(panels, {k, n}, {0, k}, op, x)
                      : multiply_block<T>(panels, {0, k}, {k, n}, op, x);
    };
    f.probes_of = [&c, n, is_lower](index_t k) {
      return to_array(c.g1.slice(0, 0, is_lower ? k : n - k));
    };
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
    multiply_probes<T>(panels, scale, *compressions[0], *compressions[1], progress);
    for (const auto& f : families) judge(f, scale, report);
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
  Compressions<T> compressions(g1, g2);
  families.push_back(family_of(compressions, std::min(order, n), options.exec.threads));
  Family<T>& f = families.front();
  f.sides = 2;
  set_levels(families, options, report);
  if (n > 0) {
    products(false, g1, compressions.x1);
    products(true, g2, compressions.x2);
    dense::require_finite("verify::randomised: A G1", View<const T, 2>(compressions.x1.view()));
    dense::require_finite("verify::randomised: A^H G2", View<const T, 2>(compressions.x2.view()));
    report.frobenius_norm = dense::frobenius_norm<T>(compressions.x1.view()) / std::sqrt(double(s));
  }
  if (options.progress) options.progress(0.5);
  const T scale = scale_of<T>(n, report.frobenius_norm);
  if (f.blocks() > 0) {
    for (auto* x : {&compressions.x1, &compressions.x2}) {
      for (T& v : *x) v *= scale;
    }
    const index_t segments = Compressions<T>::segments(n);
    fill_starts(compressions, segments + 1);
    report.drift = dense::frobenius_norm<T>(compressions.start(segments));
    f.probes_of = [&g1](index_t) -> Array<T, 2> { return to_array(g1.view()); };
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
    judge(f, scale, report);
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
