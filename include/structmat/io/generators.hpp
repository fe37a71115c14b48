/// \file
/// Generators of quasiseparable and semiseparable matrices in .safetensors files.
///
/// Metadata (all required): structmat.family "quasiseparable" or "semiseparable"; structmat.format
/// "1"; structmat.transition "scalar", "diagonal", "dense" or "block"; structmat.dtype "float32",
/// "float64", "complex64" or "complex128"; structmat.form "exclusive" (quasiseparable: products run
/// strictly between j and i) or "inclusive" (semiseparable: up to and including i). Any other
/// metadata is left to the user.
///
/// | tensor       | scalar, diagonal, dense                | block                            |
/// |--------------|----------------------------------------|----------------------------------|
/// | p, q, a      | as in quasiseparable.hpp               | P, Q, A of lower                 |
/// | g, h, b      | the same                               | Q, P, A of upper_transposed      |
/// | d            | the same                               | diagonal                         |
/// | c, b, a      | as in semiseparable.hpp                | P, Q, A of lower; diagonal is d  |
/// | offsets      |                                        | int64 (blocks + 1)               |
/// | lower_states |                                        | int64 (blocks + 1)               |
/// | upper_states |                                        | the same, quasiseparable only    |
///
/// Block numbers are (batch, numbers), one block behind the other as in block.hpp.
/// Complex tensors are stored as safetensors.hpp says. Dense entries are never stored: only what a
/// family's operations read. Exactly these tensors are allowed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <variant>

#include "structmat/core/export.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat::io {

namespace detail {
template <class...>
struct Types {};
template <class... A, class... B>
Types<A..., B...> operator+(Types<A...>, Types<B...>);

template <template <class, class, class> class Family, Scalar T>
using Transitions =
    Types<Family<T, transition::Scalar, space::host>, Family<T, transition::Diagonal, space::host>,
          Family<T, transition::Dense, space::host>, Family<T, transition::Block, space::host>>;
template <template <class, class, class> class Family>
using Members = decltype(Transitions<Family, float>() + Transitions<Family, double>() +
                         Transitions<Family, std::complex<float>>() +
                         Transitions<Family, std::complex<double>>());

template <class... A>
std::variant<A...> variant_of(Types<A...>);
}  // namespace detail

/// What a reader returns when the file decides family, scalar type and transition.
using AnyGenerators = decltype(detail::variant_of(detail::Members<Quasiseparable>() +
                                                  detail::Members<Semiseparable>()));

/// Writes the generators of a matrix; batch extents stay as they are (1 is broadcast). The same
/// matrix gives the same bytes. The file appears whole or not at all (AtomicFile). Cost: one pass
/// over the generators. Throws FileError (cannot be written), ShapeError (generators that do not
/// fit together).
template <Scalar T, class K>
void write_generators(const std::filesystem::path& path, const Quasiseparable<T, K>& matrix);
template <Scalar T, class K>
void write_generators(const std::filesystem::path& path, const Semiseparable<T, K>& matrix);
STRUCTMAT_EXPORT void write_generators(const std::filesystem::path& path,
                                       const AnyGenerators& matrix);

/// The matrix in a file of write_generators, bit for bit. Values are not inspected: NaN and Inf are
/// read. Cost: one copy of the generators; shapes, partition and state sizes are checked before
/// memory is taken. Throws FileError, which names file, tensor and reason.
STRUCTMAT_EXPORT AnyGenerators read_generators(const std::filesystem::path& path);

/// read_generators of a file that is in memory. `name` stands for the file in messages.
STRUCTMAT_EXPORT AnyGenerators parse_generators(std::span<const std::byte> bytes,
                                                const std::string& name);

}  // namespace structmat::io
