// structmat gen toeplitz, ...: structured matrices without a recurrence, from data or random.
#include <fmt/format.h>

#include <memory>

#include "gen.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "promote.hpp"
#include "random_structured.hpp"
#include "structured.hpp"
#include "vector_file.hpp"

namespace structmat::cli {
namespace {

/// A family that is given by one or two vectors.
struct Data {
  const char *first, *second;  ///< options; null: none
  const char *first_text, *second_text;
};

struct Family {
  const char* name;
  Data data;
  bool rectangular;        ///< random: --width
  const char* order_text;  ///< random: --order; null: none
};

constexpr Data random_only{nullptr, nullptr, nullptr, nullptr};
constexpr Family gen_families[] = {
    {"toeplitz", {"--column", "--row", "First column", "First row"}, true, nullptr},
    {"hankel", {"--column", "--row", "First column", "Last row"}, true, nullptr},
    {"circulant", {"--column", nullptr, "First column", nullptr}, false, nullptr},
    {"skew-circulant", {"--column", nullptr, "First column", nullptr}, false, nullptr},
    {"cauchy",
     {"--rows", "--columns", "Nodes of the rows, s", "Nodes of the columns, t"},
     true,
     nullptr},
    {"vandermonde", {"--nodes", nullptr, "Nodes of the rows", nullptr}, true, nullptr},
    {"log-vandermonde",
     {"--logarithms", nullptr, "Logarithms of the nodes of the columns", nullptr},
     true,
     nullptr},
    {"low-rank", random_only, true, "Order"},
    {"butterfly", random_only, true, "Number of stages"},
    {"monarch", random_only, false, nullptr}};

struct Options {
  std::string family, first, second, output, dtype = "float64";
  std::optional<index_t> size{}, width{};
  index_t order = 1;
  std::uint64_t seed = 0;
  bool skip = false, hermitian = false;
  std::string second_name{};  ///< the option of the second vector; empty: there is none
};

template <Scalar T>
io::AnyStructured from_vector(const Options& options, const Array<T, 1>& a) {
  const View<const T, 1> v = a.view();
  if (options.family == "circulant") return Circulant<T>(v);
  if (options.family == "skew-circulant") return SkewCirculant<T>(v);
  if (options.family == "toeplitz") return toeplitz::hermitian(v);
  if (options.family == "log-vandermonde") {
    return LogVandermonde<T>(options.size.value_or(v.extent(0)), v);
  }
  return Vandermonde<T>(v, options.size.value_or(v.extent(0)));
}

template <Scalar T>
io::AnyStructured from_vectors(const Options& options, const Array<T, 1>& a, const Array<T, 1>& b) {
  const View<const T, 1> first = a.view(), second = b.view();
  if (options.family == "toeplitz") return Toeplitz<T>(first, second);
  if (options.family == "hankel") return Hankel<T>(first, second);
  return Cauchy<T>(first, second, options.skip ? Coincidence::skip : Coincidence::error);
}

template <Scalar T, Scalar U>
Array<T, 1> widened_vector(const Array<U, 1>& v) {
  Array<T, 1> r;
  promote(v, r);
  return r;
}

io::AnyStructured from_data(const Options& options) {
  const AnyVector first = read_vector(options.first);
  if (options.second.empty()) {
    return std::visit([&](const auto& a) { return from_vector(options, a); }, first);
  }
  return std::visit(
      [&]<Scalar T, Scalar U>(const Array<T, 1>& a, const Array<U, 1>& b) {
        using Common = common_t<T, U>;
        return from_vectors<Common>(options, widened_vector<Common>(a), widened_vector<Common>(b));
      },
      first, read_vector(options.second));
}

Status gen(const Options& options) {
  container_of(options.output);
  const Progress progress("structmat gen");
  io::AnyStructured matrix;
  if (!options.first.empty()) {
    const bool one = options.second_name.empty() || options.hermitian;
    if (!one && options.second.empty()) throw UsageError(options.second_name + " is required, too");
    matrix = from_data(options);
  } else {
    if (!options.size) throw UsageError("--size is required for a random matrix");
    with_dtype(options.dtype, [&]<Scalar T>(T) {
      matrix =
          random_structured<T>(options.family, *options.size, options.width.value_or(*options.size),
                               options.order, options.seed);
    });
  }
  write_matrix(options.output, matrix);
  fmt::print("{}: {}{}\n", options.output, describe(matrix),
             container_of(options.output) == Container::generators ? "" : ", in dense form");
  return done;
}

/// --size beside --nodes: the extent that the nodes do not give.
bool takes_size(const std::string& family) {
  return family == "vandermonde" || family == "log-vandermonde";
}

const char* example_of(const Family& f) {
  const std::string name = f.name;
  if (name == "cauchy") return "cauchy --rows s.npy --columns t.npy -o C.safetensors";
  if (name == "vandermonde") return "vandermonde --nodes x.txt --size 20 -o V.safetensors";
  if (name == "toeplitz") return "toeplitz --column c.npy --row r.npy -o T.safetensors";
  return nullptr;
}

void add_family(CLI::App& command, Action& action, const Family& family) {
  CLI::App* sub = command.add_subcommand(
      family.name, fmt::format("A {} matrix, {}random", family.name,
                               family.data.first != nullptr ? "from data or " : ""));
  const auto options = std::make_shared<Options>();
  options->family = family.name;
  const bool data_takes_size = takes_size(family.name);
  CLI::Option* size =
      sub->add_option("-n,--size", options->size,
                      data_takes_size ? "Random: rows and columns; with data: the other extent"
                                      : "Random: rows and columns")
          ->check(CLI::NonNegativeNumber);
  std::vector<CLI::Option*> random;
  if (family.rectangular) {
    random.push_back(sub->add_option("--width", options->width, "Random: columns [as --size]")
                         ->check(CLI::NonNegativeNumber));
  }
  if (family.order_text != nullptr) {
    sub->add_option("-r,--order", options->order, family.order_text)
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
  }
  random.push_back(
      sub->add_option("--seed", options->seed, "Random: the same one gives the same matrix")
          ->capture_default_str());
  random.push_back(add_dtype(*sub, options->dtype));
  if (!data_takes_size) random.push_back(size);
  const auto add_file = [&](const char* name, std::string& path, const char* text) {
    CLI::Option* file = sub->add_option(
        name, path, fmt::format("{}: .npy, .mtx, or text with columns of numbers", text));
    file->type_name("FILE");
    for (CLI::Option* other : random) file->excludes(other);
    return file;
  };
  if (family.data.first != nullptr) {
    CLI::Option* first = add_file(family.data.first, options->first, family.data.first_text);
    if (family.data.second != nullptr) {
      CLI::Option* second = add_file(family.data.second, options->second, family.data.second_text);
      second->needs(first);
      if (options->family == "toeplitz") {
        sub->add_flag("--hermitian", options->hermitian, "The row is the conjugate of the column")
            ->needs(first)
            ->excludes(second);
      }
      if (options->family == "cauchy") {
        sub->add_flag("--skip", options->skip, "Nodes that coincide give zero, not an error")
            ->needs(first);
      }
      options->second_name = family.data.second;
    }
  }
  add_output(*sub, options->output, ".safetensors: as it is; .npy, .mtx: all entries")->required();
  const char* example = example_of(family);
  sub->footer(fmt::format(
      "Example:\n  structmat gen {}",
      example != nullptr ? example
                         : fmt::format("{} --size 1024 --seed 7 -o A.safetensors", family.name)));
  sub->callback([&action, options] { action = [options] { return gen(*options); }; });
}

}  // namespace

void add_gen_structured(CLI::App& gen_command, Action& action) {
  for (const Family& family : gen_families) add_family(gen_command, action, family);
}

}  // namespace structmat::cli
