/// \file
/// A matrix or a plan on the device as the battery of tests/support/battery.hpp sees it: operands and
/// results lie on the host and travel for each product. So one battery serves the CPU and its twins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"
#include "structmat/core/device.hpp"

namespace structmat::test {

/// Host memory [first, last) that some views touch, and its copy on the device, gaps included, so
/// that strides, overlaps and untouched gaps are those of the host.
class Mirror {
 public:
  template <class T, int Rank>
  void cover(const View<T, Rank>& v) {
    if (v.empty()) return;
    auto low = reinterpret_cast<std::uintptr_t>(v.data()), high = low + sizeof(T);
    for (int d = 0; d < Rank; ++d) {
      const std::intptr_t reach = (v.extent(d) - 1) * v.stride(d) * index_t{sizeof(T)};
      (reach < 0 ? low : high) += reach;
    }
    first_ = first_ == 0 ? low : std::min(first_, low);
    last_ = std::max(last_, high);
  }

  void send() {
    memory_ =
        Array<std::byte, 1, space::cuda>({static_cast<index_t>(last_ - first_)}, uninitialized);
    if (last_ > first_)
      detail::copy_host_to_device(memory_.data(), reinterpret_cast<void*>(first_), last_ - first_);
  }
  void fetch() const {
    if (last_ > first_)
      detail::copy_device_to_host(reinterpret_cast<void*>(first_), memory_.data(), last_ - first_);
  }

  template <class T, int Rank>
  View<T, Rank, space::cuda> operator()(const View<T, Rank>& v) {
    T* data = nullptr;
    if (!v.empty()) {
      data = reinterpret_cast<T*>(memory_.data() +
                                  (reinterpret_cast<std::uintptr_t>(v.data()) - first_));
    }
    return {data, v.extents(), v.strides()};
  }

 private:
  std::uintptr_t first_ = 0, last_ = 0;
  Array<std::byte, 1, space::cuda> memory_;
};

/// Host: the twin on the CPU, for entries, to_dense and absolute generators. Device: what
/// apply(exec::cuda, ...) takes; it may be a plan, and then keeps its own workspace size.
template <class Host, class Device>
class OnDevice : public OperatorMembers<OnDevice<Host, Device>, typename Host::value_type> {
 public:
  using value_type = typename Host::value_type;

  OnDevice(Host host, Device device) : host_(std::move(host)), device_(std::move(device)) {}

  index_t batch() const { return host_.batch(); }
  index_t rows() const { return host_.rows(); }
  index_t cols() const { return host_.cols(); }
  const OnDevice& view() const { return *this; }

  const Host& host() const { return host_; }
  const Device& device() const { return device_; }

 private:
  Host host_;
  Device device_;
};

template <class Host>
auto on_device(const Host& host) {
  auto device = to_device(host);
  return OnDevice<Host, decltype(device)>(host, std::move(device));
}
template <class Host, class Device>
auto on_device(const Host& host, Device device) {
  return OnDevice<Host, Device>(host, std::move(device));
}

/// As apply on the host, with a workspace of exactly the size asked for, filled with NaN.
template <class Host, class Device, Scalar T>
void apply(const exec::cpu&, const OnDevice<Host, Device>& m, Op op, View<const T, 3> x,
           View<T, 3> y) {
  Mirror both, in, out;
  const bool aliased = overlaps(x, y);
  (aliased ? both : in).cover(x);
  (aliased ? both : out).cover(y);
  both.send(), in.send(), out.send();
  const auto& device = m.device().view();
  const auto bytes = [&] {
    // The batch of x may be larger than that of the matrix.
    if constexpr (requires { apply_workspace_bytes(device, index_t{1}, index_t{1}); }) {
      return apply_workspace_bytes(device, x.extent(2), m.batch() == 1 ? x.extent(0) : m.batch());
    } else {
      return apply_workspace_bytes(device, x.extent(2));
    }
  };
  Array<std::byte, 1> junk({bytes()});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  auto workspace = to_device(junk);
  apply(exec::cuda{nullptr, workspace}, device, op,
        View<const T, 3, space::cuda>((aliased ? both : in)(x)), (aliased ? both : out)(y));
  (aliased ? both : out).fetch();
}

template <class Host, class Device, Scalar T>
void to_dense(const OnDevice<Host, Device>& m, View<T, 3> dense) {
  to_dense(m.host().view(), dense);
}
template <class Host, class Device>
auto entry(const OnDevice<Host, Device>& m, index_t i, index_t j, index_t batch) {
  return entry(m.host().view(), i, j, batch);
}
template <class Host, class Device>
auto absolute(const OnDevice<Host, Device>& m) {
  return absolute(m.host());
}

}  // namespace structmat::test
