/// \file
/// Structured matrices from measured series: what their off-diagonal ranks are, what that saves,
/// and where it saves nothing.
///
/// usage: structmat_demo <folder of co2.csv and sunspots.csv> <folder for pictures>
/// Exit status: 0 if every order and every error is as expected, 1 if not, 2 if it could not run.
#include <cstdio>
#include <exception>

#include "study.hpp"

namespace {

void print_header() {
  const std::string core = structmat::dense::blas_core();
  const std::string text =
      "structmat " + std::string(structmat::version()) + " (" +
      std::string(structmat::git_commit()) + ", " + std::string(structmat::build_type()) +
      "), BLAS " + std::string(structmat::blas_vendor()) + (core.empty() ? "" : " " + core) + ", " +
      std::to_string(structmat::dense::blas_threads()) + " threads; vector loops " +
      std::string(structmat::simd_path());
  std::printf("%s\n", text.c_str());
}

void print_table(const std::vector<demo::Outcome>& outcomes) {
  std::printf("\n%-14s %5s  %-7s %9s %8s %14s %12s %8s\n", "matrix", "n", "order", "stored",
              "error", "structured", "dense", "speedup");
  for (const demo::Outcome& o : outcomes) {
    const std::string order = std::to_string(o.order.lower) + ", " + std::to_string(o.order.upper);
    const double full = static_cast<double>(o.size) * static_cast<double>(o.size);
    const char* remark = !o.ok ? "  FAILED" : o.pays ? "" : "  stay dense";
    std::printf("%-14s %5lld  %-7s %7.2f %% %8.0e %11.1f µs %9.1f µs %8.3g%s\n", o.name.c_str(),
                static_cast<long long>(o.size), order.c_str(),
                100 * static_cast<double>(o.stored) / full, o.error, 1e6 * o.structured_seconds,
                1e6 * o.dense_seconds, o.speedup(), remark);
  }
}

int run(const std::filesystem::path& data, const std::filesystem::path& pictures) {
  print_header();
  std::filesystem::create_directories(pictures);
  const demo::Series co2 = demo::read_series(data / "co2.csv");
  const demo::Series sunspots = demo::read_series(data / "sunspots.csv");

  std::vector<demo::Outcome> outcomes;
  outcomes.push_back(demo::study(demo::matern(co2), pictures));
  outcomes.push_back(demo::study(demo::string_inverse(co2), pictures));
  outcomes.push_back(demo::study(demo::autoregression(sunspots), pictures));
  outcomes.push_back(demo::study(demo::unsorted_values(co2), pictures));
  print_table(outcomes);

  for (const demo::Outcome& o : outcomes) {
    if (!o.ok) return 1;
  }
  std::printf("\nAll orders and errors are as expected.\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: structmat_demo <folder of the series> <folder for pictures>\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "structmat_demo: %s\n", e.what());
    return 2;
  }
}
