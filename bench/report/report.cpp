// The tables of the performance page: structured operations beside their dense peers, in one run.

#include <unistd.h>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <thread>

// lapack.h in terms of std::complex instead of C's _Complex.
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapack.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "structmat/io/npy.hpp"

#include "report/measure.hpp"
#include "report/problems.hpp"
#include "report/table.hpp"

using namespace structmat;
using namespace structmat::bench;
using nlohmann::json;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr index_t mebibyte = 1 << 20;
constexpr exec::cpu one_thread{1};

/// One line of the main table. Numbers that do not apply are NaN and print as a dash.
struct Row {
  std::string work;
  double ours = none;  ///< ms
  std::string peer = "-";
  double peer_time = none;  ///< ms
  double bytes = none;      ///< that must move
  double flops = none;
  double copy_rate = none;  ///< bytes per second of copying, on as many threads
  double error = none;
  int threads = 1;

  double ratio() const { return peer_time / ours; }
  double floor() const { return bytes / copy_rate * 1e3; }
};

std::string cell(const char* format, double value) {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

void print(const std::vector<Row>& rows) {
  Table table({"work", "ours ms", "peer", "peer ms", "ratio", "floor ms", "% of floor", "GFlop/s",
               "error", "threads"});
  for (const Row& r : rows) {
    table.add({r.work, cell("{:.3f}", r.ours), r.peer, cell("{:.3f}", r.peer_time),
               cell("{:.2f}", r.ratio()), cell("{:.3f}", r.floor()),
               cell("{:.0f}", 100 * r.floor() / r.ours), cell("{:.1f}", r.flops / r.ours * 1e-6),
               cell("{:.1e}", r.error), std::to_string(r.threads)});
  }
  table.print();
}

json to_json(const Row& r) {
  return {{"work", r.work},        {"ours_ms", r.ours},
          {"peer", r.peer},        {"peer_ms", r.peer_time},
          {"ratio", r.ratio()},    {"bytes", r.bytes},
          {"flops", r.flops},      {"copy_rate", r.copy_rate},
          {"floor_ms", r.floor()}, {"of_floor", r.floor() / r.ours},
          {"error", r.error},      {"threads", r.threads}};
}

/// max |y - reference| / max |reference|
double error(const Array<double, 2>& y, const Array<double, 2>& reference) {
  double difference = 0, size = 0;
  for (index_t i = 0; i < y.extent(0); ++i) {
    for (index_t c = 0; c < y.extent(1); ++c) {
      difference = std::max(difference, std::abs(y(i, c) - reference(i, c)));
      size = std::max(size, std::abs(reference(i, c)));
    }
  }
  return difference / size;
}

/// M x by the recurrences in long double; one right-hand side.
Array<double, 2> reference_product(const Quasiseparable<double>& m, const Array<double, 2>& x) {
  const index_t n = m.size(), r = m.order().lower;
  std::vector<long double> y(n), s(r);
  const auto sweep = [&](const auto& out, const auto& in, const auto& transition, bool down) {
    std::fill(s.begin(), s.end(), 0);
    for (index_t step = 0; step < n; ++step) {
      const index_t i = down ? step : n - 1 - step;
      for (index_t l = 0; l < r; ++l) {
        y[i] += out(0, i, l) * s[l];
        s[l] = transition(0, i, l) * s[l] + static_cast<long double>(in(0, i, l)) * x(i, 0);
      }
    }
  };
  for (index_t i = 0; i < n; ++i) y[i] = static_cast<long double>(m.d(0, i)) * x(i, 0);
  sweep(m.p, m.q, m.a, true);
  sweep(m.g, m.h, m.b, false);
  Array<double, 2> result({n, 1});
  for (index_t i = 0; i < n; ++i) result(i, 0) = static_cast<double>(y[i]);
  return result;
}

class Report {
 public:
  explicit Report(int repetitions) : repetitions_(repetitions) { header(); }

  void apply_part();
  void crossover_part();
  void verify_part();
  void from_dense_part();
  void threads_part();

  const json& result() const { return result_; }

 private:
  void header();
  void finish(const char* part, const std::vector<Row>& rows) {
    print(rows);
    for (const Row& r : rows) {
      json j = to_json(r);
      j["part"] = part;
      result_["rows"].push_back(j);
    }
  }
  /// "from cache" or "from memory" for work that goes over `bytes` again and again.
  const char* home(double bytes) const {
    return bytes < cache_ ? "fits last-level cache" : "memory";
  }

  int repetitions_;
  double cache_ = 0;
  double copy_rate_ = 0;
  json result_;
};

void Report::header() {
  std::string cpu = "unknown";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) {
      cpu = line.substr(line.find(':') + 2);
      break;
    }
  }
  cache_ = static_cast<double>(std::max<long>(0, sysconf(_SC_LEVEL3_CACHE_SIZE)));
  {
    Copy copy(768 * mebibyte);
    copy_rate_ = copy.bytes_per_second(medians(repetitions_, {copy.work()})[0]);
  }
  fmt::print("structmat {} ({}), {} build, SIMD path {}\n", version(), git_commit(), build_type(),
             simd_path());
  fmt::print("CPU {}, last-level cache {:.0f} MiB\n", cpu, cache_ / mebibyte);
  fmt::print("BLAS {} {}, {} thread(s)\n", blas_vendor(), dense::blas_core(),
             dense::blas_threads());
  fmt::print("copy bandwidth, 1 thread, 1.5 GiB, bytes read plus bytes written: {:.1f} GB/s\n",
             copy_rate_ * 1e-9);
  const double read_rate = read_bandwidth();
  fmt::print("read bandwidth, 1 thread, 1 GiB, bytes read: {:.1f} GB/s\n", read_rate * 1e-9);
  fmt::print("medians of {} repetitions; each repetition runs ours and the peers in turn\n\n",
             repetitions_);
  result_["header"] = {{"version", version()},
                       {"commit", git_commit()},
                       {"build", build_type()},
                       {"simd", simd_path()},
                       {"cpu", cpu},
                       {"last_level_cache_bytes", cache_},
                       {"blas", blas_vendor()},
                       {"blas_core", dense::blas_core()},
                       {"blas_threads", dense::blas_threads()},
                       {"copy_bytes_per_second", copy_rate_},
                       {"repetitions", repetitions_}};
  result_["rows"] = json::array();
}

/// Work that uses the next of several equal matrices at each call.
template <class M>
Work in_turn(const std::vector<M>& matrices, const Array<double, 2>& x, Array<double, 2>& y,
             exec::cpu e) {
  return [&matrices, &x, &y, e, next = std::size_t{0}]() mutable {
    apply(e, matrices[next], x, y);
    next = (next + 1) % matrices.size();
  };
}

/// Enough copies of m that one round of them is larger than twice the last-level cache.
std::vector<Quasiseparable<double>> copies(const Quasiseparable<double>& m, double cache) {
  const double bytes = 8.0 * static_cast<double>(m.stored());
  const double total = std::max(2 * cache, 1024.0 * mebibyte);
  return std::vector<Quasiseparable<double>>(static_cast<std::size_t>(std::ceil(total / bytes)), m);
}

void Report::apply_part() {
  std::vector<Row> rows;
  {
    constexpr index_t n = 524288, r = 8;
    const Quasiseparable<double> m = quasiseparable_of(celerite(n, r));
    const auto all = copies(m, cache_);
    const auto symmetric = shared_triangles(m);
    const Array<double, 2> x = random_block(n, 1, 2);
    Array<double, 2> y({n, 1}), y_shared({n, 1});
    const double bytes = apply_bytes(m.stored(), n, 1);
    const double shared_bytes = bytes - 8.0 * 3 * n * r;
    const double cold = medians(repetitions_, {in_turn(all, x, y, one_thread)})[0];
    const auto warm = medians(repetitions_, {[&] { apply(one_thread, m, x, y); },
                                             [&] { apply(one_thread, symmetric, x, y_shared); }});
    const Array<double, 2> reference = reference_product(m, x);
    const std::string work = "QS apply, diagonal, order 8, n 524288, 1 rhs";
    const auto row = [&](std::string what, double ms, double moved,
                         const Array<double, 2>& result) {
      return Row{.work = work + std::move(what),
                 .ours = ms,
                 .bytes = moved,
                 .flops = apply_flops(n, r, 1),
                 .copy_rate = copy_rate_,
                 .error = error(result, reference)};
    };
    rows.push_back(row(fmt::format(", {} matrices in turn (memory)", all.size()), cold, bytes, y));
    rows.push_back(row(fmt::format(", one matrix ({})", home(bytes)), warm[0], bytes, y));
    rows.push_back(row(fmt::format(", symmetric, generators shared ({})", home(shared_bytes)),
                       warm[1], shared_bytes, y_shared));
  }
  for (const index_t k : {1, 64}) {
    constexpr index_t n = 4096, r = 16;
    const auto m = random_quasiseparable(n, r, 3);
    const Dense<double> dense(random_dense(n, r, 3));
    const Array<double, 2> x = random_block(n, k, 4);
    Array<double, 2> y({n, k}), z({n, k});
    const auto ms = medians(repetitions_,
                            {[&] { apply(one_thread, m, x, y); }, [&] { dense.apply(x, z); }}, 20);
    const double bytes = apply_bytes(m.stored(), n, k);
    rows.push_back({.work = fmt::format("QS apply, diagonal, order {}, n {}, {} rhs ({})", r, n, k,
                                        home(bytes)),
                    .ours = ms[0],
                    .peer = k == 1 ? "dense gemv" : "dense gemm",
                    .peer_time = ms[1],
                    .bytes = bytes,
                    .flops = apply_flops(n, r, k),
                    .copy_rate = copy_rate_,
                    .error = error(y, z)});
  }
  finish("apply", rows);
}

void Report::crossover_part() {
  constexpr index_t sizes[] = {8,   12,  16,  24,  32,  48,  64,  80,  96,   112,  128,
                               160, 192, 224, 256, 320, 384, 512, 768, 1024, 1536, 2048};
  fmt::print(
      "Smallest n from which the structured product stays faster than the dense one, up to n "
      "2048 (diagonal transitions, 1 thread):\n\n");
  Table table({"order", "1 rhs", "16 rhs"});
  for (const index_t r : {1, 2, 4, 8, 16, 32}) {
    std::vector<std::string> line{std::to_string(r)};
    for (const index_t k : {1, 16}) {
      index_t crossover = 0;
      json curve = json::array();
      for (const index_t n : sizes) {
        const auto m = random_quasiseparable(n, r, 5);
        const Dense<double> dense(random_block(n, n, 6));
        const Array<double, 2> x = random_block(n, k, 7);
        Array<double, 2> y({n, k}), z({n, k});
        const auto ms = medians(
            repetitions_, {[&] { apply(one_thread, m, x, y); }, [&] { dense.apply(x, z); }}, 0.5);
        if (ms[0] >= ms[1])
          crossover = 0;
        else if (crossover == 0)
          crossover = n;
        curve.push_back({{"n", n}, {"ours_ms", ms[0]}, {"dense_ms", ms[1]}});
      }
      line.push_back(crossover == 0 ? "> 2048" : std::to_string(crossover));
      result_["crossover"].push_back(
          {{"order", r}, {"rhs", k}, {"n", crossover}, {"curve", curve}});
    }
    table.add(line);
  }
  table.print();
}

/// Numerical rank of a square block by column-pivoted QR, overwriting it.
index_t rank_by_pivoted_qr(View<double, 2> a) {
  const auto n = static_cast<lapack_int>(a.extent(0));
  lapack_int info = 0, ask = -1;
  std::vector<lapack_int> pivots(n, 0);
  std::vector<double> tau(n);
  double best = 0;
  LAPACK_dgeqp3(&n, &n, a.data(), &n, pivots.data(), tau.data(), &best, &ask, &info);
  std::vector<double> work(static_cast<std::size_t>(best));
  const auto length = static_cast<lapack_int>(work.size());
  LAPACK_dgeqp3(&n, &n, a.data(), &n, pivots.data(), tau.data(), work.data(), &length, &info);
  if (info != 0) throw BackendError("rank_by_pivoted_qr", "LAPACK geqp3", info);
  index_t rank = 0;
  while (rank < n && std::abs(a(rank, rank)) > n * epsilon<double> * std::abs(a(0, 0))) ++rank;
  return rank;
}

/// A block as a column-major array of its own.
Array<double, 2> copy_of_block(const Array<double, 2>& m, index_t k) {
  const index_t n = m.extent(0);
  return to_array(m.view().slice(0, k, n).slice(1, 0, k).transposed());
}

/// Milliseconds for the singular values of M(k:n, 0:k).
double time_of_singular_values(const Array<double, 2>& m, index_t k) {
  Array<double, 2> block = copy_of_block(m, k);
  Array<double, 1> values({std::min(block.extent(0), block.extent(1))});
  return milliseconds(
      [&] { dense::singular_values<double>(block.view().transposed(), values.view()); });
}

/// Least-squares fit of log time = constant + u log n + v log order.
std::array<double, 2> fitted_exponents(const std::vector<std::array<double, 3>>& points) {
  // Centred, so that the constant drops out of the normal equations.
  std::array<double, 3> mean{};
  for (const auto& p : points) {
    for (int i = 0; i < 3; ++i) mean[i] += std::log(p[i]) / static_cast<double>(points.size());
  }
  double aa = 0, ab = 0, bb = 0, at = 0, bt = 0;
  for (const auto& p : points) {
    const double a = std::log(p[0]) - mean[0], b = std::log(p[1]) - mean[1],
                 t = std::log(p[2]) - mean[2];
    aa += a * a;
    ab += a * b;
    bb += b * b;
    at += a * t;
    bt += b * t;
  }
  const double determinant = aa * bb - ab * ab;
  return {(at * bb - bt * ab) / determinant, (bt * aa - at * ab) / determinant};
}

void Report::verify_part() {
  std::vector<Row> rows;
  {
    constexpr index_t n = 4000, r = 32;
    const Array<double, 2> m = random_dense(n, r, 8);
    verify::Report found;
    Array<double, 2> block;
    index_t rank = 0;
    // Copying the block that pivoted QR overwrites takes 1 % of its time.
    const auto ms =
        medians(std::min(repetitions_, 5), {[&] { found = verify::quasiseparable(m); },
                                            [&] {
                                              block = copy_of_block(m, n / 2);
                                              rank = rank_by_pivoted_qr(block.view().transposed());
                                            }});
    // The cost of M(k:n, 0:k) is symmetric in k and 0 at the ends: Simpson's rule on 0, n/4, n/2.
    const double half = time_of_singular_values(m, n / 2),
                 quarter = time_of_singular_values(m, n / 4);
    const double every = 2.0 * (n - 1) * (4 * quarter + half) / 3;
    const std::string work =
        fmt::format("verify::quasiseparable, n {}, order {}, all {} blocks", n, r, 2 * (n - 1));
    const auto row = [&](std::string peer, double time) {
      return Row{.work = work,
                 .ours = ms[0],
                 .peer = std::move(peer),
                 .peer_time = time,
                 .error = found.largest_dropped};
    };
    rows.push_back(row("geqp3 of the largest block alone", ms[1]));
    rows.push_back(row("singular values of the largest block alone", half));
    rows.push_back(row("singular values of all blocks, extrapolated from two", every));
    fmt::print(
        "verify found order ({}, {}), pivoted QR rank {} of the largest block; error is the "
        "largest dropped singular value over ||M||_F\n\n",
        found.order.lower, found.order.upper, rank);
    finish("verify", rows);
  }

  fmt::print("Cost of verify::quasiseparable, both triangles (ms; in brackets ns / (n^2 N)):\n\n");
  Table table({"n", "order 8", "order 32", "order 64"});
  std::vector<std::array<double, 3>> points;
  for (const index_t n : {1000, 2000, 4000, 8000}) {
    std::vector<std::string> line{std::to_string(n)};
    for (const index_t r : {8, 32, 64}) {
      const Array<double, 2> m = random_dense(n, r, 9);
      verify::Report found;
      const double ms =
          medians(n <= 2000 ? repetitions_ : 1, {[&] { found = verify::quasiseparable(m); }})[0];
      const double unit = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(r);
      points.push_back({static_cast<double>(n), static_cast<double>(r), ms});
      line.push_back(fmt::format("{:.0f} ({:.2f}){}", ms, ms * 1e6 / unit,
                                 found.order == Order{r, r} ? "" : " wrong order"));
      result_["verify_growth"].push_back({{"n", n}, {"order", r}, {"ms", ms}});
    }
    table.add(line);
  }
  table.print();
  const auto [of_n, of_order] = fitted_exponents(points);
  fmt::print("fitted: time ~ n^{:.2f} N^{:.2f}\n\n", of_n, of_order);
  result_["verify_exponents"] = {{"n", of_n}, {"order", of_order}};
}

void Report::from_dense_part() {
  constexpr index_t n = 4000, r = 32;
  const Array<double, 2> full = random_dense(n, r, 10);
  Array<double, 2> triangle = full;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = i + 1; j < n; ++j) triangle(i, j) = 0;
  }
  quasiseparable::FromDense<double> from_full, from_triangle;
  const auto ms =
      medians(repetitions_, {[&] { from_full = quasiseparable::from_dense(full); },
                             [&] { from_triangle = quasiseparable::from_dense(triangle); }});
  const Array<double, 2> x = random_block(n, 1, 11);
  const auto row = [&](const char* what, double time, const Array<double, 2>& m,
                       const quasiseparable::FromDense<double>& q) {
    Array<double, 2> y({n, 1}), z({n, 1});
    q.matrix.apply(x, y);
    dense::gemm<double>(Op::none, Op::none, 1, m, x, 0, z);
    return Row{.work = fmt::format("from_dense, n {}, order {}, {}", n, r, what),
               .ours = time,
               .bytes = 8.0 * n * n,
               .copy_rate = copy_rate_,
               .error = error(y, z)};
  };
  finish("from_dense", {row("both triangles", ms[0], full, from_full),
                        row("lower triangular matrix", ms[1], triangle, from_triangle)});
  fmt::print("orders found: ({}, {}) and ({}, {})\n\n", from_full.matrix.order().lower,
             from_full.matrix.order().upper, from_triangle.matrix.order().lower,
             from_triangle.matrix.order().upper);
}

void Report::threads_part() {
  constexpr int most = 2;
  double copy_rates[most + 1] = {0, copy_rate_, 0};
  {
    Copy a(384 * mebibyte), b(384 * mebibyte);
    const double ms = medians(repetitions_, {[&] {
                                std::thread other(b.work());
                                a.work()();
                                other.join();
                              }})[0];
    copy_rates[most] = a.bytes_per_second(ms) + b.bytes_per_second(ms);
  }
  std::vector<Row> rows;
  const auto compare = [&](std::string work, const std::vector<Quasiseparable<double>>& all,
                           index_t r, index_t k) {
    const index_t n = all[0].size();
    const Array<double, 2> x = random_block(n, k, 12);
    Array<double, 2> one({n, k}), two({n, k});
    const auto ms =
        medians(repetitions_,
                {in_turn(all, x, one, one_thread), in_turn(all, x, two, exec::cpu{most})}, 20);
    for (const int threads : {1, most}) {
      rows.push_back({.work = work,
                      .ours = ms[threads - 1],
                      .peer = threads == 1 ? "-" : "ours, 1 thread",
                      .peer_time = threads == 1 ? none : ms[0],
                      .bytes = apply_bytes(all[0].stored(), n, k),
                      .flops = apply_flops(n, r, k),
                      .copy_rate = copy_rates[threads],
                      .error = threads == 1 ? none : error(two, one),
                      .threads = threads});
    }
  };
  const auto large = copies(quasiseparable_of(celerite(524288, 8)), cache_);
  compare(fmt::format("QS apply, diagonal, order 8, n 524288, 1 rhs, {} matrices in turn",
                      large.size()),
          large, 8, 1);
  compare("the same, one matrix", {large[0]}, 8, 1);
  for (const index_t k : {1, 64}) {
    compare(fmt::format("QS apply, diagonal, order 16, n 4096, {} rhs", k),
            {random_quasiseparable(4096, 16, 3)}, 16, k);
  }
  fmt::print("copy bandwidth, {} threads: {:.1f} GB/s\n\n", most, copy_rates[most] * 1e-9);
  finish("threads", rows);
}

/// The matrix of the n = 524,288 row, x, and y = M x, for benchmarks of other libraries.
void export_problem(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const Celerite m = celerite(524288, 8);
  const Array<double, 2> x = random_block(524288, 1, 2);
  Array<double, 2> y({524288, 1});
  apply(one_thread, quasiseparable_of(m), x, y);
  for (const auto& [name, a] : {std::pair{"t", &m.t},
                                {"c", &m.c},
                                {"u", &m.u},
                                {"v", &m.v},
                                {"d", &m.d},
                                {"x", &x},
                                {"y", static_cast<const Array<double, 2>*>(&y)}}) {
    io::write_npy(folder / (std::string(name) + ".npy"), a->view());
  }
}

/// The thread count of BLAS is part of the comparison, and only the environment may set it.
bool one_blas_thread() {
  const char* omp = std::getenv("OMP_NUM_THREADS");
  return omp != nullptr && std::string(omp) == "1" && dense::blas_threads() <= 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Structured operations beside their dense peers, one thread against one");
  std::string part = "all", file, folder;
  int repetitions = 7;
  app.add_option("--part", part, "what to run")
      ->check(CLI::IsMember({"all", "apply", "crossover", "verify", "from_dense", "threads"}));
  app.add_option("--repetitions", repetitions, "of each timing")->check(CLI::Range(1, 1000));
  app.add_option("--json", file, "also write the numbers to this file");
  app.add_option("--export", folder,
                 "only write the matrix of the n = 524288 row there, as .npy files for the peers");
  CLI11_PARSE(app, argc, argv);

  try {
    if (!folder.empty()) {
      export_problem(folder);
      return 0;
    }
    if (!one_blas_thread()) {
      std::cerr << "bench_report: set OMP_NUM_THREADS=1 (and no other BLAS thread setting): dense "
                   "and structured products are compared on one thread each, and BLAS reports "
                << dense::blas_threads() << "\n";
      return 2;
    }
    Report report(repetitions);
    const bool all = part == "all";
    if (all || part == "apply") report.apply_part();
    if (all || part == "crossover") report.crossover_part();
    if (all || part == "verify") report.verify_part();
    if (all || part == "from_dense") report.from_dense_part();
    if (all || part == "threads") report.threads_part();
    if (!file.empty()) {
      std::ofstream out(file);
      out << report.result().dump(2) << '\n';
      if (!out) throw std::runtime_error("cannot write " + file);
    }
  } catch (const std::exception& e) {
    std::cerr << "bench_report: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
