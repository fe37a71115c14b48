// structmat solve: A x = b for structured A.
#include "structmat/quasiseparable/solve.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "hermitian_on_device.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "promote.hpp"
#include "solve_structured.hpp"
#include "solver_blocks.hpp"
#include "structmat/io/npy.hpp"

namespace structmat::cli {
namespace {

using quasiseparable::Method;
using quasiseparable::SolveReport;

struct SolveCommand {
  std::string matrix, b, output, method = "qr", backend = "cpu";
  bool adjoint = false, transpose = false, condition = false, json = false;
  int refinements = 2;
  bool vector = false;  ///< b is 1-d, and x can be too
  bool given = false;   ///< an option that quasiseparable matrices alone have
};

const char* name_of(Method method) {
  return method == Method::qr ? "qr" : "lu";
}

Op op_of(const SolveCommand& options) {
  return options.adjoint ? Op::adjoint : options.transpose ? Op::transpose : Op::none;
}

template <Scalar T>
void write_solution(const Array<T, 2>& x, const SolveCommand& options) {
  if (options.vector) {
    io::write_npy_vector(options.output, View<const T, 2>(x).select(1, 0));
  } else {
    write_dense(options.output, View<const T, 2>(x));
  }
}

/// Writes the solution, and says what is known of it.
template <Scalar T>
Status conclude(const std::string& family, const SolveFacts& facts, const Array<T, 2>& x,
                const SolveCommand& options) {
  if (!facts.status.usable()) throw DomainError(options.matrix + ": " + describe(facts.status));
  write_solution(x, options);
  if (options.json) {
    nlohmann::ordered_json json{{"family", family},
                                {"status", facts.status.ok() ? "ok" : describe(facts.status)}};
    if (facts.backward_error) json["backward_error"] = *facts.backward_error;
    if (facts.refinements) json["refinements"] = *facts.refinements;
    if (facts.growth) json["growth"] = *facts.growth;
    fmt::print("{}\n", json.dump(2));
  } else {
    if (facts.backward_error) {
      fmt::print("backward error   {:.3g}, {} refinements\n", *facts.backward_error,
                 facts.refinements.value_or(0));
    }
    if (facts.growth) fmt::print("growth           {:.3g}\n", *facts.growth);
    if (!facts.status.ok()) fmt::print("status           {}\n", describe(facts.status));
    fmt::print("{}: {}\n", options.output, describe(io::DenseMatrix(x)));
  }
  return facts.status.ok() ? done : refuted;
}

/// By the solver of the family; it decides the method.
template <Scalar T>
Status solve_with(const io::AnyStructured& a, const Array<T, 2>& b, const SolveCommand& options) {
  Array<T, 2> x(b.extents());
  const SolveFacts facts = options.backend == "cuda"
                               ? solve_on_device<T>(a, op_of(options), b, x)
                               : solve_structured<T>(a, op_of(options), b.view(), x.view());
  return conclude(family_of(a), facts, x, options);
}

template <Scalar T>
Status solve_with(const Quasiseparable<T, transition::Block>& a, const Array<T, 2>& b,
                  const SolveCommand& options) {
  Array<T, 2> x(b.extents());
  const SolveReport report =
      solve(exec::cpu{}, a.view(), op_of(options), View<const T, 3>(as_batch(b.view())),
            View<T, 3>(as_batch(x.view())),
            {.method = options.method == "lu" ? Method::lu : Method::qr,
             .refinements = options.refinements,
             .condition = options.condition});
  if (!report.status.usable()) throw DomainError(options.matrix + ": " + describe(report.status));
  write_solution(x, options);
  if (options.json) {
    nlohmann::ordered_json json{{"method", name_of(report.method)},
                                {"status", report.status.ok() ? "ok" : describe(report.status)},
                                {"backward_error", report.backward_error},
                                {"refinements", report.refinements}};
    if (options.method == "lu") json["growth"] = report.growth;
    if (report.condition) json["condition"] = *report.condition;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("method           {}\n", name_of(report.method));
    if (options.method == "lu") {
      fmt::print("growth           {:.3g}{}\n", report.growth,
                 report.method == Method::qr ? ": lu gave way to qr" : "");
    }
    fmt::print("backward error   {:.3g}, {} refinements\n", report.backward_error,
               report.refinements);
    if (report.condition) fmt::print("condition        about {:.3g}\n", *report.condition);
    if (!report.status.ok()) fmt::print("status           {}\n", describe(report.status));
    fmt::print("{}: {}\n", options.output, describe(io::DenseMatrix(x)));
  }
  return report.status.ok() ? done : refuted;
}

/// Hermitian quasiseparable generators, on the device.
template <class M>
Status solve_there(const M& a, const io::DenseMatrix& b, const SolveCommand& options) {
  return std::visit(
      [&]<Scalar U>(const Array<U, 2>& columns) -> Status {
        using T = common_t<typename M::value_type, U>;
        Array<T, 2> x(columns.extents());
        const SolveFacts facts{
            .status = solve_on_device(widened<T>(a), op_of(options), widened<T>(columns), x)};
        return conclude("quasiseparable", facts, x, options);
      },
      b);
}

Status run(SolveCommand options) {
  if (container_of(options.output) == Container::generators) {
    throw UsageError(options.output + ": the solution is dense, .npy or .mtx");
  }
  if (container_of(options.matrix) != Container::generators) {
    throw UsageError(options.matrix +
                     ": a dense matrix; `structmat convert` makes .safetensors generators of it");
  }
  const bool on_device = options.backend == "cuda";
  if (on_device) require_device();
  if (on_device && options.given) {
    throw UsageError("--method, --refinements and --condition are for --backend cpu");
  }
  const Progress progress("structmat solve");
  const io::DenseMatrix b = read_dense(options.b);
  options.vector = container_of(options.b) == Container::npy &&
                   container_of(options.output) == Container::npy &&
                   io::npy_dimensions(options.b) == 1;
  if (holds_structured(options.matrix)) {
    if (options.given) {
      throw UsageError("--method, --refinements and --condition are for quasiseparable matrices");
    }
    const io::AnyStructured a = read_structured(options.matrix);
    return std::visit(
        [&]<Scalar U, Scalar V>(const Array<U, 2>& columns, const V&) {
          using T = common_t<U, V>;
          return solve_with<T>(a, widened<T>(columns), options);
        },
        b, scalar_of(a));
  }
  const AnyMatrix a = read_matrix(options.matrix);
  return std::visit(
      [&](const auto& m) {
        if (on_device) return solve_there(m, b, options);
        const auto blocks = blocks_of(m);
        return std::visit(
            [&]<Scalar U>(const Array<U, 2>& columns) {
              using T = common_t<typename decltype(blocks)::value_type, U>;
              return solve_with<T>(widened<T>(blocks), widened<T>(columns), options);
            },
            b);
      },
      std::get<io::AnyGenerators>(a));
}

}  // namespace

void add_solve(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("solve", "Solve A x = b for structured A");
  const auto options = std::make_shared<SolveCommand>();
  command->add_option("matrix", options->matrix, "A: .safetensors")->required()->type_name("FILE");
  command->add_option("b", options->b, "b, a vector or several columns: .npy or .mtx")
      ->required()
      ->type_name("FILE");
  add_output(*command, options->output, "x: .npy or .mtx")->required();
  const CLI::Option* method =
      command
          ->add_option("--method", options->method,
                       "qr: stable for every matrix; lu: faster, gives way to qr where pivots fail")
          ->check(CLI::IsMember({"qr", "lu"}))
          ->capture_default_str();
  CLI::Option* adjoint = command->add_flag("--adjoint", options->adjoint, "A^H x = b");
  command->add_flag("--transpose", options->transpose, "A^T x = b, without conjugation")
      ->excludes(adjoint);
  const CLI::Option* refinements =
      command->add_option("--refinements", options->refinements, "Steps of refinement at most")
          ->check(CLI::NonNegativeNumber)
          ->capture_default_str();
  const CLI::Option* condition = command->add_flag("--condition", options->condition,
                                                   "Estimate the condition number (1-norm)");
  add_backend(*command, options->backend);
  add_json(*command, options->json);
  command->footer(
      "Quasiseparable: O(n) time and memory for a fixed order; --method, --refinements and\n"
      "--condition are for these. Exit status 1: A is singular to working precision;\n"
      "x is written and solves a nearby system. An exactly singular A is refused.\n"
      "--backend cuda: Toeplitz, circulant, skew-circulant, Cauchy and Cauchy-like, and Hermitian\n"
      "positive definite quasiseparable matrices.\n\n"
      "Example:\n  structmat solve K.safetensors b.npy -o x.npy --condition");
  command->callback([&action, options, method, refinements, condition] {
    options->given = method->count() + refinements->count() + condition->count() > 0;
    action = [options] { return run(*options); };
  });
}

}  // namespace structmat::cli
