// structmat logdet: the determinant, as a logarithm and a sign.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "hermitian_on_device.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "solve_structured.hpp"
#include "solver_blocks.hpp"

namespace structmat::cli {
namespace {

struct LogdetCommand {
  std::string matrix, backend = "cpu";
  bool json = false;
};

struct Determinant {
  LogDeterminant<std::complex<double>> value;
  bool real;
};

template <Scalar T>
Determinant determinant_of(const LogDeterminant<T>& d) {
  return {{d.log_abs, std::complex<double>(d.sign)}, !is_complex_v<T>};
}

Determinant determinant_of(const std::string& path, bool on_device) {
  if (holds_structured(path)) {
    if (on_device) {
      throw Unsupported("backend cuda: determinants of Hermitian quasiseparable matrices, not of " +
                        io::stored_family(path));
    }
    const io::AnyStructured a = read_structured(path);
    const bool real = std::visit([]<Scalar T>(const T&) { return !is_complex_v<T>; }, scalar_of(a));
    return {log_determinant_structured(a), real};
  }
  if (container_of(path) != Container::generators) {
    throw UsageError(path + ": a dense matrix; `structmat convert` makes .safetensors of it");
  }
  return std::visit(
      [&](const auto& m) {
        if (on_device) return determinant_of(log_determinant_on_device(m));
        return determinant_of(
            quasiseparable::log_determinant(quasiseparable::factor_qr(blocks_of(m))));
      },
      io::read_generators(path));
}

Status run(const LogdetCommand& command) {
  const bool on_device = command.backend == "cuda";
  if (on_device) require_device();
  Determinant found;
  {
    const Progress progress("structmat logdet");
    found = determinant_of(command.matrix, on_device);
  }
  const auto& [log_abs, sign] = found.value;
  if (command.json) {
    using Json = nlohmann::ordered_json;
    const Json phase =
        found.real ? Json(sign.real()) : Json{{"re", sign.real()}, {"im", sign.imag()}};
    fmt::print(
        "{}\n",
        Json{{"file", command.matrix}, {"log_determinant", log_abs}, {"sign", phase}}.dump(2));
  } else {
    fmt::print("log |det A|      {:.17g}\n", log_abs);
    if (found.real) {
      fmt::print("sign             {:g}\n", sign.real());
    } else {
      fmt::print("phase            {:.17g} {:+.17g} i\n", sign.real(), sign.imag());
    }
  }
  return done;
}

}  // namespace

void add_logdet(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "logdet", "The determinant of a matrix in .safetensors: log |det A| and sign");
  const auto options = std::make_shared<LogdetCommand>();
  command->add_option("matrix", options->matrix, "A: .safetensors")->required()->type_name("FILE");
  add_backend(*command, options->backend);
  add_json(*command, options->json);
  command->footer(
      "A singular matrix has log |det A| = -inf and sign 0 (null in JSON).\n"
      "--backend cuda: Hermitian positive definite quasiseparable matrices.\n\n"
      "Example:\n  structmat logdet T.safetensors");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace structmat::cli
