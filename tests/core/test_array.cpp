#include "structmat/core/array.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

using namespace structmat;

TEST_CASE("an array starts as zeros, aligned, and copies deeply") {
  Array<double, 2> a({3, 5});
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % detail::alignment == 0);
  for (const double v : a) CHECK(v == 0);
  a(2, 4) = 7;
  Array<double, 2> b = a;
  a(2, 4) = 8;
  CHECK(b(2, 4) == 7);
  b = a;
  CHECK(b(2, 4) == 8);
  const Array<double, 2> c = std::move(a);
  CHECK(c(2, 4) == 8);
  CHECK(a.extents() == std::array<index_t, 2>{0, 0});
}

TEST_CASE("empty arrays") {
  CHECK(Array<float, 2>().empty());
  const Array<float, 3> a({4, 0, 2});
  CHECK(a.empty());
  CHECK(a.begin() == a.end());
  CHECK(to_array(a.view()).extent(0) == 4);
}

TEST_CASE("impossible extents are refused before anything is allocated") {
  using Extents = std::array<index_t, 3>;
  CHECK_THROWS_AS((Array<double, 3>(Extents{1, -2, 3})), ShapeError);
  const index_t huge = index_t{1} << 40;
  CHECK_THROWS_AS((Array<double, 3>(Extents{huge, huge, 2})), ShapeError);
  CHECK_THROWS_AS((Array<double, 1>({INT64_MAX})), ShapeError);
#if !STRUCTMAT_SANITIZED  // whose allocators end the program
  CHECK_THROWS_AS((Array<double, 1>({INT64_MAX / 8})), std::bad_alloc);
#endif
}

TEST_CASE("copies between any strides") {
  Array<int, 2> a({3, 4});
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = int(i);
  Array<int, 2> t({4, 3});
  copy(a.view().transposed(), t.view());
  CHECK(t(3, 1) == a(1, 3));
  Array<int, 2> r({3, 4});
  copy(a.view(), r.view().reversed(0).reversed(1));
  CHECK(r(0, 0) == a(2, 3));
  CHECK_THROWS_AS(copy(a.view(), t.view()), ShapeError);
}
