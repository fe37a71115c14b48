// structmat classify: what is this matrix?
#include "structmat/verify/classify.hpp"

#include <algorithm>
#include <memory>

#include "check.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace structmat::cli {
namespace {

struct ClassifyCommand {
  std::string file;
  std::optional<double> tolerance{};
  bool json = false;
};

std::string parameters(const verify::Finding& finding) {
  std::string text;
  for (const auto& [name, value] : finding.parameters) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  return text.empty() ? "-" : text;
}

std::string margins(const verify::Finding& finding) {
  if (finding.deviation) return fmt::format("deviation {:.2g}", *finding.deviation);
  if (!finding.smallest_kept) return "-";
  return fmt::format("kept {:.2g}, dropped {:.2g}", *finding.smallest_kept,
                     finding.largest_dropped.value_or(0));
}

void print_text(const std::string& file, const std::string& description,
                const std::vector<verify::Finding>& findings) {
  print_line("file", file + ": " + description);
  if (findings.empty()) {
    print_line("structure", "none that saves storage");
    return;
  }
  std::size_t name = 9, with = 10;
  for (const auto& f : findings) {
    name = std::max(name, f.name.size());
    with = std::max(with, parameters(f).size());
  }
  fmt::print("\n{:<{}}  {:<{}}  {:>10}  {:>8}  {}\n", "structure", name, "parameters", with,
             "numbers", "of dense", "margins");
  for (const auto& f : findings) {
    fmt::print("{:<{}}  {:<{}}  {:>10}  {:>7.2f}%  {}\n", f.name, name, parameters(f), with,
               f.storage, 100 * double(f.storage) / double(std::max<index_t>(f.dense, 1)),
               margins(f));
  }
}

void print_json(const std::string& file, const std::vector<verify::Finding>& findings) {
  Json list = Json::array();
  const auto optional = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  for (const auto& f : findings) {
    Json with = Json::object();
    for (const auto& [name, value] : f.parameters) with[name] = value;
    list.push_back({{"name", f.name},
                    {"parameters", with},
                    {"deviation", optional(f.deviation)},
                    {"smallest_kept", optional(f.smallest_kept)},
                    {"largest_dropped", optional(f.largest_dropped)},
                    {"storage", f.storage},
                    {"dense", f.dense}});
  }
  fmt::print("{}\n", Json{{"file", file}, {"findings", list}}.dump(2));
}

Status classify(const ClassifyCommand& command) {
  const io::DenseMatrix dense = read_entries(command.file);
  const std::vector<verify::Finding> findings = std::visit(
      [&](const auto& m) {
        const Progress progress("structmat classify");
        return verify::classify(m, {.tolerance = command.tolerance});
      },
      dense);
  if (command.json) {
    print_json(command.file, findings);
  } else {
    print_text(command.file, describe(dense), findings);
  }
  return done;
}

}  // namespace

void add_classify(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("classify", "What is this matrix? The structures it has");
  const auto options = std::make_shared<ClassifyCommand>();
  command
      ->add_option("file", options->file,
                   "Dense matrix (.npy, .mtx) or generators (.safetensors: expanded)")
      ->required()
      ->type_name("FILE");
  command->add_option("--tolerance", options->tolerance,
                      "Relative, in the measure of each test [max(m, n) eps of the dtype]");
  add_json(*command, options->json);
  command->footer(
      "Structures that need fewer numbers than the dense matrix, the cheapest first.\n\n"
      "Example:\n"
      "  structmat classify K.npy");
  command->callback([&action, options] { action = [options] { return classify(*options); }; });
}

}  // namespace structmat::cli
