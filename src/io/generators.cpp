#include "structmat/io/generators.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/instantiate.hpp"
#include "io/generator_reader.hpp"
#include "structmat/io/safetensors.hpp"

namespace structmat::io {
namespace {

using detail::Reader;

constexpr const char* read_operation = "io::read_generators";
constexpr const char* write_operation = "io::write_generators";

constexpr const char* family_key = "structmat.family";
constexpr const char* format_key = "structmat.format";
constexpr const char* transition_key = "structmat.transition";
constexpr const char* dtype_key = "structmat.dtype";
constexpr const char* form_key = "structmat.form";

template <class M>
inline constexpr bool is_quasiseparable = false;
template <class T, class K>
inline constexpr bool is_quasiseparable<Quasiseparable<T, K>> = true;

/// The metadata that tells the type M from all others.
template <class M>
std::map<std::string, std::string> metadata_of() {
  return {{family_key, is_quasiseparable<M> ? "quasiseparable" : "semiseparable"},
          {format_key, "1"},
          {transition_key, M::transition_type::name},
          {dtype_key, std::string(dtype_name<typename M::value_type>())},
          {form_key, is_quasiseparable<M> ? "exclusive" : "inclusive"}};
}

Partition read_partition(Reader& reader) {
  Partition partition{reader.integers("offsets")};
  const auto& offsets = partition.offsets;
  if (offsets.empty() || offsets.front() != 0)
    reader.fail("tensor offsets", "it must begin with 0");
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] <= offsets[i - 1]) {
      reader.fail("tensor offsets", "element " + std::to_string(i) + " is " +
                                        std::to_string(offsets[i]) + " after " +
                                        std::to_string(offsets[i - 1]) + ", it must increase");
    }
  }
  return partition;
}

std::vector<index_t> read_states(Reader& reader, const char* name, const Partition& partition) {
  std::vector<index_t> states = reader.integers(name);
  const std::string place = "tensor " + std::string(name);
  if (static_cast<index_t>(states.size()) != partition.blocks() + 1) {
    reader.fail(place, std::to_string(states.size()) + " state sizes for " +
                           std::to_string(partition.blocks()) + " blocks, expected " +
                           std::to_string(partition.blocks() + 1));
  }
  for (index_t s : states) {
    if (s < 0) reader.fail(place, "the state size " + std::to_string(s) + " is negative");
  }
  if (states.front() != 0 || states.back() != 0) {
    reader.fail(place, "the first and the last state size must be 0");
  }
  return states;
}

/// The numbers of all blocks, (batch, total); rows(i) x columns(i) of them belong to block i. The
/// sum is compared before anything of the size that the partition declares is allocated.
template <Scalar T, class Rows, class Columns>
Array<T, 2> read_blocks(Reader& reader, const char* name, const Partition& partition,
                        const Rows& rows, const Columns& columns) {
  Array<T, 2> numbers = reader.take<T, 2>(name);
  index_t total = 0;
  bool fits = true;
  for (index_t i = 0; i < partition.blocks() && fits; ++i) {
    index_t block = 0;
    fits = !__builtin_mul_overflow(rows(i), columns(i), &block) &&
           !__builtin_add_overflow(total, block, &total);
  }
  if (!fits || numbers.extent(1) != total) {
    reader.fail("tensor " + std::string(name),
                "it has " + std::to_string(numbers.extent(1)) +
                    " numbers a matrix, partition and state sizes need " +
                    (fits ? std::to_string(total) : "more than 64-bit arithmetic holds"));
  }
  return numbers;
}

void require_batch(const Reader& reader, const char* name, index_t batch, index_t expected) {
  if (batch != expected) {
    reader.fail("tensor " + std::string(name), "it has batch " + std::to_string(batch) +
                                                   ", tensor d has " + std::to_string(expected));
  }
}

template <Scalar T>
BlockDiagonal<T> read_diagonal(Reader& reader, const Partition& partition) {
  const auto rows = [&](index_t i) { return partition.size(i); };
  Array<T, 2> d = read_blocks<T>(reader, "d", partition, rows, rows);
  BlockDiagonal<T> diagonal(partition, d.extent(0));
  diagonal.all() = std::move(d);
  return diagonal;
}

/// Names of the three tensors of a triangle.
struct TriangleNames {
  const char *p, *q, *a, *states;
};
constexpr TriangleNames quasiseparable_lower{"p", "q", "a", "lower_states"};
constexpr TriangleNames quasiseparable_upper{"h", "g", "b", "upper_states"};
constexpr TriangleNames semiseparable_lower{"c", "b", "a", "lower_states"};

template <Scalar T>
BlockTriangle<T> read_triangle(Reader& reader, const TriangleNames& names,
                               const Partition& partition, index_t batch) {
  const std::vector<index_t> states = read_states(reader, names.states, partition);
  const auto rows = [&](index_t i) { return partition.size(i); };
  const auto before = [&](index_t i) { return states[i]; };
  const auto after = [&](index_t i) { return states[i + 1]; };
  Array<T, 2> p = read_blocks<T>(reader, names.p, partition, rows, before);
  Array<T, 2> q = read_blocks<T>(reader, names.q, partition, rows, after);
  Array<T, 2> a = read_blocks<T>(reader, names.a, partition, after, before);
  require_batch(reader, names.p, p.extent(0), batch);
  require_batch(reader, names.q, q.extent(0), batch);
  require_batch(reader, names.a, a.extent(0), batch);
  BlockTriangle<T> triangle(partition, states, batch);
  triangle.all_p() = std::move(p);
  triangle.all_q() = std::move(q);
  triangle.all_a() = std::move(a);
  return triangle;
}

template <Scalar T, transition::Uniform K>
void read_into(Reader& reader, Quasiseparable<T, K>& m) {
  m.p = reader.take<T, 3>("p");
  m.q = reader.take<T, 3>("q");
  m.a = reader.take<T, K::rank>("a");
  m.d = reader.take<T, 2>("d");
  m.g = reader.take<T, 3>("g");
  m.h = reader.take<T, 3>("h");
  m.b = reader.take<T, K::rank>("b");
  reader.checked([&](const char* operation) { quasiseparable::checked(m.view(), operation); });
}

template <Scalar T>
void read_into(Reader& reader, Quasiseparable<T, transition::Block>& m) {
  m.partition = read_partition(reader);
  m.diagonal = read_diagonal<T>(reader, m.partition);
  m.lower = read_triangle<T>(reader, quasiseparable_lower, m.partition, m.batch());
  m.upper_transposed = read_triangle<T>(reader, quasiseparable_upper, m.partition, m.batch());
}

template <Scalar T, transition::Uniform K>
void read_into(Reader& reader, Semiseparable<T, K>& m) {
  m.c = reader.take<T, 3>("c");
  m.b = reader.take<T, 3>("b");
  m.a = reader.take<T, K::rank>("a");
  reader.checked([&](const char* operation) { semiseparable::checked(m.view(), operation); });
}

template <Scalar T>
void read_into(Reader& reader, Semiseparable<T, transition::Block>& m) {
  m.partition = read_partition(reader);
  m.diagonal = read_diagonal<T>(reader, m.partition);
  m.lower = read_triangle<T>(reader, semiseparable_lower, m.partition, m.batch());
}

/// The alternative I, or a later one, of which all metadata is in the file.
template <std::size_t I = 0>
AnyGenerators read_alternative(Reader& reader) {
  if constexpr (I == std::variant_size_v<AnyGenerators>) {
    reader.fail("metadata", "no such generators: family " +
                                detail::excerpt(reader.metadata(family_key)) + ", format " +
                                detail::excerpt(reader.metadata(format_key)) + ", transition " +
                                detail::excerpt(reader.metadata(transition_key)) + ", dtype " +
                                detail::excerpt(reader.metadata(dtype_key)) + ", form " +
                                detail::excerpt(reader.metadata(form_key)));
  } else {
    using M = std::variant_alternative_t<I, AnyGenerators>;
    const auto expected = metadata_of<M>();
    const bool matches = std::all_of(expected.begin(), expected.end(), [&](const auto& entry) {
      return reader.metadata(entry.first.c_str()) == entry.second;
    });
    if (!matches) return read_alternative<I + 1>(reader);
    M matrix;
    read_into(reader, matrix);
    reader.require_nothing_else();
    return matrix;
  }
}

AnyGenerators from_safetensors(const Safetensors& file, const std::string& name) {
  Reader reader(file, read_operation, name);
  return read_alternative(reader);
}

View<const index_t, 1> integers(const std::vector<index_t>& values) {
  return values;
}

template <Scalar T>
void add_triangle(std::vector<NamedTensor>& tensors, const TriangleNames& names,
                  const BlockTriangle<T>& triangle) {
  tensors.emplace_back(names.p, triangle.all_p());
  tensors.emplace_back(names.q, triangle.all_q());
  tensors.emplace_back(names.a, triangle.all_a());
  tensors.emplace_back(names.states, integers(triangle.states()));
}

}  // namespace

template <Scalar T, class K>
void write_generators(const std::filesystem::path& path, const Quasiseparable<T, K>& m) {
  std::vector<NamedTensor> tensors;
  if constexpr (std::same_as<K, transition::Block>) {
    tensors.emplace_back("offsets", integers(m.partition.offsets));
    tensors.emplace_back("d", m.diagonal.all());
    add_triangle(tensors, quasiseparable_lower, m.lower);
    add_triangle(tensors, quasiseparable_upper, m.upper_transposed);
  } else {
    quasiseparable::checked(m.view(), write_operation);
    tensors = {{"p", m.p}, {"q", m.q}, {"a", m.a}, {"d", m.d}, {"g", m.g}, {"h", m.h}, {"b", m.b}};
  }
  write_safetensors(path, tensors, metadata_of<Quasiseparable<T, K>>());
}

template <Scalar T, class K>
void write_generators(const std::filesystem::path& path, const Semiseparable<T, K>& m) {
  std::vector<NamedTensor> tensors;
  if constexpr (std::same_as<K, transition::Block>) {
    tensors.emplace_back("offsets", integers(m.partition.offsets));
    tensors.emplace_back("d", m.diagonal.all());
    add_triangle(tensors, semiseparable_lower, m.lower);
  } else {
    semiseparable::checked(m.view(), write_operation);
    tensors = {{"c", m.c}, {"b", m.b}, {"a", m.a}};
  }
  write_safetensors(path, tensors, metadata_of<Semiseparable<T, K>>());
}

void write_generators(const std::filesystem::path& path, const AnyGenerators& matrix) {
  std::visit([&](const auto& m) { write_generators(path, m); }, matrix);
}

AnyGenerators read_generators(const std::filesystem::path& path) {
  return from_safetensors(read_safetensors(path), path.string());
}

AnyGenerators parse_generators(std::span<const std::byte> bytes, const std::string& name) {
  return from_safetensors(parse_safetensors(bytes, name), name);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                         \
  template STRUCTMAT_EXPORT void write_generators(const std::filesystem::path&,             \
                                                  const Quasiseparable<T, transition::K>&); \
  template STRUCTMAT_EXPORT void write_generators(const std::filesystem::path&,             \
                                                  const Semiseparable<T, transition::K>&);
#define STRUCTMAT_INSTANTIATE_TRANSITIONS(T)    \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T) \
  STRUCTMAT_INSTANTIATE(T, Block)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_TRANSITIONS)

}  // namespace structmat::io
