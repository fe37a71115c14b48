// structmat multiply: C = A B for two structured matrices.
#include "structmat/quasiseparable/multiply.hpp"

#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "device.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "promote.hpp"
#include "solver_blocks.hpp"
#include "structmat/quasiseparable/block_algebra.hpp"
#include "structmat/quasiseparable/compress.hpp"
#include "structured.hpp"

namespace structmat::cli {
namespace {

struct MultiplyOptions {
  std::string a, b, output, backend = "cpu";
  std::optional<double> tolerance{};
  std::optional<index_t> order{};

  bool on_device() const { return backend == "cuda"; }
  bool compresses() const { return tolerance || order; }
};

void say(const std::string& description, const MultiplyOptions& options) {
  fmt::print("{}: {}{}\n", options.output, description,
             container_of(options.output) == Container::generators ? "" : ", in dense form");
}

/// The product, smaller where that is asked for.
template <class M>
void finish(const M& c, const MultiplyOptions& options) {
  if (!options.compresses()) {
    write_matrix(options.output, c);
    return say(describe(io::AnyGenerators(c)), options);
  }
  quasiseparable::CompressOptions asked{.tolerance = options.tolerance};
  if (options.order) asked.order = Order{*options.order, *options.order};
  const auto result = quasiseparable::compress(c, asked);
  write_matrix(options.output, result.matrix);
  say(describe(io::AnyGenerators(result.matrix)), options);
  const double norm = result.frobenius_norm;
  fmt::print("truncation error {:.3g} ||A B||_F\n",
             norm > 0 ? result.truncation_error / norm : 0.0);
}

/// The generators with scalars of type T, if they are quasiseparable with transitions K.
template <Scalar T, class K>
std::optional<Quasiseparable<T, K>> as_kind(const io::AnyGenerators& generators) {
  return std::visit(
      []<class M>(const M& m) -> std::optional<Quasiseparable<T, K>> {
        using U = typename M::value_type;
        if constexpr (std::same_as<M, Quasiseparable<U, K>> && std::same_as<common_t<T, U>, T>) {
          return widened<T>(m);
        } else {
          return std::nullopt;
        }
      },
      generators);
}

template <Scalar T>
Quasiseparable<T, transition::Block> as_blocks(const io::AnyGenerators& generators) {
  return std::visit(
      []<class M>(const M& m) -> Quasiseparable<T, transition::Block> {
        if constexpr (std::same_as<common_t<T, typename M::value_type>, T>) {
          return widened<T>(blocks_of(m));
        } else {
          throw UsageError(std::string(dtype_name<T>()) + " does not hold these generators");
        }
      },
      generators);
}

/// Uniform transitions of one kind stay uniform, others become blocks.
template <Scalar T>
void multiply_generators(const io::AnyGenerators& a, const io::AnyGenerators& b,
                         const MultiplyOptions& options) {
  const auto uniform = [&]<class K>(K) {
    const auto x = as_kind<T, K>(a), y = as_kind<T, K>(b);
    if (x && y) finish(quasiseparable::multiply(exec::cpu{}, *x, *y), options);
    return x && y;
  };
  if (uniform(transition::Scalar()) || uniform(transition::Diagonal()) ||
      uniform(transition::Dense())) {
    return;
  }
  finish(quasiseparable::multiply(as_blocks<T>(a), as_blocks<T>(b)), options);
}

/// op(M) columns.
template <Scalar T>
Array<T, 2> times(const io::AnyStructured& m, Op op, const Array<T, 2>& columns,
                  const MultiplyOptions& options) {
  Array<T, 2> result({op == Op::none ? rows(m) : cols(m), columns.extent(1)});
  if (result.empty()) return result;
  if (options.on_device()) {
    multiply(on_device<T>(m), op, columns, result);
  } else {
    apply_structured<T>(exec::cpu{}, m, op, columns.view(), result.view());
  }
  return result;
}

/// The matrix with scalars of type T, if it is of that family.
template <template <class, class> class Family, Scalar T>
std::optional<Family<T, space::host>> as_family(const io::AnyStructured& matrix) {
  return visit_structured(
      []<class M>(const M& m) -> std::optional<Family<T, space::host>> {
        using U = typename M::value_type;
        if constexpr (std::same_as<M, Family<U, space::host>> && std::same_as<common_t<T, U>, T>) {
          return in_scalar<T>(m);
        } else {
          return std::nullopt;
        }
      },
      matrix);
}

/// The product of two circulant or two skew-circulant matrices, which is one.
template <template <class, class> class Family, Scalar T>
std::optional<io::AnyStructured> circulant_product(const io::AnyStructured& a,
                                                   const io::AnyStructured& b,
                                                   const MultiplyOptions& options) {
  auto right = as_family<Family, T>(b);
  if (!right || !as_family<Family, T>(a)) return std::nullopt;
  const Array<T, 2> column = to_array(right->column.view().transposed());
  right->column = to_array(times(a, Op::none, column, options).view().transposed());
  return *right;
}

/// A product of low rank: A (U V^T) = (A U) V^T, (U V^T) B = U (B^T V)^T.
template <Scalar T>
std::optional<io::AnyStructured> low_rank_product(const io::AnyStructured& a,
                                                  const io::AnyStructured& b,
                                                  const MultiplyOptions& options) {
  const auto product = [&](const io::AnyStructured& m, Op op, const Array<T, 3>& factor) {
    const Array<T, 2> columns = to_array(factor.view().select(0, 0));
    const Array<T, 2> result = times(m, op, columns, options);
    return to_array(as_batch(result.view()));
  };
  if (auto right = as_family<LowRank, T>(b)) {
    right->u = product(a, Op::none, right->u);
    return *right;
  }
  if (auto left = as_family<LowRank, T>(a)) {
    left->v = product(b, Op::transpose, left->v);
    return *left;
  }
  return std::nullopt;
}

void multiply_structured(const io::AnyStructured& a, const io::AnyStructured& b,
                         const MultiplyOptions& options) {
  if (options.compresses()) {
    throw UsageError("--tolerance and --order are for products of quasiseparable matrices");
  }
  if (cols(a) != rows(b)) {
    throw UsageError(fmt::format("A has {} columns, B has {} rows", cols(a), rows(b)));
  }
  std::visit(
      [&]<Scalar U, Scalar V>(const U&, const V&) {
        using T = common_t<U, V>;
        std::optional<io::AnyStructured> c = circulant_product<Circulant, T>(a, b, options);
        if (!c) c = circulant_product<SkewCirculant, T>(a, b, options);
        if (!c) c = low_rank_product<T>(a, b, options);
        if (!c) {
          throw Unsupported(fmt::format(
              "{} times {}: products of two circulant, of two skew-circulant, of two "
              "quasiseparable or "
              "semiseparable matrices, and with a low-rank one, have a structure that is kept",
              family_of(a), family_of(b)));
        }
        write_matrix(options.output, *c);
        say(describe(*c), options);
      },
      scalar_of(a), scalar_of(b));
}

Status run(const MultiplyOptions& options) {
  if (options.on_device()) require_device();
  for (const std::string& file : {options.a, options.b}) {
    if (container_of(file) != Container::generators) {
      throw UsageError(file + ": a dense matrix; `structmat apply` multiplies with these");
    }
  }
  const Progress progress("structmat multiply");
  const bool structured = holds_structured(options.a);
  if (structured != holds_structured(options.b)) {
    throw Unsupported(fmt::format("{} times {}: generators with a recurrence and others",
                                  io::stored_family(options.a), io::stored_family(options.b)));
  }
  if (structured) {
    multiply_structured(read_structured(options.a), read_structured(options.b), options);
    return done;
  }
  if (options.on_device()) {
    throw Unsupported(
        "backend cuda: products of two circulant matrices or with one of low rank; quasiseparable "
        "ones are multiplied on the CPU");
  }
  const AnyMatrix a = read_matrix(options.a), b = read_matrix(options.b);
  const auto &x = std::get<io::AnyGenerators>(a), &y = std::get<io::AnyGenerators>(b);
  std::visit([&]<Scalar U, Scalar V>(
                 const U&, const V&) { multiply_generators<common_t<U, V>>(x, y, options); },
             scalar_of(x), scalar_of(y));
  return done;
}

}  // namespace

void add_multiply(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("multiply", "The product of two structured matrices: C = A B");
  const auto options = std::make_shared<MultiplyOptions>();
  command->add_option("a", options->a, "A: .safetensors")->required()->type_name("FILE");
  command->add_option("b", options->b, "B: .safetensors")->required()->type_name("FILE");
  add_output(*command, options->output, "C: .safetensors, or with all entries .npy, .mtx")
      ->required();
  command->add_option("--tolerance", options->tolerance,
                      "Compress C: largest error, times ||C||_F [C is not compressed]");
  command
      ->add_option("-r,--order", options->order,
                   "Compress C: largest order, lower and upper [C is not compressed]")
      ->check(CLI::NonNegativeNumber);
  add_backend(*command, options->backend);
  command->footer(
      "Quasiseparable and semiseparable matrices: orders add up; two of them with scalar, "
      "diagonal\n"
      "or dense transitions, the same for both, give dense ones, all others blocks. Two circulant "
      "or\n"
      "two skew-circulant matrices give one of their kind, a low-rank factor a low-rank product.\n"
      "--backend cuda: the latter two.\n\n"
      "Example:\n  structmat multiply Q.safetensors R.safetensors -o P.safetensors --tolerance "
      "1e-12");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace structmat::cli
