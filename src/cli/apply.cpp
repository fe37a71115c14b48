// structmat apply: y = A x.
#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "device.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "promote.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/io/npy.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structured.hpp"

namespace structmat::cli {
namespace {

struct ApplyOptions {
  std::string matrix, x, output;
  bool adjoint = false, transpose = false;
  int threads = 0;
  std::string backend = "cpu";
  bool vector = false;  ///< x is 1-d, and y can be too
};

Op op_of(const ApplyOptions& options) {
  return options.adjoint ? Op::adjoint : options.transpose ? Op::transpose : Op::none;
}

/// Rows of op(A) x.
template <Scalar T>
index_t result_rows(Op op, index_t rows, index_t columns, const Array<T, 2>& x) {
  if (op != Op::none) std::swap(rows, columns);
  if (x.extent(0) != columns) {
    throw UsageError(
        fmt::format("x has {} rows, the operator has {} columns", x.extent(0), columns));
  }
  return rows;
}

template <Scalar T>
Array<T, 2> product(const ApplyOptions& options, const Array<T, 2>& a, const Array<T, 2>& x) {
  const Op op = op_of(options);
  Array<T, 2> y({result_rows(op, a.extent(0), a.extent(1), x), x.extent(1)});
  if (y.empty() || x.empty()) return y;
  if (options.backend == "cuda") {
    multiply(on_device(a), op, x, y);
  } else {
    dense::gemm(op, Op::none, T(1), View<const T, 2>(a), View<const T, 2>(x), T(0), y.view());
  }
  return y;
}

template <class M, Scalar T>
Array<T, 2> product(const ApplyOptions& options, const M& a, const Array<T, 2>& x) {
  const Op op = op_of(options);
  Array<T, 2> y({result_rows(op, a.size(), a.size(), x), x.extent(1)}, uninitialized);
  if (options.backend == "cuda") {
    multiply(on_device(a), op, x, y);
  } else {
    apply(exec::cpu{options.threads}, a.view(), op, View<const T, 3>(as_batch(x.view())),
          View<T, 3>(as_batch(y.view())));
  }
  return y;
}

template <Scalar T>
void write_product(const Array<T, 2>& y, const ApplyOptions& options) {
  if (options.vector) {
    io::write_npy_vector(options.output, View<const T, 2>(y).select(1, 0));
  } else {
    write_dense(options.output, View<const T, 2>(y));
  }
  fmt::print("{}: {}\n", options.output, describe(io::DenseMatrix(y)));
}

template <class M>
void apply_to(const M& a, const io::DenseMatrix& x, const ApplyOptions& options) {
  std::visit(
      [&]<Scalar U>(const Array<U, 2>& columns) {
        using T = common_t<typename M::value_type, U>;
        write_product(product(options, widened<T>(a), widened<T>(columns)), options);
      },
      x);
}

void apply_to(const io::AnyStructured& a, const io::DenseMatrix& x, const ApplyOptions& options) {
  const Op op = op_of(options);
  std::visit(
      [&]<Scalar U, Scalar V>(const Array<U, 2>& columns, const V&) {
        using T = common_t<U, V>;
        const auto& wide = widened<T>(columns);
        Array<T, 2> y({result_rows(op, rows(a), cols(a), wide), columns.extent(1)}, uninitialized);
        if (options.backend == "cuda") {
          multiply(on_device<T>(a), op, wide, y);
        } else {
          apply_structured<T>(exec::cpu{options.threads}, a, op, wide.view(), y.view());
        }
        write_product(y, options);
      },
      x, scalar_of(a));
}

Status run(ApplyOptions options) {
  if (container_of(options.output) == Container::generators) {
    throw UsageError(options.output + ": the product is dense, .npy or .mtx");
  }
  if (options.backend == "cuda") require_device();
  const Progress progress("structmat apply");
  const io::DenseMatrix x = read_dense(options.x);
  options.vector = container_of(options.x) == Container::npy &&
                   container_of(options.output) == Container::npy &&
                   io::npy_dimensions(options.x) == 1;
  if (holds_structured(options.matrix)) {
    apply_to(read_structured(options.matrix), x, options);
    return done;
  }
  std::visit(
      [&](const auto& any) { std::visit([&](const auto& m) { apply_to(m, x, options); }, any); },
      read_matrix(options.matrix));
  return done;
}

}  // namespace

void add_apply(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("apply", "Multiply a matrix with vectors: y = A x");
  const auto options = std::make_shared<ApplyOptions>();
  command->add_option("matrix", options->matrix, "A: .npy, .mtx or .safetensors")
      ->required()
      ->type_name("FILE");
  command->add_option("x", options->x, "x, a vector or several columns: .npy or .mtx")
      ->required()
      ->type_name("FILE");
  add_output(*command, options->output, "y: .npy or .mtx")->required();
  CLI::Option* adjoint = command->add_flag("--adjoint", options->adjoint, "y = A^H x");
  command->add_flag("--transpose", options->transpose, "y = A^T x, without conjugation")
      ->excludes(adjoint);
  add_threads(*command, options->threads);
  add_backend(*command, options->backend);
  command->footer(
      "The product is computed in the narrowest scalar type that holds A and x exactly.\n"
      "--threads concerns generators; dense matrices run on the threads of the BLAS.\n\n"
      "Example:\n  structmat apply Q.safetensors x.npy -o y.npy");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace structmat::cli
