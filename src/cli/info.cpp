// structmat info: what was built, and what it runs on; or what a file holds.
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
#include "structured.hpp"

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

/// The family, the shape and the storage of the matrix in a file.
nlohmann::ordered_json facts_of(const std::string& path) {
  using Json = nlohmann::ordered_json;
  const auto of = [&](const std::string& family, const auto& description, index_t m, index_t n,
                      index_t numbers) {
    return Json{{"file", path}, {"family", family}, {"description", description},
                {"rows", m},    {"cols", n},        {"stored", numbers}};
  };
  if (holds_structured(path)) {
    const io::AnyStructured matrix = read_structured(path);
    return of(family_of(matrix), describe(matrix), rows(matrix), cols(matrix), stored(matrix));
  }
  const auto of_dense = [&](const io::DenseMatrix& matrix) {
    return std::visit(
        [&](const auto& m) {
          return of("dense", describe(matrix), m.extent(0), m.extent(1), m.size());
        },
        matrix);
  };
  const auto of_generators = [&](const io::AnyGenerators& generators) {
    return std::visit(Overloaded{[&]<class T, class K>(const Quasiseparable<T, K>& m) {
                                   return of("quasiseparable", describe(generators), m.rows(),
                                             m.cols(), m.stored());
                                 },
                                 [&]<class T, class K>(const Semiseparable<T, K>& m) {
                                   return of("semiseparable", describe(generators), m.rows(),
                                             m.cols(), m.stored());
                                 }},
                      generators);
  };
  return std::visit(Overloaded{of_dense, of_generators}, read_matrix(path));
}

struct InfoOptions {
  std::string file;
  bool json = false;
};

Status info(const InfoOptions& options) {
  const nlohmann::ordered_json found = options.file.empty() ? facts() : facts_of(options.file);
  if (options.json) {
    fmt::print("{}\n", found.dump(2));
  } else if (options.file.empty()) {
    print(found);
  } else {
    fmt::print("{}: {}, {} numbers\n", options.file, found["description"].get<std::string>(),
               found["stored"].get<index_t>());
  }
  return done;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("info", "What was built, and what it runs on; or what a file holds");
  const auto options = std::make_shared<InfoOptions>();
  command->add_option("file", options->file, "A matrix: .npy, .mtx or .safetensors [none]")
      ->type_name("FILE");
  add_json(*command, options->json);
  command->footer("Examples:\n  structmat info --json\n  structmat info T.safetensors");
  command->callback([&action, options] { action = [options] { return info(*options); }; });
}

}  // namespace structmat::cli
