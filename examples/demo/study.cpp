#include "study.hpp"

#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>

#include "structmat/dense/norm.hpp"
#include "structmat/io/rank_picture.hpp"

namespace demo {

namespace {

// Entries from exp() carry relative errors of 1e-16, and what they describe is known to a few
// digits: 1e-12 lies well above the first and far below the second.
constexpr double tolerance = 1e-12;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Median of up to 501 runs in a third of a second, after five to warm up.
template <class F>
double median_seconds(const F& run) {
  for (int i = 0; i < 5; ++i) run();
  std::vector<double> times;
  const auto start = std::chrono::steady_clock::now();
  while (times.size() < 501 && (times.size() < 11 || seconds_since(start) < 0.33)) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    times.push_back(seconds_since(begin));
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// Both on one thread, then both on all; each keeps what is faster for it. On a busy machine,
/// threads that wait for each other can take a hundred times as long as one alone, which says
/// nothing about the methods.
template <class F, class G>
void compare_times(const F& structured, const G& dense, Outcome& out) {
  std::vector<int> choices{1};
#ifdef _OPENMP
  const int all = omp_get_max_threads();
  if (all > 1) choices.push_back(all);
#endif
  for (const int threads : choices) {
#ifdef _OPENMP
    omp_set_num_threads(threads);
#endif
    const double s = median_seconds(structured), d = median_seconds(dense);
    std::printf("  %-15s structured %8.1f µs, dense %8.1f µs on %d thread%s\n",
                threads == 1 ? "matvec time" : "", 1e6 * s, 1e6 * d, threads,
                threads == 1 ? "" : "s");
    if (threads == 1 || s < out.structured_seconds) out.structured_seconds = s;
    if (threads == 1 || d < out.dense_seconds) out.dense_seconds = d;
  }
  std::printf("                  %.3g times as fast as dense, each at its best\n", out.speedup());
}

std::vector<double> random_vector(index_t n) {
  std::mt19937_64 generator(1958);
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (double& value : x) value = normal(generator);
  return x;
}

double norm(const std::vector<double>& x) {
  return structmat::dense::frobenius_norm<double>({x.data(), {1, static_cast<index_t>(x.size())}});
}

/// Shows how far the check is; wiped by the line that follows. Nothing where nobody watches.
void show_progress(double fraction) {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (!terminal) return;
  std::printf("\r  checking ranks  %3.0f %%\r", 100 * fraction);
  std::fflush(stdout);
}

}  // namespace

Outcome study(const Problem& problem, const std::filesystem::path& folder) {
  const Array<double, 2>& m = problem.matrix;
  Outcome out;
  out.name = problem.name;
  out.size = m.extent(0);
  std::printf("\n%s\n", problem.title.c_str());
  std::printf("  size            %lld\n", static_cast<long long>(out.size));

  auto start = std::chrono::steady_clock::now();
  structmat::verify::Options options;
  options.progress = show_progress;
  const structmat::verify::Report report = structmat::verify::quasiseparable(m, options);
  out.order = report.order;
  const bool expected =
      out.order.lower >= problem.least.lower && out.order.upper >= problem.least.upper &&
      out.order.lower <= problem.most.lower && out.order.upper <= problem.most.upper;
  std::printf("  order           lower %lld, upper %lld%s, found in %.2f s\n",
              static_cast<long long>(out.order.lower), static_cast<long long>(out.order.upper),
              expected ? "" : " (NOT AS EXPECTED)", seconds_since(start));
  std::printf("                  %s\n", problem.because.c_str());
  std::printf("  singular values smallest kept %.1e, largest dropped %.1e, relative to |M|_F\n",
              report.smallest_kept, report.largest_dropped);

  start = std::chrono::steady_clock::now();
  const auto compressed = structmat::quasiseparable::from_dense(m, {.tolerance = tolerance});
  out.stored = compressed.matrix.stored();
  const double full = static_cast<double>(out.size) * static_cast<double>(out.size);
  std::printf("  stored          %lld numbers of %.0f (%.2f %%), compressed in %.2f s\n",
              static_cast<long long>(out.stored), full,
              100 * static_cast<double>(out.stored) / full, seconds_since(start));

  const std::vector<double> x = random_vector(out.size);
  std::vector<double> y(x.size()), y_dense(x.size());
  const auto structured = [&] { compressed.matrix.apply(x, y); };
  const auto dense = [&] {
    structmat::dense::gemv<double>(structmat::Op::none, 1, m.view(), x, 0, y_dense);
  };
  structured();
  dense();
  std::vector<double> difference(x.size());
  std::transform(y.begin(), y.end(), y_dense.begin(), difference.begin(), std::minus<>());
  out.error = norm(difference) / (compressed.frobenius_norm * norm(x));
  // Truncation, and the rounding of two sums of n terms.
  const double bound =
      tolerance + 2 * std::sqrt(static_cast<double>(out.size)) * structmat::epsilon<double>;
  std::printf("  matvec error    %.1e, relative to |M|_F |x|; bound %.1e%s\n", out.error, bound,
              out.error <= bound ? "" : " (EXCEEDED)");

  compare_times(structured, dense, out);
  for (const std::string& note : problem.notes) std::printf("  also            %s\n", note.c_str());

  out.pays = 2 * static_cast<double>(out.stored) < full && out.speedup() > 1;
  if (!out.pays) {
    std::printf("  verdict         structure brings nothing here: dense stays the right choice\n");
  }
  const std::filesystem::path picture = folder / (problem.name + ".svg");
  structmat::io::write_rank_picture(picture, m.view(), report, problem.title);
  std::printf("  picture         %s\n", picture.c_str());
  std::fflush(stdout);
  out.ok = problem.ok && expected && out.error <= bound;
  return out;
}

}  // namespace demo
