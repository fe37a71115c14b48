/// \file
/// Structured matrices without a recurrence in .safetensors files; those with one are in
/// generators.hpp.
///
/// Metadata (all required): structmat.family as below; structmat.format "1"; structmat.dtype
/// "float32", "float64", "complex64" or "complex128". Any other metadata is left to the user.
///
/// | structmat.family | tensors, all with the batch in front | further                           |
/// |------------------|--------------------------------------|-----------------------------------|
/// | toeplitz         | lags                                 | tensor shape                      |
/// | hankel           | anti_diagonals                       | tensor shape                      |
/// | circulant        | column                               |                                   |
/// | skew_circulant   | column                               |                                   |
/// | cauchy           | s, t                                 | structmat.coincidence             |
/// | cauchy_like      | s, t, g, h                           | structmat.coincidence             |
/// | vandermonde      | x                                    | tensor shape                      |
/// | log_vandermonde  | a                                    | tensor shape                      |
/// | low_rank         | u, v                                 |                                   |
/// | butterfly        | factors                              | tensor shape, structmat.strides   |
/// | monarch          | w1, w2                               |                                   |
///
/// The tensors are those of the family's header. shape: int64 (2), rows and columns.
/// structmat.coincidence: "error" or "skip". structmat.strides: "increasing" or "decreasing", those of
/// the first stage. Complex tensors are stored as safetensors.hpp says. Exactly these tensors are
/// allowed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <variant>

#include "structmat/butterfly/butterfly.hpp"
#include "structmat/butterfly/monarch.hpp"
#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/export.hpp"
#include "structmat/lowrank/low_rank.hpp"
#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/hankel.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat::io {

/// A matrix of one family, of any scalar type.
template <template <class, class> class Family>
using AnyScalar = std::variant<Family<float, space::host>, Family<double, space::host>,
                               Family<std::complex<float>, space::host>,
                               Family<std::complex<double>, space::host>>;

/// What a reader returns when the file decides family and scalar type: family first, so that a
/// visitor that does not look at the scalar type has one case for each family.
using AnyStructured =
    std::variant<AnyScalar<Toeplitz>, AnyScalar<Hankel>, AnyScalar<Circulant>,
                 AnyScalar<SkewCirculant>, AnyScalar<Cauchy>, AnyScalar<CauchyLike>,
                 AnyScalar<Vandermonde>, AnyScalar<LogVandermonde>, AnyScalar<LowRank>,
                 AnyScalar<Butterfly>, AnyScalar<Monarch>>;

namespace detail {
template <class M, class Families>
inline constexpr bool is_one_of = false;
template <class M, class... A>
inline constexpr bool is_one_of<M, std::variant<A...>> = (std::same_as<M, A> || ...);
template <class M, class Families>
inline constexpr bool is_in_family = false;
template <class M, class... F>
inline constexpr bool is_in_family<M, std::variant<F...>> = (is_one_of<M, F> || ...);
}  // namespace detail

/// One of the types in AnyStructured.
template <class M>
concept StructuredMatrix = detail::is_in_family<M, AnyStructured>;

/// Writes a matrix; batch extents stay as they are (1 is broadcast). The same matrix gives the same
/// bytes. The file appears whole or not at all (AtomicFile). Cost: one pass over the numbers. Throws
/// FileError (cannot be written), ShapeError (parts that do not fit together).
template <StructuredMatrix M>
void write_structured(const std::filesystem::path& path, const M& matrix);
STRUCTMAT_EXPORT void write_structured(const std::filesystem::path& path,
                                       const AnyStructured& matrix);

/// The matrix in a file of write_structured, bit for bit. Values are not inspected: NaN and Inf are
/// read, and nodes are not compared. Cost: one copy of the numbers; shapes are checked against each
/// other. Throws FileError, which names file, tensor and reason.
STRUCTMAT_EXPORT AnyStructured read_structured(const std::filesystem::path& path);

/// read_structured of a file that is in memory. `name` stands for the file in messages.
STRUCTMAT_EXPORT AnyStructured parse_structured(std::span<const std::byte> bytes,
                                                const std::string& name);

/// structmat.family of a .safetensors file; empty if it has none. Throws FileError.
STRUCTMAT_EXPORT std::string stored_family(const std::filesystem::path& path);

/// structmat.family of the files of M: "toeplitz", ...
template <StructuredMatrix M>
std::string_view family_name();

/// The same matrix with its numbers in the scalar type T, converted as T(x).
template <Scalar T, StructuredMatrix M>
auto with_scalar(const M& matrix);

}  // namespace structmat::io

#include "structmat/io/structured_parts.hpp"
