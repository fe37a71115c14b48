/// \file
/// Array: an owning, row-major, zero-initialised block of memory in one space.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "structmat/core/error.hpp"
#include "structmat/core/export.hpp"
#include "structmat/core/view.hpp"

namespace structmat {

namespace detail {

/// Device memory. Throws NotAvailable without the CUDA component or without a device.
STRUCTMAT_EXPORT void* device_allocate(std::size_t bytes);
STRUCTMAT_EXPORT void device_free(void* pointer) noexcept;
STRUCTMAT_EXPORT void device_zero(void* pointer, std::size_t bytes);
STRUCTMAT_EXPORT void copy_host_to_device(void* device, const void* host, std::size_t bytes);
STRUCTMAT_EXPORT void copy_device_to_host(void* host, const void* device, std::size_t bytes);

/// Asks for huge pages for a large block, which streams through memory about 15 % faster with them.
STRUCTMAT_EXPORT void advise_huge_pages(void* pointer, std::size_t bytes) noexcept;

/// Cache lines and the widest vector registers are 64 bytes.
inline constexpr std::size_t alignment = 64;

template <class T, int Rank>
std::size_t checked_bytes(const std::array<index_t, Rank>& extents) {
  std::size_t count = 1;
  for (index_t e : extents) {
    if (e < 0) throw ShapeError("array: extent " + std::to_string(e) + " is negative");
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(e), &count)) {
      throw ShapeError("array: the number of elements exceeds 64-bit arithmetic");
    }
  }
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(T), &bytes) || bytes > PTRDIFF_MAX) {
    throw ShapeError("array: " + std::to_string(count) + " elements of " +
                     std::to_string(sizeof(T)) + " bytes exceed the address space");
  }
  return bytes;
}

struct HostMemory {
  static void* allocate(std::size_t bytes) {
    void* p = ::operator new (bytes, std::align_val_t{alignment});
    advise_huge_pages(p, bytes);
    return p;
  }
  static void zero(void* p, std::size_t bytes) { std::memset(p, 0, bytes); }
  void operator()(void* p) const noexcept { ::operator delete (p, std::align_val_t{alignment}); }
};

struct DeviceMemory {
  static void* allocate(std::size_t bytes) { return device_allocate(bytes); }
  static void zero(void* p, std::size_t bytes) { device_zero(p, bytes); }
  void operator()(void* p) const noexcept { device_free(p); }
};

template <class Space>
using Memory = std::conditional_t<std::same_as<Space, space::host>, HostMemory, DeviceMemory>;

}  // namespace detail

/// Tag: leave the elements of a new Array unset.
struct uninitialized_t {};
inline constexpr uninitialized_t uninitialized{};

/// Owns Rank-dimensional row-major memory in Space, aligned to 64 bytes. Host arrays copy deeply;
/// arrays on a device only move (transfers are explicit: copy()).
template <class T, int Rank, class Space = space::host>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using extents_type = std::array<index_t, Rank>;
  static constexpr int rank = Rank;
  static constexpr bool on_host = std::same_as<Space, space::host>;

  Array() = default;

  /// Zero-initialised. Throws ShapeError for a negative extent or an overflowing size.
  explicit Array(const extents_type& extents) : Array(extents, uninitialized) {
    if (size() > 0) detail::Memory<Space>::zero(data(), size() * sizeof(T));
  }

  Array(const extents_type& extents, uninitialized_t) : extents_(extents) {
    const std::size_t bytes = detail::checked_bytes<T, Rank>(extents);
    if (bytes > 0) memory_.reset(static_cast<T*>(detail::Memory<Space>::allocate(bytes)));
  }

  Array(Array&& other) noexcept
      : memory_(std::move(other.memory_)), extents_(std::exchange(other.extents_, {})) {}
  Array& operator=(Array&& other) noexcept {
    memory_ = std::move(other.memory_);
    extents_ = std::exchange(other.extents_, {});
    return *this;
  }

  Array(const Array& other) requires on_host : Array(other.extents_, uninitialized) {
    std::copy_n(other.data(), other.size(), data());
  }
  Array& operator=(const Array& other) requires on_host { return *this = Array(other); }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  index_t extent(int d) const { return extents_[d]; }
  const extents_type& extents() const { return extents_; }
  index_t size() const { return view().size(); }
  bool empty() const { return size() == 0; }

  View<T, Rank, Space> view() { return {data(), extents_}; }
  View<const T, Rank, Space> view() const { return {data(), extents_}; }
  operator View<T, Rank, Space>() { return view(); }
  operator View<const T, Rank, Space>() const { return view(); }

  template <class... I>
  requires(sizeof...(I) == Rank && on_host) T& operator()(I... i) { return view()(i...); }
  template <class... I>
  requires(sizeof...(I) == Rank && on_host) const T& operator()(I... i) const {
    return view()(i...);
  }

  T* begin() requires on_host { return data(); }
  T* end() requires on_host { return data() + size(); }
  const T* begin() const requires on_host { return data(); }
  const T* end() const requires on_host { return data() + size(); }

 private:
  std::unique_ptr<T[], detail::Memory<Space>> memory_;
  extents_type extents_{};
};

namespace detail {

template <class T, class U, int Rank>
void require_same_extents(const char* operation, const View<T, Rank>& from,
                          const View<U, Rank>& to) {
  for (int d = 0; d < Rank; ++d) {
    if (from.extent(d) != to.extent(d)) {
      throw ShapeError(std::string(operation) + ": the source has extent " +
                       std::to_string(from.extent(d)) + " in dimension " + std::to_string(d) +
                       ", the target " + std::to_string(to.extent(d)));
    }
  }
}

/// Throws ShapeError when a result does not have the extents that the operation produces.
template <class T, int Rank, class Space>
void require_extents(const char* operation, const View<T, Rank, Space>& result,
                     const std::array<index_t, Rank>& expected) {
  for (int d = 0; d < Rank; ++d) {
    if (result.extent(d) != expected[d]) {
      throw ShapeError(std::string(operation) + ": the result has extent " +
                       std::to_string(result.extent(d)) + " in dimension " + std::to_string(d) +
                       ", expected " + std::to_string(expected[d]));
    }
  }
}

/// Throws ShapeError when an index (batch, i, j) lies outside the extents.
inline void require_index(const char* operation, const std::array<index_t, 3>& extents,
                          const std::array<index_t, 3>& index) {
  for (int d = 0; d < 3; ++d) {
    if (index[d] < 0 || index[d] >= extents[d]) {
      const auto text = [](const std::array<index_t, 3>& t) {
        return "(" + std::to_string(t[0]) + ", " + std::to_string(t[1]) + ", " +
               std::to_string(t[2]) + ")";
      };
      throw ShapeError(std::string(operation) + ": index " + text(index) + ", the extents are " +
                       text(extents));
    }
  }
}

template <class T, int Rank>
void copy_elements(const View<const T, Rank>& from, const View<T, Rank>& to) {
  if constexpr (Rank == 1) {
    for (index_t i = 0; i < from.extent(0); ++i) to(i) = from(i);
  } else {
    for (index_t i = 0; i < from.extent(0); ++i) {
      copy_elements<T, Rank - 1>(from.select(0, i), to.select(0, i));
    }
  }
}

}  // namespace detail

/// to := from, element by element, any strides; the views must not overlap. Throws ShapeError.
template <class T, int Rank>
void copy(const View<const T, Rank>& from, const View<T, Rank>& to) {
  detail::require_same_extents("copy", from, to);
  if (from.empty()) return;
  if (from.is_row_major() && to.is_row_major()) {
    std::copy_n(from.data(), from.size(), to.data());
  } else {
    detail::copy_elements<T, Rank>(from, to);
  }
}
template <class T, int Rank>
void copy(const View<T, Rank>& from, const View<T, Rank>& to) {
  copy(View<const T, Rank>(from), to);
}

/// A row-major copy of a view, or of an Array.
template <class T, int Rank>
Array<std::remove_const_t<T>, Rank> to_array(const View<T, Rank>& from) {
  Array<std::remove_const_t<T>, Rank> a(from.extents(), uninitialized);
  copy(View<const std::remove_const_t<T>, Rank>(from), a.view());
  return a;
}

/// A copy on the device. Blocking. Throws NotAvailable or BackendError.
template <class T, int Rank>
Array<T, Rank, space::cuda> to_device(const Array<T, Rank>& from) {
  Array<T, Rank, space::cuda> a(from.extents(), uninitialized);
  if (!from.empty()) detail::copy_host_to_device(a.data(), from.data(), from.size() * sizeof(T));
  return a;
}

/// A copy on the host. Blocking: waits for the device. Throws BackendError.
template <class T, int Rank>
Array<T, Rank> to_host(const Array<T, Rank, space::cuda>& from) {
  Array<T, Rank> a(from.extents(), uninitialized);
  if (!from.empty()) detail::copy_device_to_host(a.data(), from.data(), from.size() * sizeof(T));
  return a;
}

}  // namespace structmat
