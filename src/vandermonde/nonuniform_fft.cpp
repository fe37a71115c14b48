#include "structmat/vandermonde/nonuniform_fft.hpp"

#include <cmath>

#include "core/threads.hpp"
#include "core/write_entries.hpp"
#include "vandermonde/columns.hpp"
#include "vandermonde/exponential.hpp"
#include "vandermonde/unit_circle.hpp"

namespace structmat {

namespace {

template <class T>
T entry_of(const NonuniformFft<T>& f, index_t p, index_t j) {
  const auto mode = static_cast<double>(f.first_mode() + j);
  return T(vandermonde::unit(vandermonde::two_product(mode, f.angles()[p])));
}

}  // namespace

template <ComplexScalar T>
NonuniformFft<T>::NonuniformFft(View<const real_t<T>, 1> angles, index_t modes,
                                const NonuniformFftOptions& options)
    : modes_(modes), options_(options) {
  const std::string operation = "vandermonde::NonuniformFft";
  if (modes < 0) {
    throw ShapeError(operation + ": the number of modes is " + std::to_string(modes) +
                     ", it must not be negative");
  }
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    throw DomainError(operation + ": the tolerance is " + std::to_string(options.tolerance) +
                      ", it must lie between 0 and 1");
  }
  std::vector<vandermonde::TwoDoubles> exact;
  exact.reserve(angles.extent(0));
  angles_.reserve(angles.extent(0));
  for (index_t p = 0; p < angles.extent(0); ++p) {
    if (!std::isfinite(angles(p))) {
      throw DomainError(operation + ": angle " + std::to_string(p) + " is " +
                        std::to_string(angles(p)) + ", it must be finite");
    }
    angles_.push_back(angles(p));
    exact.push_back({angles(p), 0});
  }
  if (angles_.empty() || modes == 0) return;
  circle_ = std::make_shared<const vandermonde::UnitCircle<real_t<T>>>(
      exact, modes, options.first_mode, options.tolerance);
}

template <ComplexScalar T>
void apply(const exec::cpu& e, const NonuniformFft<T>& f, Op op, View<const T, 3> x, View<T, 3> y) {
  const bool plain = op == Op::none;
  const index_t rows = plain ? f.rows() : f.cols(), cols = plain ? f.cols() : f.rows();
  const index_t batch = detail::check_operands("vandermonde::apply", 1, rows, cols, x, y);
  const index_t k = y.extent(2);
  const auto in = x.broadcast(0, batch);
  const int team = team_for(e.threads, batch * k * (f.rows() + f.cols()) * 32);
  parallel_for(team, batch * k, [&](index_t column) {
    const View<T, 1> result = y.select(0, column / k).select(1, column % k);
    const bool conjugated = op == Op::adjoint;
    const auto from =
        vandermonde::gather<T>(in.select(0, column / k).select(1, column % k), conjugated);
    Array<T, 1> to({rows});
    if (f.circle() != nullptr) {
      if (plain) {
        f.circle()->evaluate(e.threads, from.data(), to.data());
      } else {
        f.circle()->sum(from.data(), to.data());
      }
    }
    for (index_t i = 0; i < rows; ++i) result(i) = conjugated ? conjugate(to(i)) : to(i);
  });
}

template <ComplexScalar T>
T entry(const NonuniformFft<T>& f, index_t p, index_t j, index_t batch) {
  detail::require_index("vandermonde::entry", {1, f.rows(), f.cols()}, {batch, p, j});
  return entry_of(f, p, j);
}

template <ComplexScalar T>
void to_dense(const NonuniformFft<T>& f, View<T, 3> dense) {
  detail::write_entries("vandermonde::to_dense", dense, {1, f.rows(), f.cols()},
                        [&](index_t, index_t p, index_t j) { return entry_of(f, p, j); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                            \
  template class STRUCTMAT_EXPORT NonuniformFft<T>;                                         \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const NonuniformFft<T>&, Op,    \
                                          View<const T, 3>, View<T, 3>);                    \
  template STRUCTMAT_EXPORT T entry<T>(const NonuniformFft<T>&, index_t, index_t, index_t); \
  template STRUCTMAT_EXPORT void to_dense<T>(const NonuniformFft<T>&, View<T, 3>);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat
