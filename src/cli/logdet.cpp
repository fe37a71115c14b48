// structmat logdet: the determinant of a structured matrix, as a logarithm and a sign.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "solve_structured.hpp"

namespace structmat::cli {
namespace {

struct LogdetCommand {
  std::string matrix;
  bool json = false;
};

Status run(const LogdetCommand& command) {
  if (!holds_structured(command.matrix)) {
    throw UsageError(command.matrix +
                     ": a structured matrix is needed, as `structmat gen` makes it");
  }
  const io::AnyStructured a = read_structured(command.matrix);
  LogDeterminant<std::complex<double>> found;
  {
    const Progress progress("structmat logdet");
    found = log_determinant_structured(a);
  }
  const bool real = std::visit([]<Scalar T>(const T&) { return !is_complex_v<T>; }, scalar_of(a));
  if (command.json) {
    using Json = nlohmann::ordered_json;
    const Json sign =
        real ? Json(found.sign.real()) : Json{{"re", found.sign.real()}, {"im", found.sign.imag()}};
    fmt::print("{}\n",
               Json{{"file", command.matrix}, {"log_abs", found.log_abs}, {"sign", sign}}.dump(2));
  } else {
    fmt::print("log |det A|      {:.17g}\n", found.log_abs);
    if (real) {
      fmt::print("sign             {:g}\n", found.sign.real());
    } else {
      fmt::print("phase            {:.17g} {:+.17g} i\n", found.sign.real(), found.sign.imag());
    }
  }
  return done;
}

}  // namespace

void add_logdet(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("logdet", "The determinant of a structured matrix: log |det A| and sign");
  const auto options = std::make_shared<LogdetCommand>();
  command->add_option("matrix", options->matrix, "A: .safetensors")->required()->type_name("FILE");
  add_json(*command, options->json);
  command->footer(
      "A singular matrix has log |det A| = -inf and sign 0 (null in JSON).\n\n"
      "Example:\n  structmat logdet T.safetensors");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace structmat::cli
