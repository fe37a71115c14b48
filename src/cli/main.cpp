// structmat: the command-line tool.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>

#include "command.hpp"
#include "progress.hpp"
#include "structmat/core/version.hpp"
#include "structmat/io/atomic_file.hpp"

namespace {

using namespace structmat;

void stop(int) {
  io::remove_pending_files();
  cli::erase_progress();
  _exit(cli::stopped);
}

/// "structmat check", as far as the command line got.
std::string command_name(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

cli::Status complain(const CLI::App& app, std::string reason) {
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  fmt::print(stderr, "{}: {}\n", command_name(app), reason);
  return cli::refused;
}

int run(CLI::App& app, const cli::Action& action, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    return complain(app, std::string(e.what()) + "; see --help");
  }
  try {
    const cli::Status status = action();
    // What was printed is the result: losing it (a full disk) is a failure.
    if (std::fflush(stdout) != 0) return complain(app, "cannot write to the standard output");
    return status;
  } catch (const std::bad_alloc&) {
    return complain(app, "not enough memory");
  } catch (const std::exception& e) {
    return complain(app, e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, stop);

  CLI::App app("Structured matrices: verify, compress, apply, solve, measure.", "structmat");
  app.set_version_flag(
      "--version", "structmat " + std::string(version()) + " (" + std::string(git_commit()) + ")");
  app.require_subcommand(1);
  app.footer(
      "Files: .npy and .mtx hold dense matrices, .safetensors holds structured ones.\n"
      "Exit status: 0 done, or the property holds; 1 the property does not hold;\n"
      "2 bad usage or input (one line on stderr); 130 stopped by a signal.\n\n"
      "Examples:\n"
      "  structmat gen quasiseparable --size 1000 --order 3 -o Q.safetensors\n"
      "  structmat check Q.safetensors --property quasiseparable --order 3\n"
      "  structmat COMMAND --help");
  cli::Action action;
  cli::add_info(app, action);
  cli::add_gen(app, action);
  cli::add_check(app, action);
  cli::add_complete(app, action);
  cli::add_classify(app, action);
  cli::add_lemmas(app, action);
  cli::add_convert(app, action);
  cli::add_apply(app, action);
  cli::add_multiply(app, action);
  cli::add_solve(app, action);
  cli::add_logdet(app, action);
  cli::add_bench(app, action);
  return run(app, action, argc, argv);
}
