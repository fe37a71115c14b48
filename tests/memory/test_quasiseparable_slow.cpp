// Structured operations never hold an array of n x n, nor anything that grows with n where they
// promise not to.

#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "memory/counter.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/verify/rank_profile.hpp"
#include "support/random.hpp"

namespace structmat::test {
std::atomic<std::size_t> bytes_in_use{0}, bytes_at_peak{0};
}  // namespace structmat::test

namespace {

void* counted(void* pointer) {
  using structmat::test::bytes_at_peak;
  if (pointer == nullptr) throw std::bad_alloc();
  const std::size_t now = structmat::test::bytes_in_use += malloc_usable_size(pointer);
  std::size_t seen = bytes_at_peak;
  while (now > seen && !bytes_at_peak.compare_exchange_weak(seen, now)) {
  }
  return pointer;
}

void release(void* pointer) {
  if (pointer != nullptr) structmat::test::bytes_in_use -= malloc_usable_size(pointer);
  std::free(pointer);
}

}  // namespace

// The whole program counts: hence a program of its own, and none for a sanitizer, which has its own allocator.
void* operator new(std::size_t size) {
  return counted(std::malloc(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}

using namespace structmat;
using namespace structmat::test;

TEST_CASE("the counter counts") {
  CHECK(peak_of([] { Array<double, 1> a({1000}); }) >= 8000);
  CHECK(peak_of([] {}) == 0);
}

TEST_CASE("apply needs O(r k) memory, whatever n") {
  for (const index_t n : {1000, 200000}) {
    const auto m = random_quasiseparable<double, transition::Diagonal>(n, {4, 4}, 1, 1);
    const Array<double, 2> x({n, 24});
    Array<double, 2> y({n, 24});
    CHECK(peak_of([&] { apply(exec::cpu{1}, m, x, y); }) < 16 * 1024);
    CHECK(peak_of([&] { apply(exec::cpu{2}, m, x, y); }) < 32 * 1024);
    // One column, strided generators, a conjugated product: a chunk of rows is packed, no more.
    const auto column = to_array(x.view().select(1, 0));
    Array<double, 1> z({n});
    auto view = m.view();
    view.p = view.p.reversed(2);
    view.q = view.q.reversed(2);
    view.a = view.a.reversed(2);
    CHECK(peak_of([&] { apply(exec::cpu{2}, view, column, z); }) < 64 * 1024);
  }
}

TEST_CASE("block generators of a large matrix are applied within O(r k)") {
  const index_t n = 100000;
  const auto m = random_block_quasiseparable<double>(n, {5, 5}, 1, 2);
  const Array<double, 1> x({n});
  Array<double, 1> y({n});
  CHECK(peak_of([&] { apply(exec::cpu{}, m, x, y); }) < 4096);
}

TEST_CASE("compression and verification need O(n r)") {
  const index_t n = 1500, r = 4;
  const auto m = random_quasiseparable<double, transition::Diagonal>(n, {r, r}, 1, 3);
  const Array<double, 3> dense = m.to_dense();
  const auto view = dense.view().select(0, 0);
  const std::size_t square = n * n * sizeof(double);
  // Ten arrays of n x (r + block) for each triangle, and the result.
  const std::size_t linear = 2 * 10 * n * (r + 8) * sizeof(double);
  REQUIRE(linear < square / 4);
  CHECK(peak_of([&] { quasiseparable::from_dense(view); }) < linear);
  CHECK(peak_of([&] { verify::quasiseparable(view); }) < linear);
}
