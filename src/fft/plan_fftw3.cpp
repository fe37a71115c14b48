// The only file that knows the back end: FFTW 3, or a library with its interface.
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat::fft {

namespace {

/// FFTW's planner is global and not thread-safe; execution is.
std::mutex planner;

/// The names of FFTW for one precision.
template <class R>
struct Fftw;

template <>
struct Fftw<double> {
  using plan = fftw_plan;
  using complex = fftw_complex;
  using dimension = fftw_iodim64;
  static constexpr auto plan_c2c = fftw_plan_guru64_dft;
  static constexpr auto plan_r2c = fftw_plan_guru64_dft_r2c;
  static constexpr auto plan_c2r = fftw_plan_guru64_dft_c2r;
  static constexpr auto run_c2c = fftw_execute_dft;
  static constexpr auto run_r2c = fftw_execute_dft_r2c;
  static constexpr auto run_c2r = fftw_execute_dft_c2r;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto alignment_of = fftw_alignment_of;
};

template <>
struct Fftw<float> {
  using plan = fftwf_plan;
  using complex = fftwf_complex;
  using dimension = fftwf_iodim64;
  static constexpr auto plan_c2c = fftwf_plan_guru64_dft;
  static constexpr auto plan_r2c = fftwf_plan_guru64_dft_r2c;
  static constexpr auto plan_c2r = fftwf_plan_guru64_dft_c2r;
  static constexpr auto run_c2c = fftwf_execute_dft;
  static constexpr auto run_r2c = fftwf_execute_dft_r2c;
  static constexpr auto run_c2r = fftwf_execute_dft_c2r;
  static constexpr auto destroy = fftwf_destroy_plan;
  static constexpr auto alignment_of = fftwf_alignment_of;
};

enum class Direction { forward, backward };

/// FFTW takes its input without const, and reads it only (FFTW_PRESERVE_INPUT).
template <class T, class C>
T* fftw_pointer(C* data) {
  return reinterpret_cast<T*>(const_cast<std::remove_const_t<C>*>(data));
}

template <class T>
void check_operand(const char* operation, const char* name, const View<T, 2>& v,
                   const std::array<index_t, 2>& extents) {
  const std::string start = std::string("fft::Plan::") + operation + ": " + name;
  if (v.extents() != extents) {
    throw ShapeError(start + " is (" + std::to_string(v.extent(0)) + ", " +
                     std::to_string(v.extent(1)) + "), the plan needs (" +
                     std::to_string(extents[0]) + ", " + std::to_string(extents[1]) + ")");
  }
  if (!v.is_row_major())
    throw Unsupported(start + " has strides, the plan needs rows without gaps");
}

template <class T, class U>
void check_operand(const char* operation, const char* name, const View<T, 2>& v,
                   const std::array<index_t, 2>& extents, const View<U, 2>& other) {
  check_operand(operation, name, v, extents);
  if (overlaps(v, other)) {
    throw DomainError(std::string("fft::Plan::") + operation + ": " + name +
                      " overlaps the other operand");
  }
}

void require_rows(const char* operation, Layout layout) {
  if (layout == Layout::rows) return;
  throw Unsupported(std::string("fft::Plan::") + operation +
                    ": in place, and the layout is transposed");
}

}  // namespace

template <Scalar T>
struct Plan<T>::Back {
  using R = real_t<T>;
  using F = Fftw<R>;
  using C = complex_type;

  /// A new one, or one that was used lately: planning takes longer than short transforms.
  static std::shared_ptr<const Back> obtain(index_t n, index_t spectrum,
                                            const PlanOptions& options) {
    constexpr index_t longest = index_t{1} << 16;
    if (options.batch > longest / n) return std::make_shared<const Back>(n, spectrum, options);
    constexpr std::size_t most_kept = 16;
    static std::mutex mutex;
    static std::vector<std::shared_ptr<const Back>> kept;  // the last used one first
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(kept.begin(), kept.end(),
                                    [&](const auto& back) { return back->is_for(n, options); });
    if (found != kept.end()) {
      std::rotate(kept.begin(), found, found + 1);
    } else {
      auto back = std::make_shared<const Back>(n, spectrum, options);
      if (kept.size() == most_kept) kept.pop_back();
      kept.insert(kept.begin(), std::move(back));
    }
    return kept.front();
  }

  Back(index_t n, index_t spectrum, const PlanOptions& options)
      : n_(n), spectrum_(spectrum), options_(options) {
    for (Direction direction : {Direction::forward, Direction::backward})
      get(direction, true, options.in_place);
  }

  ~Back() {
    const std::lock_guard lock(planner);
    for (typename F::plan plan : plans_) {
      if (plan != nullptr) F::destroy(plan);
    }
  }

  Back(const Back&) = delete;
  Back& operator=(const Back&) = delete;

  void forward(const T* x, C* y) const {
    const typename F::plan plan = get(Direction::forward, is_aligned(x, y), is_same(x, y));
    auto* out = fftw_pointer<typename F::complex>(y);
    if constexpr (is_complex_v<T>) {
      F::run_c2c(plan, fftw_pointer<typename F::complex>(x), out);
    } else {
      F::run_r2c(plan, fftw_pointer<R>(x), out);
    }
  }

  void backward(const C* y, T* x) const {
    const typename F::plan plan = get(Direction::backward, is_aligned(x, y), is_same(x, y));
    auto* in = fftw_pointer<typename F::complex>(y);
    if constexpr (is_complex_v<T>) {
      F::run_c2c(plan, in, fftw_pointer<typename F::complex>(x));
    } else {
      F::run_c2r(plan, in, fftw_pointer<R>(x));
    }
  }

 private:
  bool is_for(index_t n, const PlanOptions& options) const {
    return n_ == n && options_.batch == options.batch && options_.planning == options.planning &&
           options_.layout == options.layout;
  }

  static bool is_aligned(const T* x, const C* y) {
    return F::alignment_of(fftw_pointer<R>(x)) == 0 && F::alignment_of(fftw_pointer<R>(y)) == 0;
  }

  static bool is_same(const T* x, const C* y) {
    return static_cast<const void*>(x) == static_cast<const void*>(y);
  }

  /// Plans for unaligned memory run slower and are rarely needed, so they are made on first use.
  typename F::plan get(Direction direction, bool aligned, bool in_place) const {
    const std::size_t slot = 4 * in_place + 2 * (direction == Direction::backward) + !aligned;
    std::call_once(once_[slot], [&] { plans_[slot] = make(direction, aligned, in_place); });
    return plans_[slot];
  }

  typename F::plan make(Direction direction, bool aligned, bool in_place) const {
    // Planning needs real memory; without MEASURE it is not touched.
    Array<T, 2> x({in_place ? 0 : options_.batch, n_}, uninitialized);
    Array<C, 2> y({options_.batch, spectrum_}, uninitialized);
    unsigned flags = options_.planning == Planning::measure ? FFTW_MEASURE : FFTW_ESTIMATE;
    flags |= (in_place ? 0 : FFTW_PRESERVE_INPUT) | (aligned ? 0 : FFTW_UNALIGNED);
    const bool is_forward = direction == Direction::forward;

    typename F::dimension length{n_, 1, 1};
    typename F::dimension sequences{options_.batch, is_forward ? n_ : spectrum_,
                                    is_forward ? spectrum_ : n_};
    if (options_.layout == Layout::transposed) {
      (is_forward ? length.is : length.os) = options_.batch;
      (is_forward ? sequences.is : sequences.os) = 1;
    }
    auto* spectrum = fftw_pointer<typename F::complex>(y.data());
    const std::lock_guard lock(planner);
    typename F::plan plan = nullptr;
    if constexpr (is_complex_v<T>) {
      auto* signal = in_place ? spectrum : fftw_pointer<typename F::complex>(x.data());
      plan = is_forward
                 ? F::plan_c2c(1, &length, 1, &sequences, signal, spectrum, FFTW_FORWARD, flags)
                 : F::plan_c2c(1, &length, 1, &sequences, spectrum, signal, FFTW_BACKWARD, flags);
    } else {
      plan = is_forward ? F::plan_r2c(1, &length, 1, &sequences, x.data(), spectrum, flags)
                        : F::plan_c2r(1, &length, 1, &sequences, spectrum, x.data(), flags);
    }
    if (plan == nullptr) throw BackendError("fft::Plan", "FFTW", 0, "no plan for this size");
    return plan;
  }

  index_t n_;
  index_t spectrum_;
  PlanOptions options_;
  mutable std::array<std::once_flag, 8> once_;
  mutable std::array<typename F::plan, 8> plans_{};
};

template <Scalar T>
Plan<T>::Plan(index_t n, const PlanOptions& options)
    : n_(n), batch_(options.batch), layout_(options.layout) {
  index_t bytes = 0;
  // Two columns more than n, for the spectrum of a real row.
  if (n < 0 || batch_ < 0 || __builtin_add_overflow(n, 2, &bytes) ||
      __builtin_mul_overflow(bytes, batch_, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<index_t>(sizeof(complex_type)), &bytes)) {
    throw ShapeError("fft::Plan: n is " + std::to_string(n) + " and the batch " +
                     std::to_string(batch_) + "; they must not be negative or exceed 64 bits");
  }
  if (n_ > 0 && batch_ > 0) {
    PlanOptions own = options;
    own.in_place = own.in_place && is_complex_v<T> && own.layout == Layout::rows;
    back_ = Back::obtain(n_, spectrum_length(), own);
  }
}

template <Scalar T>
std::array<index_t, 2> Plan<T>::x_extents() const {
  if (layout_ == Layout::transposed) return {n_, batch_};
  return {batch_, n_};
}

template <Scalar T>
Plan<T>::Plan(Plan&&) noexcept = default;
template <Scalar T>
Plan<T>& Plan<T>::operator=(Plan&&) noexcept = default;
template <Scalar T>
Plan<T>::~Plan() = default;

template <Scalar T>
void Plan<T>::forward(View<const T, 2> x, View<complex_type, 2> y) const {
  check_operand("forward", "x", x, x_extents(), y);
  check_operand("forward", "y", y, y_extents(), x);
  if (back_) back_->forward(x.data(), y.data());
}

template <Scalar T>
void Plan<T>::backward(View<const complex_type, 2> y, View<T, 2> x) const {
  check_operand("backward", "y", y, y_extents(), x);
  check_operand("backward", "x", x, x_extents(), y);
  if (back_) back_->backward(y.data(), x.data());
}

template <Scalar T>
void Plan<T>::forward(View<T, 2> x) const requires ComplexScalar<T> {
  require_rows("forward", layout_);
  check_operand("forward", "x", x, x_extents());
  if (back_) back_->forward(x.data(), reinterpret_cast<complex_type*>(x.data()));
}

template <Scalar T>
void Plan<T>::backward(View<T, 2> x) const requires ComplexScalar<T> {
  require_rows("backward", layout_);
  check_operand("backward", "x", x, x_extents());
  if (back_) back_->backward(reinterpret_cast<complex_type*>(x.data()), x.data());
}

template class Plan<float>;
template class Plan<double>;
template class Plan<std::complex<float>>;
template class Plan<std::complex<double>>;

Backend backend() {
  const std::string_view version = fftw_version;  // "fftw-3.3.10-sse2-avx"
  constexpr std::string_view prefix = "fftw-";
  if (!version.starts_with(prefix)) {
    return {std::string(version), "see its vendor (FFTW 3 interface)"};
  }
  const std::string_view number = version.substr(prefix.size());
  return {"FFTW " + std::string(number.substr(0, number.find('-'))), "GPL-2.0-or-later"};
}

}  // namespace structmat::fft
