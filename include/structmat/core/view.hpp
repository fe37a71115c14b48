/// \file
/// View: a pointer with extents and strides. Host and device views are different types, so that a
/// host pointer cannot reach a device function.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include "structmat/core/scalar.hpp"

namespace structmat {

/// Where memory lies.
namespace space {
struct host {};
struct cuda {};
}  // namespace space

template <class T, int Rank, class Space>
class View;

namespace detail {

/// Anything shaped like std::mdspan: extent(r), stride(r), data_handle().
template <class M, class T, int Rank>
concept MdspanLike = requires(const M& m, std::size_t r) {
  { M::rank() } -> std::convertible_to<std::size_t>;
  { m.extent(r) } -> std::convertible_to<index_t>;
  { m.stride(r) } -> std::convertible_to<index_t>;
  { m.data_handle() } -> std::convertible_to<T*>;
}
&&(M::rank() == Rank);

template <int Rank>
constexpr std::array<index_t, Rank> row_major_strides(const std::array<index_t, Rank>& extents) {
  std::array<index_t, Rank> strides{};
  index_t step = 1;
  for (int d = Rank - 1; d >= 0; --d) {
    strides[d] = step;
    step *= extents[d];
  }
  return strides;
}

}  // namespace detail

/// A non-owning Rank-dimensional array: element (i_0, ..., i_{Rank-1}) lies at
/// data[i_0 * stride(0) + ... ]; strides count elements and may be zero (broadcast) or negative
/// (reversed). Copying a view copies the pointer; constness of the elements is in T.
template <class T, int Rank, class Space = space::host>
class View {
  static_assert(Rank >= 1);

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using space_type = Space;
  using extents_type = std::array<index_t, Rank>;
  static constexpr int rank = Rank;

  /// All extents zero.
  constexpr View() = default;

  /// Row-major.
  constexpr View(T* data, const extents_type& extents)
      : data_(data), extents_(extents), strides_(detail::row_major_strides<Rank>(extents)) {}

  constexpr View(T* data, const extents_type& extents, const extents_type& strides)
      : data_(data), extents_(extents), strides_(strides) {}

  /// View<T> to View<const T>.
  template <class U>
  requires(!std::same_as<U, T> &&
           std::convertible_to<U (*)[], T (*)[]>) constexpr View(const View<U, Rank, Space>& other)
      : data_(other.data()), extents_(other.extents()), strides_(other.strides()) {}

  /// From anything shaped like std::mdspan (host memory).
  template <class M>
  requires(std::same_as<Space, space::host>&& detail::MdspanLike<M, T, Rank>) constexpr View(
      const M& m)
      : data_(m.data_handle()) {
    for (int d = 0; d < Rank; ++d) {
      extents_[d] = static_cast<index_t>(m.extent(d));
      strides_[d] = static_cast<index_t>(m.stride(d));
    }
  }

  /// From std::vector, std::span, std::array and other contiguous ranges.
  template <class R>
  requires(Rank == 1 && std::same_as<Space, space::host> && std::ranges::contiguous_range<R> &&
           std::ranges::sized_range<R> &&
           std::convertible_to<std::remove_reference_t<std::ranges::range_reference_t<R>> (*)[],
                               T (*)[]>) constexpr View(R&& range)
      : data_(std::ranges::data(range)),
        extents_{static_cast<index_t>(std::ranges::size(range))},
        strides_{1} {}

  constexpr T* data() const { return data_; }
  constexpr index_t extent(int d) const { return extents_[d]; }
  constexpr index_t stride(int d) const { return strides_[d]; }
  constexpr const extents_type& extents() const { return extents_; }
  constexpr const extents_type& strides() const { return strides_; }

  /// Number of (logical) elements.
  constexpr index_t size() const {
    index_t n = 1;
    for (index_t e : extents_) n *= e;
    return n;
  }
  constexpr bool empty() const { return size() == 0; }

  /// Unchecked element access.
  template <class... I>
  requires(sizeof...(I) == Rank && std::same_as<Space, space::host> &&
           (std::convertible_to<I, index_t> && ...)) constexpr T&
  operator()(I... i) const {
    return data_[offset(static_cast<index_t>(i)...)];
  }

  template <class... I>
  requires(sizeof...(I) == Rank) constexpr index_t offset(I... i) const {
    const extents_type at{static_cast<index_t>(i)...};
    index_t o = 0;
    for (int d = 0; d < Rank; ++d) o += at[d] * strides_[d];
    return o;
  }

  /// Elements begin <= i < end of dimension d.
  constexpr View slice(int d, index_t begin, index_t end) const {
    View v = *this;
    if (end > begin) v.data_ += begin * strides_[d];
    v.extents_[d] = end > begin ? end - begin : 0;
    return v;
  }

  /// The sub-array with index i in dimension d.
  constexpr View<T, Rank - 1, Space> select(int d, index_t i) const requires(Rank >= 2) {
    std::array<index_t, Rank - 1> e{}, s{};
    for (int from = 0, to = 0; from < Rank; ++from) {
      if (from == d) continue;
      e[to] = extents_[from];
      s[to++] = strides_[from];
    }
    return {data_ + i * strides_[d], e, s};
  }

  /// Dimension d in the opposite order.
  constexpr View reversed(int d) const {
    View v = *this;
    if (extents_[d] > 0) v.data_ += (extents_[d] - 1) * strides_[d];
    v.strides_[d] = -strides_[d];
    return v;
  }

  /// The last two dimensions exchanged.
  constexpr View transposed() const requires(Rank >= 2) {
    View v = *this;
    std::swap(v.extents_[Rank - 1], v.extents_[Rank - 2]);
    std::swap(v.strides_[Rank - 1], v.strides_[Rank - 2]);
    return v;
  }

  /// Dimension d, of extent 1, repeated n times without a copy (stride 0). Of extent n: unchanged.
  constexpr View broadcast(int d, index_t n) const {
    View v = *this;
    if (extents_[d] == 1 && n != 1) {
      v.extents_[d] = n;
      v.strides_[d] = 0;
    }
    return v;
  }

  /// Are the elements dense in row-major order? (Extents 0 and 1 put no condition on their stride.)
  constexpr bool is_row_major() const {
    index_t step = 1;
    for (int d = Rank - 1; d >= 0; --d) {
      if (extents_[d] == 0) return true;
      if (extents_[d] != 1 && strides_[d] != step) return false;
      step *= extents_[d];
    }
    return true;
  }

 private:
  T* data_ = nullptr;
  extents_type extents_{};
  extents_type strides_{};
};

namespace detail {

/// First and one-past-last address that a view can touch.
template <class T, int Rank, class Space>
std::pair<const std::byte*, const std::byte*> address_range(const View<T, Rank, Space>& v) {
  const auto* base = reinterpret_cast<const std::byte*>(v.data());
  if (v.empty()) return {base, base};
  index_t low = 0, high = 0;
  for (int d = 0; d < Rank; ++d) {
    const index_t reach = (v.extent(d) - 1) * v.stride(d);
    (reach < 0 ? low : high) += reach;
  }
  const auto width = static_cast<index_t>(sizeof(T));
  return {base + low * width, base + (high + 1) * width};
}

}  // namespace detail

/// Can the two views share memory? Compares address ranges, so interleaved views count as
/// overlapping.
template <class T, int R1, class U, int R2, class Space>
bool overlaps(const View<T, R1, Space>& a, const View<U, R2, Space>& b) {
  const auto [a0, a1] = detail::address_range(a);
  const auto [b0, b1] = detail::address_range(b);
  return a0 < b1 && b0 < a1;
}

/// The (batch, rows, right-hand sides) form that operations compute in:
/// (n) becomes (1, n, 1); (n, k) becomes (1, n, k); (b, n, k) stays.
template <class T, int Rank, class Space>
requires(Rank <= 3) constexpr View<T, 3, Space> as_batch(const View<T, Rank, Space>& v) {
  if constexpr (Rank == 3) {
    return v;
  } else if constexpr (Rank == 2) {
    return {v.data(), {1, v.extent(0), v.extent(1)}, {0, v.stride(0), v.stride(1)}};
  } else {
    return {v.data(), {1, v.extent(0), 1}, {0, v.stride(0), 1}};
  }
}

}  // namespace structmat
