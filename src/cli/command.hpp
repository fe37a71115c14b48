/// \file
/// The commands of the tool. Each adds itself to the command line and, when chosen, leaves what is
/// to be done.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>

namespace structmat::cli {

/// Exit status of the tool.
enum Status : int {
  done = 0,      ///< done; or the property holds
  refuted = 1,   ///< the property does not hold
  refused = 2,   ///< bad usage or input: one line on stderr
  stopped = 130  ///< by SIGINT, SIGTERM or SIGHUP
};

/// Options that the parser alone cannot refuse.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the command line asks for. Errors are exceptions.
using Action = std::function<Status()>;

void add_info(CLI::App& app, Action& action);
void add_gen(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_classify(CLI::App& app, Action& action);
void add_complete(CLI::App& app, Action& action);
void add_lemmas(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_apply(CLI::App& app, Action& action);
void add_multiply(CLI::App& app, Action& action);
void add_solve(CLI::App& app, Action& action);
void add_logdet(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);

}  // namespace structmat::cli
