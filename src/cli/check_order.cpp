// structmat check --property quasiseparable | semiseparable, in floating point.
#include <filesystem>

#include "check.hpp"
#include "check_report.hpp"
#include "progress.hpp"
#include "structmat/io/rank_picture.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/verify/generator_profile.hpp"

namespace structmat::cli {
namespace {

verify::Options to_library(const CheckOptions& options, index_t n, Progress& progress) {
  verify::Options result;
  result.order = asked_order(options, n);
  result.tolerance = options.tolerance;
  if (options.relative_to == "block") result.relative = verify::Relative::block;
  if (!options.plot.empty()) result.blocks = {n / 4, n / 2, 3 * n / 4};
  result.progress = [&progress](double fraction) { progress.set(fraction); };
  return result;
}

/// where: nothing, or the execution object of a device.
template <class M, class... Where>
void examine(const M& m, const CheckOptions& options, CheckResult& result, const Where&... where) {
  {
    Progress progress("structmat check");
    const verify::Options asked = to_library(options, m.extent(0), progress);
    result.report = options.property == "quasiseparable"
                        ? verify::quasiseparable(where..., m, asked)
                        : verify::semiseparable(where..., m, asked);
  }
  if (!result.report.complete) return;
  const Progress progress("structmat check: compression");
  const auto compressed =
      quasiseparable::from_dense(where..., m, {.tolerance = result.report.tolerance});
  const double norm = compressed.frobenius_norm;
  result.compression = Compression{compressed.matrix.stored(), compressed.matrix.order(),
                                   norm > 0 ? compressed.truncation_error / norm : 0};
}

/// Are these the generators of the blocks that the property looks at?
bool serves(const io::AnyGenerators& generators, const std::string& property) {
  return std::visit(Overloaded{[&]<class T, class K>(const Quasiseparable<T, K>&) {
                                 return property == "quasiseparable";
                               },
                               [&]<class T, class K>(const Semiseparable<T, K>&) {
                                 return property == "semiseparable";
                               }},
                    generators);
}

void examine(const io::AnyGenerators& generators, const CheckOptions& options,
             CheckResult& result) {
  Progress progress("structmat check");
  result.report = std::visit(
      Overloaded{[&]<class T, class K>(const Quasiseparable<T, K>& m) {
                   return verify::quasiseparable(m, to_library(options, m.size(), progress));
                 },
                 [&]<class T, class K>(const Semiseparable<T, K>& m) {
                   return verify::semiseparable(m, to_library(options, m.size(), progress));
                 }},
      generators);
}

void draw(const io::DenseMatrix& dense, const CheckOptions& options, const CheckResult& result) {
  const std::string title = std::filesystem::path(options.file).filename().string();
  std::visit(
      [&]<Scalar T>(const Array<T, 2>& m) {
        io::write_rank_picture(options.plot, View<const T, 2>(m), result.report, title);
      },
      dense);
}

}  // namespace

Status check_order(const CheckOptions& options) {
  CheckResult result{.file = options.file};
  AnyMatrix matrix;
  {
    const Progress progress("structmat check: reading");
    matrix = read_matrix(options.file);
  }
  result.description = std::visit([](const auto& m) { return describe(m); }, matrix);
  const auto* generators = std::get_if<io::AnyGenerators>(&matrix);
  const bool direct =
      generators != nullptr && options.from != "dense" && serves(*generators, options.property);
  if (direct && options.on_device()) {
    throw Unsupported(
        "backend cuda: generators are examined on the CPU; --from dense expands them to all "
        "entries");
  }
  if (options.from == "generators" && !direct) {
    throw UsageError(
        fmt::format("--from generators: {} holds {}, which {} is not read from", options.file,
                    generators != nullptr ? "other generators" : "entries", options.property));
  }
  io::DenseMatrix dense;
  if (direct) {
    result.method = "examined through its generators";
    examine(*generators, options, result);
    if (!options.plot.empty()) dense = expand(*generators);
  } else {
    if (generators != nullptr) {
      result.method = "expanded to all entries for this check";
      dense = expand(*generators);
    } else {
      dense = std::move(std::get<io::DenseMatrix>(matrix));
    }
    std::visit(
        [&]<Scalar T>(const Array<T, 2>& m) {
          if (options.on_device()) {
            examine(to_device(m), options, result, exec::cuda{});
          } else {
            examine(View<const T, 2>(m), options, result);
          }
        },
        dense);
  }
  if (!options.plot.empty()) draw(dense, options, result);
  if (options.json) {
    print_json(result);
  } else {
    print_text(result);
  }
  return result.report.holds ? done : refuted;
}

}  // namespace structmat::cli
