// structmat gen: matrices of a family, random or of a Gaussian process.
#include <fmt/format.h>

#include <memory>

#include "gen.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "random_matrix.hpp"
#include "structmat/io/csv.hpp"
#include "structmat/quasiseparable/from_kernel.hpp"

namespace structmat::cli {
namespace {

struct RandomOptions {
  index_t size = 0;
  index_t order = 1;
  std::optional<index_t> upper_order{};
  std::string transition = transition::Diagonal::name;
  std::uint64_t seed = 0;
  std::string dtype = "float64";
  std::string output;
};

struct KernelOptions {
  std::string times, column, kernel, output;
  double noise = 0;
};

/// Writes what gen made and says so.
template <class M>
Status finish(const std::string& output, const M& matrix) {
  write_matrix(output, matrix);
  fmt::print("{}: {}{}\n", output, describe(io::AnyGenerators(matrix)),
             container_of(output) == Container::generators ? "" : ", in dense form");
  return done;
}

Status gen_quasiseparable(const RandomOptions& options) {
  container_of(options.output);
  const Progress progress("structmat gen");
  const Order order{options.order, options.upper_order.value_or(options.order)};
  with_dtype(options.dtype, [&]<Scalar T>(T) {
    with_transition(options.transition, [&]<class K>(K) {
      finish(options.output, random_quasiseparable<T, K>(options.size, order, options.seed));
    });
  });
  return done;
}

Status gen_semiseparable(const RandomOptions& options) {
  container_of(options.output);
  const Progress progress("structmat gen");
  with_dtype(options.dtype, [&]<Scalar T>(T) {
    with_transition(options.transition, [&]<class K>(K) {
      finish(options.output, random_semiseparable<T, K>(options.size, options.order, options.seed));
    });
  });
  return done;
}

std::vector<double> read_times(const KernelOptions& options) {
  io::Columns columns = io::read_columns(options.times);
  if (options.column.empty()) return std::move(columns.values.front());
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    if (columns.names[i] == options.column) return std::move(columns.values[i]);
  }
  throw UsageError(columns.names.empty()
                       ? fmt::format("{}: the columns have no names", options.times)
                       : fmt::format("{}: no column \"{}\"; there are {}", options.times,
                                     options.column, fmt::join(columns.names, ", ")));
}

Status gen_kernel(const KernelOptions& options) {
  container_of(options.output);
  const quasiseparable::Kernel kernel = quasiseparable::parse_kernel(options.kernel);
  const Progress progress("structmat gen");
  const std::vector<double> times = read_times(options);
  return finish(options.output, quasiseparable::from_kernel(times, kernel, options.noise));
}

void add_random(CLI::App& gen, Action& action, const char* family, bool has_upper,
                Status (*run)(const RandomOptions&)) {
  CLI::App* command = gen.add_subcommand(family, fmt::format("A random {} matrix", family));
  const auto options = std::make_shared<RandomOptions>();
  command->add_option("-n,--size", options->size, "Rows and columns")
      ->required()
      ->check(CLI::NonNegativeNumber);
  command->add_option("-r,--order", options->order, has_upper ? "Order, lower and upper" : "Order")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  if (has_upper) {
    command
        ->add_option("--upper-order", options->upper_order, "Order of the upper part [as --order]")
        ->check(CLI::NonNegativeNumber);
  }
  add_transition(*command, options->transition);
  command
      ->add_option("--seed", options->seed, "Seed: the same one gives the same matrix everywhere")
      ->capture_default_str();
  add_dtype(*command, options->dtype);
  add_output(*command, options->output, ".safetensors: generators; .npy, .mtx: all entries")
      ->required();
  command->footer(fmt::format(
      "Vectors of independent N(0, 1) numbers; transitions of modulus (dense: singular values)\n"
      "0.9 to 1, so that nothing grows.\n\n"
      "Example:\n  structmat gen {} --size 1000 --order 3 --seed 7 -o Q.safetensors",
      family));
  command->callback([&action, options, run] { action = [options, run] { return run(*options); }; });
}

void add_kernel(CLI::App& gen, Action& action) {
  CLI::App* command =
      gen.add_subcommand("kernel", "The covariance of a Gaussian process at given times");
  const auto options = std::make_shared<KernelOptions>();
  command->add_option("--times", options->times, "Text with columns of numbers; increasing times")
      ->required()
      ->type_name("FILE");
  command->add_option("--column", options->column, "Name of the column of times [the first]");
  command
      ->add_option(
          "--kernel", options->kernel,
          "Terms joined by + and *: exponential, matern32, matern52 (scale, variance), sho (w0, Q, "
          "variance), cosine (period, variance), periodic (period, scale, variance, harmonics); "
          "matern32:scale=2,variance=0.5 + exponential:scale=9 * cosine:period=1")
      ->required();
  command->add_option("--noise", options->noise, "Variance added on the diagonal")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_output(*command, options->output, ".safetensors: generators; .npy, .mtx: all entries")
      ->required();
  command->footer(
      "Example:\n"
      "  structmat gen kernel --times series.csv --kernel matern32:scale=1,variance=1 -o "
      "K.safetensors");
  command->callback([&action, options] { action = [options] { return gen_kernel(*options); }; });
}

}  // namespace

void add_gen(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("gen", "Make a matrix of a family");
  command->require_subcommand(1);
  add_random(*command, action, "quasiseparable", true, gen_quasiseparable);
  add_random(*command, action, "semiseparable", false, gen_semiseparable);
  add_kernel(*command, action);
  add_gen_structured(*command, action);
  command->footer("Options of a family:\n  structmat gen FAMILY --help");
}

}  // namespace structmat::cli
