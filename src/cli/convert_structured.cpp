#include "convert_structured.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "device.hpp"
#include "structmat/cauchy/from_vandermonde.hpp"
#include "structmat/lowrank/from_dense.hpp"
#include "structmat/toeplitz/to_cauchy_like.hpp"
#include "structmat/verify/entrywise.hpp"
#include "structmat/verify/recognise.hpp"
#include "structured.hpp"

namespace structmat::cli {
namespace {

void require_structure(const verify::Deviation& d, const std::string& family) {
  if (d.holds) return;
  throw DomainError(
      fmt::format("the matrix is not {}: the deviation at ({}, {}) is {:.3g}, the tolerance {:.3g}",
                  family, d.row, d.col, d.largest, d.tolerance));
}

std::string note_of(const verify::Deviation& d) {
  return fmt::format("deviation        {:.3g}", d.largest);
}

template <class T>
View<const T, 1> vector_of(const std::vector<T>& v) {
  return v;
}

template <Scalar T>
Converted low_rank_of(const View<const T, 2>& a, const FamilyOptions& options) {
  auto found = lowrank::from_dense(a, {.tolerance = options.tolerance, .order = options.order});
  const double norm = found.frobenius_norm;
  return {std::move(found.matrix), fmt::format("truncation error {:.3g} ||M||_F",
                                               norm > 0 ? found.truncation_error / norm : 0.0)};
}

/// The member of the family that verify takes for the cheapest.
template <Scalar T>
Converted recognised(const View<const T, 2>& a, const FamilyOptions& options) {
  auto found = verify::recognise(a, {.tolerance = options.tolerance});
  return std::visit(
      [&]<class M>(M& m) -> Converted {
        if constexpr (io::StructuredMatrix<M>) {
          if (!found.transposed) return {std::move(m), "recognised as " + found.finding.name};
        }
        throw DomainError(found.finding.name.empty()
                              ? "no structure that saves storage is recognised"
                              : fmt::format("the matrix is {}, of which there is no such file; "
                                            "without --to it is compressed to quasiseparable",
                                            found.finding.name));
      },
      found.matrix);
}

template <Scalar T>
Converted from_entries(const View<const T, 2>& a, const FamilyOptions& options) {
  const verify::EntrywiseOptions asked{options.tolerance};
  const std::string& to = options.to;
  const auto checked = [&](const auto& found, auto matrix) -> Converted {
    return {std::move(matrix), note_of(found)};
  };
  const auto require = [&](const auto& found) { require_structure(found, to); };
  if (to == "low-rank") return low_rank_of(a, options);
  if (options.order) throw UsageError("--order has no meaning for " + to);
  if (to == "recognised") return recognised(a, options);
  if (to == "toeplitz") {
    const auto f = verify::toeplitz(a, asked);
    require(f);
    return checked(f, Toeplitz<T>(vector_of(f.column), vector_of(f.row)));
  }
  if (to == "hankel") {
    const auto f = verify::hankel(a, asked);
    require(f);
    return checked(f, Hankel<T>(vector_of(f.column), vector_of(f.row)));
  }
  if (to == "circulant") {
    const auto f = verify::circulant(a, asked);
    require(f);
    return checked(f, Circulant<T>(vector_of(f.column)));
  }
  if (to == "vandermonde") {
    const auto f = verify::vandermonde(a, asked);
    require(f);
    return checked(f, Vandermonde<T>(vector_of(f.nodes), a.extent(1)));
  }
  if (to == "cauchy") {
    const auto f = verify::cauchy(a, asked);
    require(f);
    return checked(f, Cauchy<T>(vector_of(f.s), vector_of(f.t)));
  }
  throw UsageError("--to " + to + ": it is made of a Toeplitz matrix in generators");
}

/// H = T J or T = H J, the same numbers.
io::AnyStructured reversed_columns(const io::AnyStructured& matrix, const std::string& to) {
  return visit_structured(
      [&]<class M>(const M& m) -> io::AnyStructured {
        using T = typename M::value_type;
        if constexpr (std::same_as<M, Hankel<T>>) {
          if (to == "toeplitz") {
            Toeplitz<T> t(m.rows(), m.cols());
            t.lags = m.anti_diagonals;
            return t;
          }
        } else if constexpr (std::same_as<M, Toeplitz<T>>) {
          if (to == "hankel") {
            Hankel<T> h(m.rows(), m.cols());
            h.anti_diagonals = m.lags;
            return h;
          }
        }
        throw UsageError(
            fmt::format("--reverse-columns: from {} to {}, it is for toeplitz and hankel",
                        family_of(matrix), to));
      },
      matrix);
}

void require_cpu(const FamilyOptions& options) {
  if (options.on_device) {
    throw Unsupported(
        "backend cuda: --to " + options.to +
        " is made on the CPU; on a device cauchy-like is, from Toeplitz and Vandermonde "
        "matrices");
  }
}

template <class M>
Converted cauchy_like_of(const M& m, bool on_device) {
  using T = typename M::value_type;
  if constexpr (std::same_as<M, Toeplitz<T>>) {
    const char* note = "the image F T D^-1 F^H under Fourier transforms";
    if (!on_device) return {toeplitz::to_cauchy_like(m), note};
    CauchyLike<std::complex<real_t<T>>, space::cuda> there(m.rows(), m.cols(), 2);
    toeplitz::to_cauchy_like(exec::cuda{}, to_device(m).view(), there);
    return {to_host(there), note};
  } else if constexpr (std::same_as<M, Vandermonde<T>>) {
    const char* note = "the image V U^-1 under a Fourier transform";
    if (!on_device) return {cauchy::from_vandermonde(m), note};
    const auto there = to_device(m);
    return {to_host(cauchy::from_vandermonde(exec::cuda{}, there.view())), note};
  } else {
    throw UsageError("--to cauchy-like: from a Toeplitz or a Vandermonde matrix, not from " +
                     family_of(m));
  }
}

}  // namespace

Converted to_family(const io::DenseMatrix& dense, const FamilyOptions& options) {
  require_cpu(options);
  if (options.reverse_columns) {
    throw UsageError("--reverse-columns is for Toeplitz and Hankel matrices in generators");
  }
  return std::visit(
      [&]<Scalar T>(const Array<T, 2>& m) { return from_entries(View<const T, 2>(m), options); },
      dense);
}

Converted to_family(const io::AnyStructured& matrix, const FamilyOptions& options) {
  if (options.reverse_columns) {
    require_cpu(options);
    return {reversed_columns(matrix, options.to), "columns in the opposite order"};
  }
  if (options.to == "cauchy-like") {
    return visit_structured([&](const auto& m) { return cauchy_like_of(m, options.on_device); },
                            matrix);
  }
  require_cpu(options);
  return to_family(expand(matrix), options);
}

}  // namespace structmat::cli
