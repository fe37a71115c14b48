#include "structmat/verify/recognise.hpp"

#include "core/instantiate.hpp"
#include "structmat/cauchy/from_dense.hpp"
#include "structmat/displacement/compress.hpp"
#include "structmat/lowrank/from_dense.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/toeplitz/from_dense.hpp"
#include "structmat/vandermonde/from_dense.hpp"

namespace structmat::verify {
namespace {

/// The number of a finding with this name.
index_t parameter(const Finding& finding, const char* name) {
  for (const auto& [key, value] : finding.parameters) {
    if (key == name) return value;
  }
  return 0;
}

/// The family of this name, or nothing.
template <Scalar T>
Family<T> member(const Finding& finding, const View<const T, 2>& a,
                 const ClassifyOptions& options) {
  const EntrywiseOptions entrywise{options.tolerance};
  const std::string& name = finding.name;
  const index_t rank = parameter(finding, "rank");
  if (name == "circulant") return circulant::from_dense(a, entrywise).matrix;
  if (name == "toeplitz") return toeplitz::from_dense(a, entrywise).matrix;
  if (name == "hankel") return hankel::from_dense(a, entrywise).matrix;
  if (name == "vandermonde") return vandermonde::from_dense(a, entrywise).matrix;
  if (name == "transposed vandermonde") {
    return vandermonde::from_dense(a.transposed(), entrywise).matrix;
  }
  if (name == "cauchy") return cauchy::from_dense(a, entrywise).matrix;
  if (name == "zero") return LowRank<T>(a.extent(0), a.extent(1), 0);
  if (name == "low rank") return lowrank::from_dense(a, {.order = rank}).matrix;
  if (name == "quasiseparable") {
    const quasiseparable::FromDenseOptions to{
        .order = Order{parameter(finding, "lower"), parameter(finding, "upper")}};
    return quasiseparable::from_dense(a, to).matrix;
  }
  const displacement::CompressOptions like{.tolerance = 0.0, .order = rank};
  if (name == "toeplitz-like") {
    return displacement::from_dense(a, displacement::toeplitz<T>(), like).generators;
  }
  if (name == "hankel-like") {
    return displacement::from_dense(a, displacement::hankel<T>(), like).generators;
  }
  return std::monostate{};
}

}  // namespace

template <Scalar T>
Recognised<T> recognise(View<const T, 2> a, const ClassifyOptions& options) {
  for (Finding& finding : classify(a, options)) {
    Family<T> matrix = member(finding, a, options);
    if (std::holds_alternative<std::monostate>(matrix)) continue;
    const bool transposed = finding.name == "transposed vandermonde";
    return {std::move(matrix), transposed, std::move(finding)};
  }
  return {};
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT Recognised<T> recognise<T>(View<const T, 2>, const ClassifyOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
