// structmat info: what was built, and what it runs on.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "options.hpp"
#include "structmat/core/device.hpp"
#include "structmat/core/version.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat::cli {
namespace {

std::vector<std::string> devices() {
  std::vector<std::string> names(static_cast<std::size_t>(device_count()));
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = device_name(static_cast<int>(i));
  return names;
}

/// What the licence of the transforms asks of somebody who passes the program on.
std::string consequence(const std::string& licence) {
  if (licence.starts_with("GPL")) {
    return "a binary linked with it can be passed on under the GPL only; link another library with "
           "the FFTW3 interface (MKL) to avoid that";
  }
  return "no condition on binaries beyond that licence";
}

nlohmann::ordered_json facts() {
  const fft::Backend transforms = fft::backend();
  const char* const core_type = std::getenv("OPENBLAS_CORETYPE");
  return {{"version", version()},
          {"commit", git_commit()},
          {"build_type", build_type()},
          {"simd", simd_path()},
          {"blas",
           {{"vendor", blas_vendor()},
            {"core", dense::blas_core()},
            {"threads", dense::blas_threads()},
            {"openblas_coretype",
             core_type != nullptr ? nlohmann::ordered_json(core_type) : nlohmann::ordered_json()}}},
          {"fft",
           {{"name", transforms.name},
            {"licence", transforms.licence},
            {"consequence", consequence(transforms.licence)}}},
          {"openmp_threads", openmp_threads()},
          {"exact", {{"built", bool(STRUCTMAT_HAVE_EXACT)}, {"libraries", "FLINT (LGPL)"}}},
          {"cuda", {{"built", bool(STRUCTMAT_HAVE_CUDA)}, {"devices", devices()}}}};
}

void print(const nlohmann::ordered_json& info) {
  const auto line = [](const char* name, const std::string& value) {
    fmt::print("{:<14} {}\n", name, value);
  };
  const auto text = [](const nlohmann::ordered_json& value) { return value.get<std::string>(); };
  const auto& blas = info["blas"];
  const auto& fft = info["fft"];
  const auto& names = info["cuda"]["devices"];
  line("version", text(info["version"]));
  line("commit", text(info["commit"]));
  line("build type", text(info["build_type"]));
  line("SIMD path", text(info["simd"]));
  std::string vendor = text(blas["vendor"]);
  if (!text(blas["core"]).empty()) vendor += ", core " + text(blas["core"]);
  if (blas["threads"] != 0) vendor += fmt::format(", threads {}", blas["threads"].get<int>());
  line("BLAS", vendor);
  if (!blas["openblas_coretype"].is_null()) {
    line("", "OPENBLAS_CORETYPE=" + text(blas["openblas_coretype"]));
  }
  line("FFT", text(fft["name"]) + ", " + text(fft["licence"]));
  line("", text(fft["consequence"]));
  const int threads = info["openmp_threads"].get<int>();
  line("OpenMP", threads == 0 ? "not built" : fmt::format("threads {}", threads));
  line("exact", info["exact"]["built"] == false ? "not built" : text(info["exact"]["libraries"]));
  line("CUDA", info["cuda"]["built"] == false ? "not built"
               : names.empty()                ? "built; no device"
                                              : fmt::format("built; devices {}", names.size()));
  for (const auto& name : names) line("", text(name));
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("info", "What was built, and what it runs on");
  const auto json = std::make_shared<bool>(false);
  add_json(*command, *json);
  command->footer("Example:\n  structmat info --json");
  command->callback([&action, json] {
    action = [json] {
      const nlohmann::ordered_json info = facts();
      if (*json) {
        fmt::print("{}\n", info.dump(2));
      } else {
        print(info);
      }
      return done;
    };
  });
}

}  // namespace structmat::cli
