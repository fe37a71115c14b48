// Generators in files: all 32 types make the round trip, and every inconsistency is named.
#include "structmat/io/generators.hpp"

#include <catch2/catch.hpp>

#include "structmat/io/safetensors.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/files.hpp"

using namespace structmat;
using test::message_of;
using test::same_bits;

namespace {

template <class T, int Rank>
void fill(Array<T, Rank>& a, int seed) {
  for (index_t i = 0; i < a.size(); ++i) {
    if constexpr (is_complex_v<T>) {
      a.data()[i] = T(real_t<T>(i + seed), real_t<T>(0.5) * real_t<T>(seed - i));
    } else {
      a.data()[i] = T(i + seed);
    }
  }
}

template <class T>
void fill(BlockTriangle<T>& t, int seed) {
  fill(t.all_p(), seed);
  fill(t.all_q(), seed + 1);
  fill(t.all_a(), seed + 2);
}

template <class T, int Rank>
void check_same(const Array<T, Rank>& a, const Array<T, Rank>& b) {
  CHECK(same_bits(a, b));
}

template <class T>
void check_same(const BlockTriangle<T>& a, const BlockTriangle<T>& b) {
  CHECK(a.states() == b.states());
  check_same(a.all_p(), b.all_p());
  check_same(a.all_q(), b.all_q());
  check_same(a.all_a(), b.all_a());
}

template <class T, transition::Uniform K>
void make(Quasiseparable<T, K>& m, index_t n, index_t batch) {
  m = Quasiseparable<T, K>(n, {2, 3}, batch);
  fill(m.p, 1), fill(m.q, 2), fill(m.a, 3), fill(m.d, 4);
  fill(m.g, 5), fill(m.h, 6), fill(m.b, 7);
}
template <class T, transition::Uniform K>
void make(Semiseparable<T, K>& m, index_t n, index_t batch) {
  m = Semiseparable<T, K>(n, 2, batch);
  fill(m.c, 1), fill(m.b, 2), fill(m.a, 3);
}
/// Three blocks (none for n = 0).
Partition partition_of(index_t n) {
  return n == 0 ? Partition{} : Partition{{0, 1, n - 1, n}};
}
std::vector<index_t> states_of(index_t n, index_t s) {
  return n == 0 ? std::vector<index_t>{0} : std::vector<index_t>{0, s, s + 1, 0};
}
template <class T>
void make(Quasiseparable<T, transition::Block>& m, index_t n, index_t batch) {
  m.partition = partition_of(n);
  m.lower = BlockTriangle<T>(m.partition, states_of(n, 1), batch);
  m.upper_transposed = BlockTriangle<T>(m.partition, states_of(n, 2), batch);
  m.diagonal = BlockDiagonal<T>(m.partition, batch);
  fill(m.lower, 1), fill(m.upper_transposed, 4), fill(m.diagonal.all(), 7);
}
template <class T>
void make(Semiseparable<T, transition::Block>& m, index_t n, index_t batch) {
  m.partition = partition_of(n);
  m.lower = BlockTriangle<T>(m.partition, states_of(n, 1), batch);
  m.diagonal = BlockDiagonal<T>(m.partition, batch);
  fill(m.lower, 1), fill(m.diagonal.all(), 7);
}

template <class M>
void check_equal(const M& a, const M& b) {
  if constexpr (requires { a.partition; }) {
    CHECK(a.partition == b.partition);
    check_same(a.lower, b.lower);
    check_same(a.diagonal.all(), b.diagonal.all());
    if constexpr (requires { a.upper_transposed; }) {
      check_same(a.upper_transposed, b.upper_transposed);
    }
  } else {
    check_same(a.a, b.a);
    check_same(a.b, b.b);
    if constexpr (requires { a.c; }) {
      check_same(a.c, b.c);
    } else {
      check_same(a.p, b.p), check_same(a.q, b.q), check_same(a.d, b.d);
      check_same(a.g, b.g), check_same(a.h, b.h);
    }
  }
}

template <std::size_t I = 0>
void check_round_trips(const test::TemporaryFolder& folder) {
  if constexpr (I < std::variant_size_v<io::AnyGenerators>) {
    for (index_t n : {0, 3, 9}) {
      for (index_t batch : {1, 2}) {
        std::variant_alternative_t<I, io::AnyGenerators> m;
        make(m, n, batch);
        INFO("alternative " << I << ", n " << n << ", batch " << batch);
        io::write_generators(folder / "m.safetensors", m);
        const auto back = io::read_generators(folder / "m.safetensors");
        REQUIRE(back.index() == I);
        check_equal(m, std::get<I>(back));
      }
    }
    check_round_trips<I + 1>(folder);
  }
}

/// A file from tensors and metadata that tests may spoil.
struct Draft {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Array<double, 2>> tensors;
  std::map<std::string, Array<double, 3>> tensors3;
  std::map<std::string, Array<std::int64_t, 1>> integers;

  std::string refusal() const {
    const test::TemporaryFolder folder;
    const auto path = folder / "draft.safetensors";
    std::vector<io::NamedTensor> all;
    for (const auto& [name, array] : tensors) all.emplace_back(name, array);
    for (const auto& [name, array] : tensors3) all.emplace_back(name, array);
    for (const auto& [name, array] : integers) all.emplace_back(name, array);
    io::write_safetensors(path, all, metadata);
    const std::string message = message_of<FileError>([&] { io::read_generators(path); });
    CHECK_THAT(message, Catch::Contains(path.string()));
    return message.substr(message.find(path.string()) + path.string().size() + 2);
  }
};

std::map<std::string, std::string> metadata(const std::string& family,
                                            const std::string& transition) {
  return {{"structmat.family", family},
          {"structmat.format", "1"},
          {"structmat.transition", transition},
          {"structmat.dtype", "float64"},
          {"structmat.form", family == "quasiseparable" ? "exclusive" : "inclusive"}};
}

Array<std::int64_t, 1> integers(const std::vector<std::int64_t>& values) {
  Array<std::int64_t, 1> a({static_cast<index_t>(values.size())});
  std::copy(values.begin(), values.end(), a.begin());
  return a;
}

Draft scalar_draft() {
  Draft draft{metadata("quasiseparable", "scalar"), {}, {}, {}};
  for (const char* name : {"p", "q", "g", "h"}) draft.tensors3[name] = Array<double, 3>({1, 4, 2});
  for (const char* name : {"a", "b", "d"}) draft.tensors[name] = Array<double, 2>({1, 4});
  return draft;
}

Draft block_draft() {
  Draft draft{metadata("semiseparable", "block"), {}, {}, {}};
  draft.integers["offsets"] = integers({0, 2, 5});
  draft.integers["lower_states"] = integers({0, 2, 0});
  draft.tensors["c"] = Array<double, 2>({1, 6});
  draft.tensors["b"] = Array<double, 2>({1, 4});
  draft.tensors["a"] = Array<double, 2>({1, 0});
  draft.tensors["d"] = Array<double, 2>({1, 13});
  return draft;
}

}  // namespace

TEST_CASE("all types of generators make the round trip") {
  const test::TemporaryFolder folder;
  check_round_trips(folder);
  CHECK(folder.files() == 1);
}

TEST_CASE("any generators are written as what they hold") {
  const test::TemporaryFolder folder;
  Semiseparable<std::complex<float>, transition::Dense> m;
  make(m, 5, 1);
  io::write_generators(folder / "direct", m);
  io::write_generators(folder / "any", io::AnyGenerators(m));
  CHECK(test::read_text(folder / "direct") == test::read_text(folder / "any"));
}

TEST_CASE("a compressed matrix is the same one after the round trip") {
  const index_t n = 40;
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) m(i, j) = i >= j ? 1.0 / double(i + 1) : double(j) + 0.5;
  }
  const auto compressed = quasiseparable::from_dense(m, {.block_size = 8}).matrix;
  const test::TemporaryFolder folder;
  io::write_generators(folder / "m", compressed);
  const auto back =
      std::get<Quasiseparable<double, transition::Block>>(io::read_generators(folder / "m"));
  CHECK(same_bits(back.to_dense(), compressed.to_dense()));
}

TEST_CASE("generators that do not fit together are not written") {
  const test::TemporaryFolder folder;
  Quasiseparable<double, transition::Dense> m(4, {2, 2});
  m.q = Array<double, 3>({1, 4, 3});
  CHECK_THROWS_AS(io::write_generators(folder / "m", m), ShapeError);
  CHECK(folder.files() == 0);
}

TEST_CASE("metadata decides what a file holds") {
  for (const char* key : {"structmat.family", "structmat.format", "structmat.transition",
                          "structmat.dtype", "structmat.form"}) {
    Draft draft = scalar_draft();
    draft.metadata[key] = "nonsense";
    CHECK_THAT(draft.refusal(), Catch::StartsWith("metadata: no such generators: family ") &&
                                    Catch::Contains("\"nonsense\""));
    draft.metadata.erase(key);
    CHECK(draft.refusal() == "metadata " + std::string(key) + ": missing");
  }
}

TEST_CASE("a tensor that is wrong, missing or too many is named") {
  Draft draft = scalar_draft();
  draft.tensors3.erase("q");
  CHECK(draft.refusal() == "tensor q: missing");

  draft = scalar_draft();
  draft.tensors["x"] = Array<double, 2>({1, 1});
  CHECK(draft.refusal() == "tensor \"x\": generators of this kind have no such tensor");

  draft = scalar_draft();
  draft.tensors3["q"] = Array<double, 3>({1, 4, 3});
  CHECK(draft.refusal() == "tensor: q has extent 3 in dimension 2, expected 2");

  draft = scalar_draft();
  draft.tensors["b"] = Array<double, 2>({1, 5});
  CHECK(draft.refusal() == "tensor: b has extent 5 in dimension 1, expected 4");

  draft = scalar_draft();
  draft.tensors3["g"] = Array<double, 3>({3, 4, 2});
  draft.tensors3["h"] = Array<double, 3>({2, 4, 2});
  CHECK_THAT(draft.refusal(), Catch::Contains("h has batch 2"));

  draft = scalar_draft();
  draft.tensors3["a"] = Array<double, 3>({1, 4, 2});
  draft.tensors.erase("a");
  CHECK_THAT(draft.refusal(), Catch::Contains("tensor \"a\": it has rank 3, rank 2 is asked for"));

  draft = scalar_draft();
  draft.metadata["structmat.dtype"] = "float32";
  CHECK_THAT(draft.refusal(), Catch::Contains("its dtype is F64, F32 is asked for"));
}

TEST_CASE("a partition is checked before memory is taken") {
  const auto refused = [](auto&& spoil) {
    Draft draft = block_draft();
    spoil(draft);
    return draft.refusal();
  };
  const std::int64_t huge = std::int64_t{1} << 40;
  using Ints = std::vector<std::int64_t>;
  const auto with_offsets = [&](const Ints& offsets) {
    return refused([&](Draft& d) { d.integers["offsets"] = integers(offsets); });
  };
  const auto with_states = [&](const Ints& states) {
    return refused([&](Draft& d) { d.integers["lower_states"] = integers(states); });
  };
  CHECK(with_offsets({}) == "tensor offsets: it must begin with 0");
  CHECK(with_offsets({1, 2, 5}) == "tensor offsets: it must begin with 0");
  CHECK(with_offsets({0, 5, 2}) == "tensor offsets: element 2 is 2 after 5, it must increase");
  CHECK(with_offsets({0, 2, 2}) == "tensor offsets: element 2 is 2 after 2, it must increase");
  CHECK(with_offsets({0, 2, 6}) ==
        "tensor d: it has 13 numbers a matrix, partition and state sizes need 20");
  CHECK_THAT(with_offsets({0, 2, huge}),
             Catch::Contains("tensor d") && Catch::Contains("more than 64-bit arithmetic holds"));
  CHECK(with_states({0, 0}) == "tensor lower_states: 2 state sizes for 2 blocks, expected 3");
  CHECK(with_states({0, -1, 0}) == "tensor lower_states: the state size -1 is negative");
  CHECK(with_states({0, 2, 1}) ==
        "tensor lower_states: the first and the last state size must be 0");
  CHECK(with_states({0, 3, 0}) ==
        "tensor c: it has 6 numbers a matrix, partition and state sizes need 9");
  CHECK_THAT(with_states({0, huge, 0}), Catch::Contains("tensor c"));
  CHECK_THAT(refused([](Draft& d) {
               d.tensors["c"] = Array<double, 2>({2, 6});
             }),
             Catch::Contains("tensor c: it has batch 2, tensor d has 1"));
}

TEST_CASE("a shortened file is refused") {
  const test::TemporaryFolder folder;
  Quasiseparable<float, transition::Scalar> m;
  make(m, 2, 1);
  io::write_generators(folder / "m", m);
  test::check_truncated(test::read_text(folder / "m"), [](std::span<const std::byte> bytes) {
    return io::parse_generators(bytes, "prefix");
  });
}
