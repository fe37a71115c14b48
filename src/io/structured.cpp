#include "structmat/io/structured.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/instantiate.hpp"
#include "io/generator_reader.hpp"

namespace structmat::io {
namespace {

constexpr const char* read_operation = "io::read_structured";
constexpr const char* write_operation = "io::write_structured";

constexpr const char* family_key = "structmat.family";
constexpr const char* format_key = "structmat.format";
constexpr const char* dtype_key = "structmat.dtype";
constexpr const char* format = "1";

/// Names in the order of AnyStructured.
constexpr std::array families{"toeplitz", "hankel",      "circulant",   "skew_circulant",
                              "cauchy",   "cauchy_like", "vandermonde", "log_vandermonde",
                              "low_rank", "butterfly",   "monarch"};
static_assert(families.size() == std::variant_size_v<AnyStructured>);

template <class M, std::size_t I = 0>
constexpr std::size_t family_index() {
  if constexpr (detail::is_one_of<M, std::variant_alternative_t<I, AnyStructured>>) {
    return I;
  } else {
    return family_index<M, I + 1>();
  }
}

/// Throws ShapeError, on behalf of `operation`, for parts that do not fit together.
template <class M>
void check_parts(const M& m, const char* operation) {
  // Each family has its own namespace of that function.
  const auto view = m.view();
  using toeplitz::checked, hankel::checked, circulant::checked, skew_circulant::checked,
      cauchy::checked, vandermonde::checked, lowrank::checked, butterfly::checked, monarch::checked;
  checked(view, operation);
}

/// Reads the parts of one matrix.
struct PartReader {
  detail::Reader& reader;

  template <Scalar T, int Rank>
  void array(const char* name, Array<T, Rank>& a) {
    a = reader.take<T, Rank>(name);
  }

  void shape(index_t& rows, index_t& columns) {
    const std::vector<index_t> numbers = reader.integers("shape");
    if (numbers.size() != 2) {
      reader.fail("tensor shape", "it has " + std::to_string(numbers.size()) +
                                      " numbers, expected 2: rows and columns");
    }
    for (const index_t n : numbers) {
      if (n < 0) reader.fail("tensor shape", "the extent " + std::to_string(n) + " is negative");
    }
    // m + n - 1 must not overflow.
    if (numbers[0] > (index_t{1} << 61) || numbers[1] > (index_t{1} << 61)) {
      reader.fail("tensor shape", "an extent exceeds 2^61");
    }
    rows = numbers[0];
    columns = numbers[1];
  }
  void shape(detail::Follows rows, index_t& columns) {
    index_t stated = 0;
    shape(stated, columns);
    require_same("rows", stated, rows.value);
  }
  void shape(index_t& rows, detail::Follows columns) {
    index_t stated = 0;
    shape(rows, stated);
    require_same("columns", stated, columns.value);
  }

  template <std::size_t N, class E>
  void choice(const char* key, const std::array<const char*, N>& names, E& value) {
    const std::string& text = reader.metadata(key);
    const auto at = std::find(names.begin(), names.end(), text);
    if (at == names.end()) {
      reader.fail("metadata " + std::string(key), "no such value: " + detail::excerpt(text));
    }
    value = static_cast<E>(at - names.begin());
  }

 private:
  void require_same(const char* what, index_t stated, index_t expected) const {
    if (stated != expected) {
      reader.fail("tensor shape", "it says " + std::to_string(stated) + " " + what +
                                      ", the nodes are " + std::to_string(expected));
    }
  }
};

/// Collects what is to be written.
struct PartWriter {
  std::vector<NamedTensor> tensors{};
  std::map<std::string, std::string> metadata{};
  Array<index_t, 1> extents{};

  template <Scalar T, int Rank>
  void array(const char* name, const Array<T, Rank>& a) {
    tensors.emplace_back(name, a);
  }
  void shape(index_t rows, index_t columns) {
    extents = Array<index_t, 1>({2});
    extents(0) = rows;
    extents(1) = columns;
    tensors.emplace_back("shape", extents);
  }
  void shape(detail::Follows rows, index_t columns) { shape(rows.value, columns); }
  void shape(index_t rows, detail::Follows columns) { shape(rows, columns.value); }

  template <std::size_t N, class E>
  void choice(const char* key, const std::array<const char*, N>& names, const E& value) {
    metadata[key] = names.at(static_cast<std::size_t>(value));
  }
};

template <class M>
M read_parts(detail::Reader& reader) {
  M matrix;
  PartReader parts{reader};
  detail::visit_parts(std::type_identity<M>{}, parts, matrix);
  reader.checked([&](const char* operation) { check_parts(matrix, operation); });
  reader.require_nothing_else();
  return matrix;
}

/// The member of a family that the dtype names.
template <class Any, std::size_t I = 0>
std::optional<Any> read_member(detail::Reader& reader, const std::string& dtype) {
  if constexpr (I == std::variant_size_v<Any>) {
    return std::nullopt;
  } else {
    using M = std::variant_alternative_t<I, Any>;
    if (dtype != dtype_name<typename M::value_type>())
      return read_member<Any, I + 1>(reader, dtype);
    return read_parts<M>(reader);
  }
}

template <std::size_t I = 0>
std::optional<AnyStructured> read_family(detail::Reader& reader, const std::string& family,
                                         const std::string& dtype) {
  if constexpr (I == std::variant_size_v<AnyStructured>) {
    return std::nullopt;
  } else {
    if (family != families[I]) return read_family<I + 1>(reader, family, dtype);
    return read_member<std::variant_alternative_t<I, AnyStructured>>(reader, dtype);
  }
}

AnyStructured from_safetensors(const Safetensors& file, const std::string& name) {
  detail::Reader reader(file, read_operation, name);
  const std::string &family = reader.metadata(family_key), &dtype = reader.metadata(dtype_key);
  const std::string& version = reader.metadata(format_key);
  std::optional<AnyStructured> matrix;
  if (version == format) matrix = read_family(reader, family, dtype);
  if (!matrix) {
    reader.fail("metadata", "no such matrix: family " + detail::excerpt(family) + ", format " +
                                detail::excerpt(version) + ", dtype " + detail::excerpt(dtype));
  }
  return std::move(*matrix);
}

}  // namespace

template <StructuredMatrix M>
std::string_view family_name() {
  return families[family_index<M>()];
}

template <StructuredMatrix M>
void write_structured(const std::filesystem::path& path, const M& matrix) {
  check_parts(matrix, write_operation);
  PartWriter parts;
  detail::visit_parts(std::type_identity<M>{}, parts, matrix);
  parts.metadata[family_key] = family_name<M>();
  parts.metadata[format_key] = format;
  parts.metadata[dtype_key] = dtype_name<typename M::value_type>();
  write_safetensors(path, parts.tensors, parts.metadata);
}

void write_structured(const std::filesystem::path& path, const AnyStructured& matrix) {
  std::visit(
      [&](const auto& family) {
        std::visit([&](const auto& m) { write_structured(path, m); }, family);
      },
      matrix);
}

AnyStructured read_structured(const std::filesystem::path& path) {
  return from_safetensors(read_safetensors(path), path.string());
}

AnyStructured parse_structured(std::span<const std::byte> bytes, const std::string& name) {
  return from_safetensors(parse_safetensors(bytes, name), name);
}

std::string stored_family(const std::filesystem::path& path) {
  const Safetensors file = read_safetensors(path);
  const auto at = file.metadata().find(family_key);
  return at == file.metadata().end() ? std::string() : at->second;
}

#define STRUCTMAT_INSTANTIATE_FAMILY(M)                        \
  template STRUCTMAT_EXPORT std::string_view family_name<M>(); \
  template STRUCTMAT_EXPORT void write_structured(const std::filesystem::path&, const M&);
#define STRUCTMAT_INSTANTIATE(T)                  \
  STRUCTMAT_INSTANTIATE_FAMILY(Toeplitz<T>)       \
  STRUCTMAT_INSTANTIATE_FAMILY(Hankel<T>)         \
  STRUCTMAT_INSTANTIATE_FAMILY(Circulant<T>)      \
  STRUCTMAT_INSTANTIATE_FAMILY(SkewCirculant<T>)  \
  STRUCTMAT_INSTANTIATE_FAMILY(Cauchy<T>)         \
  STRUCTMAT_INSTANTIATE_FAMILY(CauchyLike<T>)     \
  STRUCTMAT_INSTANTIATE_FAMILY(Vandermonde<T>)    \
  STRUCTMAT_INSTANTIATE_FAMILY(LogVandermonde<T>) \
  STRUCTMAT_INSTANTIATE_FAMILY(LowRank<T>)        \
  STRUCTMAT_INSTANTIATE_FAMILY(Butterfly<T>)      \
  STRUCTMAT_INSTANTIATE_FAMILY(Monarch<T>)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::io
