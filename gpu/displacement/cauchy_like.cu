// Cauchy-like matrices: X_ij = (sum_l g_il h_jl) / (s_i - t_j).
#include "core/instantiate.hpp"
#include "displacement/core.cuh"
#include "displacement/reduction.hpp"
#include "structmat/cauchy/plan.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
class CauchyLikeCore final : public DeviceCore<T> {
 public:
  CauchyLikeCore(const exec::cuda& e, const std::vector<Generators<T>>& all, double tolerance)
      : g_(stacked(all, &Generators<T>::g)), h_(stacked(all, &Generators<T>::h)) {
    const auto count = static_cast<index_t>(all.size());
    Array<T, 2> s({count, g_.extent(1)}, uninitialized), t({count, h_.extent(1)}, uninitialized);
    for (index_t b = 0; b < count; ++b) {
      const auto& d = all[static_cast<std::size_t>(b)].displacement;
      refuse_coincidence(d);
      std::copy(d.left.x.begin(), d.left.x.end(), s.view().select(0, b).data());
      std::copy(d.right.x.begin(), d.right.x.end(), t.view().select(0, b).data());
    }
    s_ = structmat::to_device(s);
    t_ = structmat::to_device(t);
    plan_.emplace(view(), cauchy::PlanOptions{.tolerance = tolerance}, e);
  }

  void apply(const char*, const exec::cuda& e, Op op, View<const T, 3, space::cuda> x,
             View<T, 3, space::cuda> y) const override {
    structmat::apply(e, *plan_, op, x, y);
  }
  index_t apply_bytes(const char*, index_t k) const override {
    return apply_workspace_bytes(*plan_, k);
  }

  void to_dense(const char*, const exec::cuda& e, View<T, 3, space::cuda> dense) const override {
    structmat::to_dense(e, view(), dense);
  }
  index_t to_dense_bytes(const char*) const override { return 0; }

 private:
  CauchyLikeView<T, space::cuda> view() const {
    return {s_.view(), t_.view(), g_.view(), h_.view()};
  }

  Array<T, 3, space::cuda> g_, h_;
  Array<T, 2, space::cuda> s_, t_;
  std::optional<CauchyPlan<T, space::cuda>> plan_;
};

}  // namespace

template <Scalar T>
DeviceCorePointer<T> make_device_cauchy_like(const exec::cuda& e,
                                             const std::vector<Generators<T>>& all,
                                             double tolerance) {
  return std::make_unique<const CauchyLikeCore<T>>(e, all, tolerance);
}

#define STRUCTMAT_INSTANTIATE(T)                         \
  template DeviceCorePointer<T> make_device_cauchy_like( \
      const exec::cuda&, const std::vector<Generators<T>>&, double);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
