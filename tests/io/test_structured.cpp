// Structured matrices in files: all 44 types make the round trip, and every inconsistency is named.
#include "structmat/io/structured.hpp"

#include <catch2/catch.hpp>

#include "structmat/io/safetensors.hpp"
#include "support/files.hpp"
#include "support/random.hpp"

using namespace structmat;
using test::message_of;
using test::same_bits;

namespace {

template <template <class, class> class Family, class M>
inline constexpr bool is = false;
template <template <class, class> class Family, class T>
inline constexpr bool is<Family, Family<T, space::host>> = true;

/// Zero parts, m x n where the family has both.
template <class M>
M make(index_t m, index_t n, index_t batch) {
  if constexpr (is<Circulant, M> || is<SkewCirculant, M>) {
    return M(m, batch);
  } else if constexpr (is<CauchyLike, M> || is<LowRank, M>) {
    return M(m, n, 2, batch);
  } else if constexpr (is<Butterfly, M>) {
    return M(m, n, 2, Strides::decreasing, batch);
  } else if constexpr (is<Monarch, M>) {
    return M({2, 3, n}, {3, m, 2}, batch);
  } else {
    return M(m, n, batch);
  }
}

struct Filler {
  test::Random& random;
  template <class T, int Rank>
  void array(const char*, Array<T, Rank>& a) const {
    random.fill(a);
  }
  template <class... A>
  void shape(const A&...) const {}
  template <class Names, class E>
  void choice(const char*, const Names&, E& value) const {
    value = static_cast<E>(1);
  }
};

struct Comparison {
  template <class T, int Rank>
  void array(const char* name, const Array<T, Rank>& a, const Array<T, Rank>& b) const {
    INFO(name);
    CHECK(same_bits(a, b));
  }
  void shape(index_t a, index_t b, index_t c, index_t d) const {
    CHECK(a == b);
    CHECK(c == d);
  }
  void shape(io::detail::Follows, io::detail::Follows, index_t c, index_t d) const {
    CHECK(c == d);
  }
  void shape(index_t a, index_t b, io::detail::Follows, io::detail::Follows) const {
    CHECK(a == b);
  }
  template <class Names, class E>
  void choice(const char*, const Names&, const E& a, const E& b) const {
    CHECK(a == b);
  }
};

template <class M>
void check_round_trip(const test::TemporaryFolder& folder, test::Random& random) {
  for (const auto& [m, n] : {std::array<index_t, 2>{0, 0}, {1, 1}, {5, 3}, {0, 4}}) {
    for (const index_t batch : {1, 2}) {
      auto matrix = make<M>(m, n, batch);
      Filler filler{random};
      io::detail::visit_parts(std::type_identity<M>{}, filler, matrix);
      INFO(io::family_name<M>() << ", " << m << " x " << n << ", batch " << batch);
      io::write_structured(folder / "m.safetensors", matrix);
      CHECK(io::stored_family(folder / "m.safetensors") == io::family_name<M>());
      const auto any = io::read_structured(folder / "m.safetensors");
      const auto* family = std::get_if<io::AnyScalar<Toeplitz>>(&any);
      CHECK((family != nullptr) == is<Toeplitz, M>);
      std::visit(
          [&](const auto& scalars) {
            std::visit(
                [&]<class Back>(const Back& back) {
                  if constexpr (std::same_as<Back, M>) {
                    Comparison comparison;
                    io::detail::visit_parts(std::type_identity<M>{}, comparison, matrix, back);
                    CHECK(back.rows() == matrix.rows());
                    CHECK(back.cols() == matrix.cols());
                  } else {
                    FAIL("another type came back");
                  }
                },
                scalars);
          },
          any);
      io::write_structured(folder / "any.safetensors", any);
      CHECK(test::read_text(folder / "m.safetensors") ==
            test::read_text(folder / "any.safetensors"));
    }
  }
}

template <class... M>
void check_family(const std::type_identity<std::variant<M...>>&,
                  const test::TemporaryFolder& folder) {
  test::Random random(1);
  (check_round_trip<M>(folder, random), ...);
}
template <class... F>
void check_all(const std::type_identity<std::variant<F...>>&, const test::TemporaryFolder& folder) {
  (check_family(std::type_identity<F>{}, folder), ...);
}

/// A file that tests may spoil.
struct Draft {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Array<double, 2>> tensors{};
  std::map<std::string, Array<double, 4>> tensors4{};
  std::vector<index_t> shape{};

  std::string refusal() const {
    const test::TemporaryFolder folder;
    const auto path = folder / "draft.safetensors";
    std::vector<io::NamedTensor> all;
    for (const auto& [name, array] : tensors) all.emplace_back(name, array);
    for (const auto& [name, array] : tensors4) all.emplace_back(name, array);
    if (!shape.empty()) all.emplace_back("shape", View<const index_t, 1>(shape));
    io::write_safetensors(path, all, metadata);
    const std::string message = message_of<FileError>([&] { io::read_structured(path); });
    CHECK_THAT(message, Catch::Contains(path.string()));
    return message.substr(message.find(path.string()) + path.string().size() + 2);
  }
};

Draft draft(const std::string& family) {
  return {
      {{"structmat.family", family}, {"structmat.format", "1"}, {"structmat.dtype", "float64"}}};
}

Draft toeplitz_draft() {
  Draft d = draft("toeplitz");
  d.tensors["lags"] = Array<double, 2>({1, 6});
  d.shape = {4, 3};
  return d;
}

}  // namespace

TEST_CASE("all structured matrices make the round trip") {
  const test::TemporaryFolder folder;
  check_all(std::type_identity<io::AnyStructured>{}, folder);
  CHECK(folder.files() == 2);
}

TEST_CASE("a scalar type is widened with everything else kept") {
  Cauchy<float> m(2, 3);
  m.s(0, 1) = 0.5F;
  m.coincidence = Coincidence::skip;
  const Cauchy<std::complex<double>> wide = io::with_scalar<std::complex<double>>(m);
  CHECK(wide.s(0, 1) == 0.5);
  CHECK(wide.cols() == 3);
  CHECK(wide.coincidence == Coincidence::skip);
  const auto v = io::with_scalar<double>(LogVandermonde<float>(7, 2));
  CHECK(v.rows() == 7);
  CHECK(v.cols() == 2);
}

TEST_CASE("metadata decides which matrix a file holds") {
  for (const char* key : {"structmat.family", "structmat.format", "structmat.dtype"}) {
    Draft d = toeplitz_draft();
    d.metadata[key] = "nonsense";
    CHECK_THAT(d.refusal(), Catch::StartsWith("metadata: no such matrix: family ") &&
                                Catch::Contains("\"nonsense\""));
    d.metadata.erase(key);
    CHECK(d.refusal() == "metadata " + std::string(key) + ": missing");
  }
  Draft d = draft("cauchy");
  d.tensors["s"] = d.tensors["t"] = Array<double, 2>({1, 2});
  CHECK(d.refusal() == "metadata structmat.coincidence: missing");
  d.metadata["structmat.coincidence"] = "ignore";
  CHECK(d.refusal() == "metadata structmat.coincidence: no such value: \"ignore\"");
}

TEST_CASE("parts that do not fit are named") {
  Draft d = toeplitz_draft();
  d.tensors.erase("lags");
  CHECK(d.refusal() == "tensor lags: missing");
  d = toeplitz_draft();
  d.shape = {4, 4};
  CHECK(d.refusal() == "tensor: lags has extent 6 in dimension 1, expected 7");
  d.shape = {4};
  CHECK(d.refusal() == "tensor shape: it has 1 numbers, expected 2: rows and columns");
  d.shape = {-1, 8};
  CHECK(d.refusal() == "tensor shape: the extent -1 is negative");
  d.shape = {INT64_MAX, INT64_MAX};
  CHECK(d.refusal() == "tensor shape: an extent exceeds 2^61");
  d = toeplitz_draft();
  d.tensors["x"] = Array<double, 2>({1, 1});
  CHECK(d.refusal() == "tensor \"x\": generators of this kind have no such tensor");

  d = draft("vandermonde");
  d.tensors["x"] = Array<double, 2>({1, 5});
  d.shape = {4, 9};
  CHECK(d.refusal() == "tensor shape: it says 4 rows, the nodes are 5");

  d = draft("monarch");
  d.tensors4["w1"] = Array<double, 4>({1, 2, 3, 4});
  d.tensors4["w2"] = Array<double, 4>({1, 2, 3, 2});
  CHECK(d.refusal() == "tensor: w1 gives 6 numbers, w2 takes 4");
}

TEST_CASE("parts that do not fit together are not written") {
  const test::TemporaryFolder folder;
  LowRank<double> m(4, 3, 2);
  m.v = Array<double, 3>({1, 3, 1});
  CHECK_THROWS_AS(io::write_structured(folder / "m", m), ShapeError);
  CHECK(folder.files() == 0);
}
