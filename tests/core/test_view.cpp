#include "structmat/core/view.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <span>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/operand.hpp"

using namespace structmat;

namespace {

/// Shaped like std::mdspan with a strided layout.
struct Span2 {
  double* data;
  std::array<std::size_t, 2> extents, strides;
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t r) const { return extents[r]; }
  std::size_t stride(std::size_t r) const { return strides[r]; }
  double* data_handle() const { return data; }
};

}  // namespace

TEST_CASE("a view is row-major unless told otherwise") {
  std::vector<double> numbers(24);
  for (int i = 0; i < 24; ++i) numbers[i] = i;
  const View<double, 3> v(numbers.data(), {2, 3, 4});
  CHECK(v(1, 2, 3) == 23);
  CHECK(v.size() == 24);
  CHECK(v.is_row_major());
  CHECK(v.transposed()(1, 3, 2) == 23);
  CHECK_FALSE(v.transposed().is_row_major());
  CHECK(v.select(1, 2)(1, 3) == 23);
  CHECK(v.slice(2, 1, 3)(0, 0, 1) == 2);
  CHECK(v.slice(2, 1, 3).extents() == std::array<index_t, 3>{2, 3, 2});
  CHECK(v.reversed(0).reversed(2)(0, 0, 0) == 15);
  CHECK(v.reversed(0).reversed(0)(1, 2, 3) == 23);
}

TEST_CASE("empty slices and empty views keep their pointer inside") {
  std::vector<float> numbers(3);
  const View<float, 1> v(numbers);
  CHECK(v.slice(0, 3, 3).empty());
  CHECK(v.slice(0, 2, 1).extent(0) == 0);
  CHECK(View<float, 2>{}.empty());
  CHECK((View<float, 2>(nullptr, {0, 5}).is_row_major()));
  CHECK(v.slice(0, 0, 0).reversed(0).data() == numbers.data());
}

TEST_CASE("broadcasting repeats an extent of 1 with stride 0") {
  std::vector<double> numbers{1, 2};
  const View<double, 2> v(numbers.data(), {1, 2});
  const auto many = v.broadcast(0, 5);
  CHECK(many.extent(0) == 5);
  CHECK(many.stride(0) == 0);
  CHECK(many(4, 1) == 2);
  CHECK(many.broadcast(0, 7).extent(0) == 5);  // only extents of 1 repeat
  CHECK(v.broadcast(0, 0).empty());
}

TEST_CASE("views of ranges and of things like mdspan") {
  std::vector<double> vector{1, 2, 3};
  const std::span<const double> span(vector);
  CHECK(View<const double, 1>(vector)(2) == 3);
  CHECK(View<const double, 1>(span).extent(0) == 3);
  CHECK(View<double, 1>(vector).data() == vector.data());
  STATIC_REQUIRE_FALSE(std::constructible_from<View<double, 1>, const std::vector<double>&>);
  STATIC_REQUIRE_FALSE(std::constructible_from<View<double, 1>, View<const double, 1>>);
  // A host pointer cannot reach a device function.
  STATIC_REQUIRE_FALSE(
      std::constructible_from<View<double, 1, space::cuda>, View<double, 1, space::host>>);

  const Span2 columns{vector.data(), {1, 3}, {7, 1}};
  const View<double, 2> v(columns);
  CHECK(v(0, 2) == 3);
  CHECK(v.stride(0) == 7);
}

TEST_CASE("overlap is judged by addresses, in any direction") {
  std::vector<double> numbers(10);
  const View<double, 1> v(numbers);
  CHECK(overlaps(v.slice(0, 0, 5), v.slice(0, 4, 10)));
  CHECK_FALSE(overlaps(v.slice(0, 0, 5), v.slice(0, 5, 10)));
  CHECK(overlaps(v.slice(0, 0, 5).reversed(0), v.slice(0, 4, 10)));
  CHECK_FALSE(overlaps(v.slice(0, 0, 5).reversed(0), v.slice(0, 5, 10).reversed(0)));
  CHECK_FALSE(overlaps(v.slice(0, 3, 3), v));
}

TEST_CASE("operands of rank 1, 2 and 3 become (batch, n, k)") {
  std::vector<double> x{1, 2, 3, 4, 5, 6};
  const auto column = as_batch(View<double, 1>(x));
  CHECK(column.extents() == std::array<index_t, 3>{1, 6, 1});
  CHECK(column(0, 4, 0) == 5);
  const auto matrix = as_batch(View<double, 2>(x.data(), {3, 2}));
  CHECK(matrix.extents() == std::array<index_t, 3>{1, 3, 2});
  CHECK(matrix(0, 2, 1) == 6);
}
