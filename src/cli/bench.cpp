// structmat bench: a structured product beside the dense one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench_operations.hpp"
#include "bench_table.hpp"
#include "command.hpp"
#include "device.hpp"
#include "matrix.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "random_matrix.hpp"
#include "random_structured.hpp"
#include "range.hpp"
#include "structmat/core/version.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/io/atomic_file.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structured.hpp"

namespace structmat::cli {
namespace {

struct BenchOptions {
  std::string family, op = "apply";
  std::string sizes = "256-65536*2", orders = "4,16", rhs = "1,64";
  std::string transition = transition::Diagonal::name, dtype = "float64";
  bool transition_given = false, orders_given = false;
  std::vector<std::string> backends{"cpu"};
  int threads = 0;
  double dense_limit = 1;
  std::string format = "md", output;
};

Op op_of(const std::string& name) {
  return name == "apply" ? Op::none : name == "apply_transpose" ? Op::transpose : Op::adjoint;
}

/// What is timed.
template <Scalar T>
struct Subject {
  index_t n, order, stored;
  std::function<void(const exec::cpu&, Op, View<const T, 2> x, View<T, 2> y)> apply;
  std::function<Array<T, 2>()> expand;
  std::function<DeviceProduct<T>()> on_device;
};

/// The dense product on the same matrix and vectors: time and difference.
template <Scalar T>
void add_dense(const Array<T, 2>& a, Op op, const Array<T, 2>& x, const Array<T, 2>& y,
               BenchRow& row) {
  Array<T, 2> z({row.n, row.rhs});
  const View<const T, 2> entries = a.view(), columns = x.view();
  const Timing timing = measure([&] {
    if (row.rhs == 1) {
      dense::gemv(op, T(1), entries, columns.select(1, 0), T(0), z.view().select(1, 0));
    } else {
      dense::gemm(op, Op::none, T(1), entries, columns, T(0), z.view());
    }
  });
  row.dense_ms = 1e3 * timing.seconds;
  row.dense_fastest_ms = 1e3 * timing.fastest;
  const double norm = dense::frobenius_norm(View<const T, 2>(z));
  for (index_t i = 0; i < z.size(); ++i) z.data()[i] -= y.data()[i];
  const double difference = dense::frobenius_norm(View<const T, 2>(z));
  row.error = norm > 0 ? difference / norm : difference;
}

template <Scalar T>
BenchRow bench_one(const Subject<T>& subject, index_t rhs, const BenchOptions& options,
                   double copy_speed) {
  const Op op = op_of(options.op);
  const exec::cpu cpu{options.threads};
  BenchRow row{.n = subject.n, .order = subject.order, .rhs = rhs};
  Array<T, 2> x({row.n, rhs}), y({row.n, rhs});
  Random random(1);
  random.fill(x);
  const Timing timing = measure([&] { subject.apply(cpu, op, std::as_const(x).view(), y.view()); });
  const double bytes = double(sizeof(T)) * double(subject.stored + x.size() + y.size());
  row.ms = 1e3 * timing.seconds;
  row.fastest_ms = 1e3 * timing.fastest;
  row.repetitions = timing.repetitions;
  row.gb_per_s = 1e-9 * bytes / timing.seconds;
  row.copy_fraction = bytes / timing.seconds / copy_speed;
  const double dense_bytes = double(row.n) * double(row.n) * sizeof(T);
  if (dense_bytes <= 1e9 * options.dense_limit) add_dense(subject.expand(), op, x, y, row);
  return row;
}

template <class M>
Subject<typename M::value_type> subject_of(const M& m, index_t order) {
  using T = typename M::value_type;
  return {m.size(),
          order,
          m.stored(),
          [&m](const exec::cpu& e, Op op, View<const T, 2> x, View<T, 2> y) {
            apply(e, m.view(), op, View<const T, 3>(as_batch(x)), View<T, 3>(as_batch(y)));
          },
          [&m] { return expand(m); },
          [&m] { return cli::on_device(m); }};
}

template <Scalar T>
Subject<T> subject_of(const io::AnyStructured& m, index_t order) {
  return {rows(m),
          order,
          stored(m),
          [&m](const exec::cpu& e, Op op, View<const T, 2> x, View<T, 2> y) {
            apply_structured<T>(e, m, op, x, y);
          },
          [&m] { return std::get<Array<T, 2>>(expand(m)); },
          [&m] { return cli::on_device<T>(m); }};
}

/// Milliseconds of one product on the device: calls that follow each other without waiting.
template <Scalar T>
Timing time_device(DeviceProduct<T>& product, Op op, const Array<T, 2, space::cuda>& x,
                   Array<T, 2, space::cuda>& y) {
  constexpr int calls = 10;
  product.prepare(x.extent(1));
  Timing timing = measure([&] {
    for (int i = 0; i < calls; ++i) {
      product(op, View<const T, 3, space::cuda>(as_batch(x.view())),
              View<T, 3, space::cuda>(as_batch(y.view())));
    }
    device_synchronize();
  });
  timing.seconds /= calls;
  timing.fastest /= calls;
  timing.repetitions *= calls;
  return timing;
}

/// The product on the device, its difference from the one on the CPU, and the dense product there.
template <Scalar T>
BenchRow bench_device(const Subject<T>& subject, index_t rhs, const BenchOptions& options,
                      double copy_speed) {
  const Op op = op_of(options.op);
  BenchRow row{.backend = "cuda", .n = subject.n, .order = subject.order, .rhs = rhs};
  Array<T, 2> x({row.n, rhs}), expected({row.n, rhs});
  Random random(1);
  random.fill(x);
  subject.apply(exec::cpu{options.threads}, op, std::as_const(x).view(), expected.view());

  const auto input = to_device(x);
  Array<T, 2, space::cuda> output({row.n, rhs});
  DeviceProduct<T> product = subject.on_device();
  const Timing timing = time_device(product, op, input, output);
  const double bytes = double(sizeof(T)) * double(subject.stored + 2 * x.size());
  row.ms = 1e3 * timing.seconds;
  row.fastest_ms = 1e3 * timing.fastest;
  row.repetitions = timing.repetitions;
  row.gb_per_s = 1e-9 * bytes / timing.seconds;
  row.copy_fraction = bytes / timing.seconds / copy_speed;
  Array<T, 2> y = to_host(output);
  for (index_t i = 0; i < y.size(); ++i) y.data()[i] -= expected.data()[i];
  const double norm = dense::frobenius_norm(View<const T, 2>(expected));
  const double difference = dense::frobenius_norm(View<const T, 2>(y));
  row.error = norm > 0 ? difference / norm : difference;

  const double dense_bytes = double(row.n) * double(row.n) * sizeof(T);
  if (dense_bytes <= 1e9 * options.dense_limit) {
    DeviceProduct<T> dense = cli::on_device(subject.expand());
    const Timing peer = time_device(dense, op, input, output);
    row.dense_ms = 1e3 * peer.seconds;
    row.dense_fastest_ms = 1e3 * peer.fastest;
  }
  return row;
}

/// Bytes a second that a copy reads and writes, where each backend runs.
struct CopySpeed {
  double cpu = 0, cuda = 0;
};

template <Scalar T>
BenchRow bench_on(const std::string& backend, const Subject<T>& subject, index_t rhs,
                  const BenchOptions& options, const CopySpeed& copy_speed) {
  return backend == "cpu" ? bench_one(subject, rhs, options, copy_speed.cpu)
                          : bench_device(subject, rhs, options, copy_speed.cuda);
}

/// An operation that is no product, with its own dense twin.
BenchRow bench_operation(const std::string& backend, const TimedOperation& operation, BenchRow row,
                         double scalar_bytes, const CopySpeed& copy_speed) {
  const Timing timing = measure(operation.structured);
  const double bytes = scalar_bytes * operation.numbers;
  row.backend = backend;
  row.ms = 1e3 * timing.seconds;
  row.fastest_ms = 1e3 * timing.fastest;
  row.repetitions = timing.repetitions;
  row.gb_per_s = 1e-9 * bytes / timing.seconds;
  row.copy_fraction =
      bytes / timing.seconds / (backend == "cpu" ? copy_speed.cpu : copy_speed.cuda);
  if (operation.dense) {
    const Timing peer = measure(operation.dense);
    row.dense_ms = 1e3 * peer.seconds;
    row.dense_fastest_ms = 1e3 * peer.fastest;
    row.error = operation.error();
  }
  return row;
}

bool is_product(const std::string& op) {
  return op.starts_with("apply");
}

/// What --size, --order and --rhs list.
struct Grid {
  std::vector<index_t> sizes, orders, rhs;
};

Grid parse_grid(const BenchOptions& options) {
  const auto parse = [](const char* option, const std::string& text) {
    try {
      return parse_range(text);
    } catch (const UsageError& e) {
      throw UsageError(std::string(option) + ": " + e.what());
    }
  };
  return {parse("--size", options.sizes), parse("--order", options.orders),
          parse("--rhs", options.rhs)};
}

template <Scalar T, transition::Uniform K>
void bench_type(const BenchOptions& options, const Grid& grid, const CopySpeed& copy_speed,
                Progress& progress, std::vector<BenchRow>& rows) {
  const double all =
      double(grid.sizes.size() * grid.orders.size() * grid.rhs.size() * options.backends.size());
  for (index_t n : grid.sizes) {
    const bool with_dense = double(n) * double(n) * sizeof(T) <= 1e9 * options.dense_limit;
    for (index_t order : grid.orders) {
      if (!is_product(options.op)) {
        for (index_t k : grid.rhs) {
          for (const std::string& backend : options.backends) {
            const TimedOperation operation = quasiseparable_operation<T, K>(
                options.op, n, order, k, backend == "cuda", with_dense);
            rows.push_back(bench_operation(backend, operation, {.n = n, .order = order, .rhs = k},
                                           sizeof(T), copy_speed));
            progress.set(double(rows.size()) / all);
          }
        }
        continue;
      }
      const auto bench_rhs = [&](const auto& m) {
        for (index_t k : grid.rhs) {
          for (const std::string& backend : options.backends) {
            rows.push_back(bench_on(backend, subject_of(m, order), k, options, copy_speed));
            progress.set(double(rows.size()) / all);
          }
        }
      };
      if (options.family == "quasiseparable") {
        bench_rhs(random_quasiseparable<T, K>(n, {order, order}, 0));
      } else {
        bench_rhs(random_semiseparable<T, K>(n, order, 0));
      }
    }
  }
}

template <Scalar T>
void bench_structured(const BenchOptions& options, const Grid& grid, const CopySpeed& copy_speed,
                      Progress& progress, std::vector<BenchRow>& all_rows) {
  const double all =
      double(grid.sizes.size() * grid.orders.size() * grid.rhs.size() * options.backends.size());
  for (const index_t n : grid.sizes) {
    for (const index_t order : grid.orders) {
      const io::AnyStructured m = random_structured<T>(options.family, n, n, order, 0);
      for (const index_t k : grid.rhs) {
        for (const std::string& backend : options.backends) {
          all_rows.push_back(bench_on(backend, subject_of<T>(m, order), k, options, copy_speed));
          progress.set(double(all_rows.size()) / all);
        }
      }
    }
  }
}

bool has_recurrence(const std::string& family) {
  return family == "quasiseparable" || family == "semiseparable";
}

/// Families without an order have the order 0 in the table.
bool has_order(const std::string& family) {
  return has_recurrence(family) || family == "low-rank" || family == "butterfly";
}

/// An option without a meaning for the family is an error.
void require_meaning(const BenchOptions& options) {
  const auto require = [&](bool meant, const char* option) {
    if (!meant) throw UsageError(fmt::format("{} has no meaning for {}", option, options.family));
  };
  require(has_recurrence(options.family) || !options.transition_given, "--transition");
  require(has_order(options.family) || !options.orders_given, "--order");
  require(options.family == "quasiseparable" || is_product(options.op),
          ("--op " + options.op).c_str());
}

/// "load 0.1 on 8 processors": what else runs, before this command adds its own.
std::string load() {
  double average = 0;
  const unsigned processors = std::thread::hardware_concurrency();
  return getloadavg(&average, 1) == 1
             ? fmt::format("load {:.1f} on {} processors", average, processors)
             : fmt::format("{} processors", processors);
}

std::string machine() {
  const std::string core = dense::blas_core();
  return fmt::format("structmat {} ({}), {} {}{}, {} BLAS threads, {} OpenMP threads, {}, {}",
                     version(), git_commit(), build_type(), blas_vendor(),
                     core.empty() ? "" : " " + core, dense::blas_threads(), openmp_threads(),
                     simd_path(), load());
}

Status bench(const BenchOptions& options) {
  require_meaning(options);
  const bool on_device = std::count(options.backends.begin(), options.backends.end(), "cuda") > 0;
  if (on_device) require_device();
  Grid grid = parse_grid(options);
  if (!has_order(options.family)) grid.orders = {0};
#ifdef _OPENMP
  // The dense product must run on as many threads.
  if (options.threads > 0) omp_set_num_threads(options.threads);
#endif
  BenchTable table{.family = options.family,
                   .op = options.op,
                   .transition = has_recurrence(options.family) ? options.transition : "",
                   .dtype = options.dtype,
                   .machine = machine(),
                   .dense_limit_gb = options.dense_limit};
  {
    Progress progress("structmat bench");
    const CopySpeed copy_speed{copy_bandwidth(std::max(1, openmp_threads())),
                               on_device ? device_copy_bandwidth() : 0};
    table.copy_gb_per_s = 1e-9 * copy_speed.cpu;
    if (on_device) table.device_copy_gb_per_s = 1e-9 * copy_speed.cuda;
    with_dtype(options.dtype, [&]<Scalar T>(T) {
      if (!has_recurrence(options.family)) {
        return bench_structured<T>(options, grid, copy_speed, progress, table.rows);
      }
      with_transition(options.transition, [&]<class K>(K) {
        bench_type<T, K>(options, grid, copy_speed, progress, table.rows);
      });
    });
  }
  const std::string text = format_table(table, options.format);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    io::AtomicFile file(options.output, "bench");
    file.write(text);
    file.commit();
  }
  return done;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Time a structured product beside the dense one");
  const auto options = std::make_shared<BenchOptions>();
  std::vector<std::string> families = structured_families;
  families.insert(families.begin(), {"quasiseparable", "semiseparable"});
  command->add_option("family", options->family, fmt::format("{}", fmt::join(families, ", ")))
      ->required()
      ->check(CLI::IsMember(families))
      ->type_name("FAMILY");
  std::vector<std::string> operations = quasiseparable_operations;
  operations.insert(operations.begin(), {"apply", "apply_transpose", "apply_adjoint"});
  command
      ->add_option("--op", options->op,
                   "What is timed: a product or, of quasiseparable matrices, one of the others")
      ->check(CLI::IsMember(operations))
      ->capture_default_str();
  const auto range = [&](const char* name, std::string& value, const char* text) {
    return command->add_option(name, value, text)->capture_default_str()->type_name("RANGE");
  };
  range("-n,--size", options->sizes, "Rows and columns");
  const CLI::Option* orders =
      range("-r,--order", options->orders, "Order, lower and upper; butterfly: stages");
  range("--rhs", options->rhs, "Columns of x");
  const CLI::Option* transition = add_transition(*command, options->transition);
  add_dtype(*command, options->dtype);
  command->add_option("--backend", options->backends, "cpu, cuda, or both with a comma")
      ->delimiter(',')
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  add_threads(*command, options->threads);
  command
      ->add_option("--dense-limit", options->dense_limit,
                   "Largest dense matrix to compare with, in GB")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--format", options->format, "Form of the table")
      ->check(CLI::IsMember({"md", "json", "csv"}))
      ->capture_default_str();
  add_output(*command, options->output, "File for the table [standard output]");
  command->footer(
      "RANGE: 4,16 or 256-65536*2 (factor) or 100-500+100 (step).\n"
      "ms: median of at least 5 runs; ! marks rows whose median is more than twice the fastest "
      "run. ratio: dense ms / ms. GB/s: generators, x and y once each "
      "over\n"
      "the time; of copy: that over the speed of a copy of 128 MB on as many threads. error: "
      "relative\n"
      "difference of the two products in the Frobenius norm. backend cuda: calls in a row without\n"
      "waiting; the copy and the dense product (cuBLAS) of the device; difference from the CPU.\n\n"
      "--op solve: factors and solution of a Hermitian positive definite matrix (backend cuda:\n"
      "with its way there and back); cholesky: the factors; multiply: M M; inverse: by QR;\n"
      "compress: to the least order; vjp: the reverse mode of y = M x.\n\n"
      "Example:\n  structmat bench quasiseparable --size 1024-8192*2 --order 4 --rhs 1");
  command->callback([&action, options, orders, transition] {
    options->orders_given = orders->count() > 0;
    options->transition_given = transition->count() > 0;
    action = [options] { return bench(*options); };
  });
}

}  // namespace structmat::cli
