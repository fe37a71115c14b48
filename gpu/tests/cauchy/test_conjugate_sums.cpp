// Sums over poles in conjugate pairs: the definition, the host and the device.
#include "structmat/cauchy/conjugate_sums.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/core/array.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
using Wide = std::complex<std::conditional_t<sizeof(real_t<T>) == 4, double, long double>>;

/// Weights, poles, nodes.
template <class T>
struct Data {
  Array<T, 2> v, w, z;

  Data(index_t batch, index_t poles, index_t nodes, Random& random, index_t node_batch = 1)
      : v(random.array<T, 2>({batch, poles})),
        w(random.array<T, 2>({batch, poles})),
        z(random.array<T, 2>({node_batch, nodes})) {}

  /// The worst error of out in units of eps times the sum of absolute terms.
  double worst_error(const Array<T, 2>& out) const {
    double worst = 0;
    for (index_t b = 0; b < out.extent(0); ++b) {
      for (index_t l = 0; l < out.extent(1); ++l) {
        const Wide<T> node(z(z.extent(0) == 1 ? 0 : b, l));
        Wide<T> sum{};
        double scale = 0;
        for (index_t n = 0; n < v.extent(1); ++n) {
          const Wide<T> weight(v(b, n)), pole(w(b, n));
          const Wide<T> one = weight / (node - pole),
                        other = std::conj(weight) / (node - std::conj(pole));
          sum += one + other;
          scale += double(std::abs(one) + std::abs(other));
        }
        const double error = double(std::abs(sum - Wide<T>(out(b, l)))) / scale;
        if (scale == 0 && out(b, l) == T{}) continue;
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      }
    }
    return worst / double(epsilon<T>);
  }

  Array<T, 2> on_host() const {
    Array<T, 2> out({v.extent(0), z.extent(1)});
    cauchy::conjugate_sums<T>(exec::cpu{}, v.view(), w.view(), z.view(), out.view());
    return out;
  }
  template <class How>
  Array<T, 2> on_device(const How& how) const {
    const auto vd = to_device(v), wd = to_device(w), zd = to_device(z);
    Array<T, 2, space::cuda> out({v.extent(0), z.extent(1)});
    Array<std::byte, 1, space::cuda> workspace(
        {cauchy::conjugate_sums_workspace_bytes<T>(v.extent(0), v.extent(1), z.extent(1))});
    how([&](void* stream) {
      cauchy::conjugate_sums<T>(exec::cuda{stream, workspace}, vd.view(), wd.view(), zd.view(),
                                out.view());
    });
    return to_host(out);
  }
};
constexpr auto directly = [](const auto& call) { call(nullptr); };

template <class A>
double distance_of(const A& a, const A& b) {
  double worst = 0, size = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(a.data()[i] - b.data()[i]);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    size = std::max<double>(size, std::abs(a.data()[i]));
  }
  return size > 0 ? worst / size : worst;
}

/// Nodes on the imaginary axis and poles left of it, as state-space models have them.
template <class T>
Data<T> model(index_t batch, index_t poles, index_t nodes, Random& random) {
  Data<T> data(batch, poles, nodes, random);
  using R = real_t<T>;
  for (index_t l = 0; l < nodes; ++l)
    data.z(0, l) = T(0, R(2000 * std::tan(M_PI * double(l) / double(nodes))));
  for (index_t b = 0; b < batch; ++b) {
    for (index_t n = 0; n < poles; ++n) data.w(b, n) = T(R(-0.5), R(M_PI * double(n)));
  }
  return data;
}

}  // namespace

TEMPLATE_TEST_CASE("sums over conjugate pairs match the definition", "[cauchy_conjugate_sums]",
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const auto& [batch, poles, nodes, node_batch] : {std::array<index_t, 4>{1, 1, 1, 1},
                                                        {2, 3, 7, 1},
                                                        {3, 48, 129, 3},
                                                        {1, 32, 600, 1},
                                                        {2, 5, 0, 1},
                                                        {2, 0, 5, 2},
                                                        {0, 3, 3, 0},
                                                        {1, 1300, 40, 1}}) {
    INFO("batch " << batch << ", poles " << poles << ", nodes " << nodes);
    const Data<T> data(batch, poles, nodes, random, node_batch);
    const double tolerance = double(poles) + 12;
    CHECK(data.worst_error(data.on_host()) <= tolerance);
    CHECK(data.worst_error(data.on_device(directly)) <= tolerance);
  }
  const auto s4 = model<T>(2, 32, 1000, random);
  CHECK(s4.worst_error(s4.on_device(directly)) <= 44);
  CHECK(s4.worst_error(s4.on_host()) <= 44);
}

TEMPLATE_TEST_CASE("sums over conjugate pairs at nodes and poles of every size",
                   "[cauchy_conjugate_sums]", std::complex<float>, std::complex<double>) {
  using T = TestType;
  using R = real_t<T>;
  Random random(2);
  Data<T> data(1, 20, 150, random);
  const double spread = sizeof(R) == 4 ? 15 : 140;
  for (auto* nodes : {&data.w, &data.z}) {
    for (T& v : *nodes) v *= R(std::pow(10.0, spread * random.real()));
  }
  data.z(0, 3) = T(0, INFINITY);
  const auto out = data.on_device(directly);
  CHECK(out(0, 3) == T{});
  data.z(0, 3) = T(1);
  CHECK(data.worst_error(data.on_device(directly)) <= 32);
  CHECK(data.worst_error(data.on_host()) <= 32);
  data.z(0, 7) = data.w(0, 4);
  data.z(0, 8) = T(R(NAN));
  const auto hit = data.on_device(directly);
  for (index_t l = 0; l < 150; ++l) CHECK(std::isfinite(std::abs(hit(0, l))) == (l != 7 && l != 8));
}

TEST_CASE("sums over conjugate pairs: many nodes, repeatable, independent of the batch, in a graph",
          "[cauchy_conjugate_sums]") {
  using T = std::complex<float>;
  Random random(3);
  const auto data = model<T>(3, 33, quick() ? 1025 : 1'048'577, random);
  const auto out = data.on_device(directly);
  const index_t nodes = out.extent(1);
  for (const index_t l : {index_t{0}, index_t{1}, nodes / 2, nodes - 1}) {
    Data<T> one(3, 33, 1, random);
    one.v = data.v, one.w = data.w;
    one.z(0, 0) = data.z(0, l);
    Array<T, 2> sums({3, 1});
    for (index_t b = 0; b < 3; ++b) sums(b, 0) = out(b, l);
    CHECK(one.worst_error(sums) <= 45);
  }
  CHECK(same_bits(data.on_device([](const auto& run) { replay(run); }), out));
  Data<T> alone(1, 33, 1, random);
  std::copy_n(data.v.data() + 33, 33, alone.v.data());
  std::copy_n(data.w.data() + 33, 33, alone.w.data());
  alone.z = data.z;
  const auto second = alone.on_device(directly);
  CHECK(std::equal(second.begin(), second.end(), out.data() + nodes));
}

TEMPLATE_TEST_CASE("gradients of sums over conjugate pairs", "[cauchy_conjugate_sums]",
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(4);
  for (const index_t shared : {0, 1}) {
    Data<T> data(2, 37, 1100, random);
    for (T& w : data.w) w += T(4);
    const auto out_bar = random.array<T, 2>({2, 1100});
    const index_t bars = shared == 1 ? 1 : 2;
    auto v_bar = random.array<T, 2>({bars, 37}), w_bar = random.array<T, 2>({bars, 37});
    auto z_bar = random.array<T, 2>({bars, 1100});
    auto vd_bar = to_device(v_bar), wd_bar = to_device(w_bar), zd_bar = to_device(z_bar);
    cauchy::conjugate_sums_vjp<T>(exec::cpu{}, data.v.view(), data.w.view(), data.z.view(),
                                  out_bar.view(), {v_bar.view(), w_bar.view(), z_bar.view()});
    const auto vd = to_device(data.v), wd = to_device(data.w), zd = to_device(data.z);
    const auto out_bar_there = to_device(out_bar);
    Array<std::byte, 1, space::cuda> workspace(
        {cauchy::conjugate_sums_vjp_workspace_bytes<T>(2, 37, 1100)});
    cauchy::conjugate_sums_vjp<T>(exec::cuda{nullptr, workspace}, vd.view(), wd.view(), zd.view(),
                                  out_bar_there.view(),
                                  {vd_bar.view(), wd_bar.view(), zd_bar.view()});
    CHECK(distance_of(v_bar, to_host(vd_bar)) <= 64 * double(epsilon<T>));
    CHECK(distance_of(w_bar, to_host(wd_bar)) <= 64 * double(epsilon<T>));
    CHECK(distance_of(z_bar, to_host(zd_bar)) <= 64 * double(epsilon<T>));
  }
}

TEST_CASE("gradients of sums over conjugate pairs are derivatives", "[cauchy_conjugate_sums]") {
  using T = std::complex<double>;
  Random random(5);
  Data<T> data(1, 3, 4, random);
  for (T& w : data.w) w += T(4);
  const auto out_bar = random.array<T, 2>({1, 4});
  Array<T, 2> v_bar({1, 3}), w_bar({1, 3}), z_bar({1, 4});
  cauchy::conjugate_sums_vjp<T>(exec::cpu{}, data.v.view(), data.w.view(), data.z.view(),
                                out_bar.view(), {v_bar.view(), w_bar.view(), z_bar.view()});
  const auto loss = [&] {
    const auto out = data.on_host();
    double sum = 0;
    for (index_t l = 0; l < 4; ++l) sum += std::real(std::conj(out_bar(0, l)) * out(0, l));
    return sum;
  };
  const auto check = [&](Array<T, 2>& at, const Array<T, 2>& bar) {
    for (index_t i = 0; i < at.size(); ++i) {
      for (const T direction : {T(1, 0), T(0, 1)}) {
        const T kept = at.data()[i];
        const double step = 1e-5;
        at.data()[i] = kept + step * direction;
        const double after = loss();
        at.data()[i] = kept - step * direction;
        const double before = loss();
        at.data()[i] = kept;
        const double expected = std::real(std::conj(bar.data()[i]) * direction);
        CHECK((after - before) / (2 * step) == Approx(expected).margin(1e-8));
      }
    }
  };
  check(data.v, v_bar);
  check(data.w, w_bar);
  check(data.z, z_bar);
}

TEST_CASE("sums over conjugate pairs refuse what does not fit", "[cauchy_conjugate_sums]") {
  using T = std::complex<float>;
  Random random(6);
  const Data<T> data(2, 3, 4, random);
  Array<T, 2> short_out({2, 3});
  CHECK(message_from<ShapeError>([&] {
          cauchy::conjugate_sums<T>(exec::cpu{}, data.v.view(), data.w.view(), data.z.view(),
                                    short_out.view());
        }) == "cauchy::conjugate_sums: out is 2 x 3, the sums are 2 x 4");
  const auto vd = to_device(data.v), wd = to_device(data.w), zd = to_device(data.z);
  const auto run = [&](const View<T, 2, space::cuda>& out) {
    cauchy::conjugate_sums<T>(exec::cuda{}, vd.view(), wd.view(), zd.view(), out);
  };
  Array<T, 2, space::cuda> out({2, 3});
  CHECK_THROWS_AS(run(out.view()), ShapeError);
  CHECK_THROWS_AS(run(View<T, 2, space::cuda>(out.data(), {2, 4}, {0, 1})), Unsupported);
  CHECK_THROWS_AS(run(View<T, 2, space::cuda>(const_cast<T*>(vd.data()), {2, 4})), DomainError);
}
