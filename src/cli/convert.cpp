// structmat convert: dense to generators, generators to dense, one dense container to another.
#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "convert_structured.hpp"
#include "device.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "structmat/quasiseparable/compress.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structured.hpp"

namespace structmat::cli {
namespace {

struct ConvertOptions {
  std::string input, output, to, backend = "cpu";
  std::optional<double> tolerance{};
  std::optional<index_t> order{};
  bool reverse_columns = false;

  bool on_device() const { return backend == "cuda"; }
};

/// What compression to block generators came to.
template <class Result>
void print_orders(const Result& result) {
  const double norm = result.frobenius_norm;
  const auto relative = [&](double error) { return norm > 0 ? error / norm : 0; };
  const Order order = result.matrix.order();
  fmt::print("order            lower {}, upper {}\n", order.lower, order.upper);
  fmt::print("truncation error {:.3g} ||M||_F\n", relative(result.truncation_error));
  fmt::print("rounding bound   {:.3g} ||M||_F\n", relative(result.rounding_bound));
}

/// Options of compression, under the names that from_dense and compress share.
template <class Options>
Options asked(const ConvertOptions& options) {
  Options o;
  o.tolerance = options.tolerance;
  if (options.order) o.order = Order{*options.order, *options.order};
  return o;
}

template <Scalar T>
void compress_entries(const Array<T, 2>& m, const ConvertOptions& options) {
  quasiseparable::FromDense<T> result;
  {
    const Progress progress("structmat convert");
    const auto compression = asked<quasiseparable::FromDenseOptions>(options);
    result = options.on_device()
                 ? quasiseparable::from_dense(exec::cuda{}, to_device(m), compression)
                 : quasiseparable::from_dense(m, compression);
    io::write_generators(options.output, result.matrix);
  }
  print_orders(result);
  const double dense = double(m.size());
  fmt::print("stored           {} numbers instead of {:.0f}{}\n", result.matrix.stored(), dense,
             double(result.matrix.stored()) >= dense / 2 ? ": structure brings nothing" : "");
}

template <Scalar T, class K>
quasiseparable::Compressed<T> compressed(const Quasiseparable<T, K>& m,
                                         const ConvertOptions& options) {
  const auto compression = asked<quasiseparable::CompressOptions>(options);
  if (!options.on_device()) return quasiseparable::compress(m, compression);
  const auto there = to_device(m);
  const auto result = quasiseparable::compress(exec::cuda{}, there.view(), compression);
  return {to_host(result.matrix), result.truncation_error, result.rounding_bound,
          result.frobenius_norm};
}

template <Scalar T, class K>
void compress_generators(const Quasiseparable<T, K>& m, const ConvertOptions& options) {
  quasiseparable::Compressed<T> result;
  {
    const Progress progress("structmat convert");
    result = compressed(m, options);
    io::write_generators(options.output, result.matrix);
  }
  print_orders(result);
  fmt::print("stored           {} numbers instead of {}\n", result.matrix.stored(), m.stored());
}
template <Scalar T, class K>
void compress_generators(const Semiseparable<T, K>&, const ConvertOptions& options) {
  throw UsageError(options.input +
                   " holds a semiseparable matrix; compression takes quasiseparable " +
                   "generators");
}

void write_entries(const io::DenseMatrix& dense, const ConvertOptions& options) {
  if (options.tolerance || options.order) {
    throw UsageError("--tolerance and --order belong to compression, but " + options.output +
                     " is dense");
  }
  {
    const Progress progress("structmat convert");
    std::visit(
        [&]<Scalar T>(const Array<T, 2>& m) { write_dense(options.output, View<const T, 2>(m)); },
        dense);
  }
  fmt::print("{}: {}\n", options.output, describe(dense));
}

/// Dense entries go from one container to another without a computation.
void require_work_for_device(const ConvertOptions& options) {
  if (options.on_device()) {
    throw Unsupported("backend cuda: nothing is computed from " + options.input + " to " +
                      options.output);
  }
}

/// To a family without a recurrence, or to the one that is recognised.
Status to_family(const ConvertOptions& options) {
  if (container_of(options.output) != Container::generators) {
    throw UsageError(fmt::format("--to {}: {} holds a dense matrix", options.to, options.output));
  }
  Converted converted;
  {
    const Progress progress("structmat convert");
    const FamilyOptions asked{options.to, options.tolerance, options.order, options.reverse_columns,
                              options.on_device()};
    converted = holds_structured(options.input) ? to_family(read_structured(options.input), asked)
                                                : to_family(read_entries(options.input), asked);
    io::write_structured(options.output, converted.matrix);
  }
  fmt::print("{}: {}\n", options.output, describe(converted.matrix));
  if (!converted.note.empty()) fmt::print("{}\n", converted.note);
  return done;
}

Status convert(const ConvertOptions& options) {
  if (options.on_device()) require_device();
  if (options.to != "" && options.to != "quasiseparable" && options.to != "dense") {
    return to_family(options);
  }
  if (options.reverse_columns) throw UsageError("--reverse-columns is for toeplitz and hankel");
  const bool compressing = container_of(options.output) == Container::generators;
  if (!options.to.empty() && compressing != (options.to == "quasiseparable")) {
    throw UsageError(fmt::format("--to {}: {} holds {}", options.to, options.output,
                                 compressing ? "generators" : "a dense matrix"));
  }
  if (options.on_device() && !compressing && holds_structured(options.input)) {
    write_entries(expand_on_device(read_structured(options.input)), options);
    return done;
  }
  const AnyMatrix matrix = read_matrix(options.input);
  std::visit(
      Overloaded{[&](const io::AnyGenerators& m) {
                   if (compressing) {
                     std::visit([&](const auto& any) { compress_generators(any, options); }, m);
                   } else {
                     write_entries(options.on_device() ? expand_on_device(m) : expand(m), options);
                   }
                 },
                 [&](const io::DenseMatrix& m) {
                   if (compressing) {
                     std::visit([&](const auto& any) { compress_entries(any, options); }, m);
                   } else {
                     require_work_for_device(options);
                     write_entries(m, options);
                   }
                 }},
      matrix);
  return done;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("convert", "Compress, expand, or change the container");
  const auto options = std::make_shared<ConvertOptions>();
  command->add_option("input", options->input, "Matrix: .npy, .mtx or .safetensors")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "output", options->output,
          ".safetensors: quasiseparable generators, or as --to says; .npy, .mtx: all entries")
      ->required()
      ->type_name("FILE");
  command->add_option("--to", options->to, "What the output must hold [its name decides]")
      ->check(CLI::IsMember({"quasiseparable", "dense", "recognised", "toeplitz", "hankel",
                             "circulant", "cauchy", "cauchy-like", "vandermonde", "low-rank"}));
  command->add_flag("--reverse-columns", options->reverse_columns,
                    "toeplitz from Hankel, hankel from Toeplitz: with the columns in the opposite "
                    "order, which is exact");
  command->add_option("--tolerance", options->tolerance,
                      "Compression: largest error, times ||M||_F [n eps of the dtype]");
  command
      ->add_option("-r,--order", options->order,
                   "Compression: largest order, lower and upper [as the tolerance asks]")
      ->check(CLI::NonNegativeNumber);
  add_backend(*command, options->backend);
  command->footer(
      "--backend cuda: dense to quasiseparable, generators to all entries, Toeplitz and "
      "Vandermonde\n"
      "to cauchy-like.\n\n"
      "Examples:\n"
      "  structmat convert K.npy K.safetensors --tolerance 1e-10\n"
      "  structmat convert Q.safetensors smaller.safetensors --tolerance 1e-6\n"
      "  structmat convert K.safetensors K.mtx\n"
      "  structmat convert A.npy A.safetensors --to recognised");
  command->callback([&action, options] { action = [options] { return convert(*options); }; });
}

}  // namespace structmat::cli
