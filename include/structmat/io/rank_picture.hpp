/// \file
/// A picture of a rank check: the matrix, the ranks of its off-diagonal blocks along the diagonal,
/// and the rank profile. Scalable vector graphics (SVG 1.1), for a browser or a README.
#pragma once

#include <complex>
#include <filesystem>
#include <string>

#include "structmat/core/export.hpp"
#include "structmat/core/view.hpp"
#include "structmat/verify/rank_profile.hpp"

namespace structmat::io {

/// Writes an SVG picture of m, 900 x 580 (900 x 850 with report.blocks), and of the report that a function of structmat::verify
/// gave for it.
///
/// m: (n, n) in, any strides, finite; report: of that m; title: UTF-8 (other bytes show as U+FFFD).
/// Shown: log10 |m_ij| in grey, in at most 128 x 128 cells of which each shows its largest entry;
/// along both sides of the diagonal the ranks of the blocks whose corners lie there, in at most 128
/// cells of which each shows its largest rank; the outline of report.worst_block; the ranks of all
/// blocks as curves over k; the singular values of report.blocks on a logarithmic scale. The file appears whole or not at all (AtomicFile); it stays under 300
/// kB. Cost: one pass over m; memory O(n). n = 0 and incomplete reports work. Throws ShapeError (m
/// is not square, or not of the report's size), DomainError (NaN or Inf, with its place),
/// FileError.
STRUCTMAT_EXPORT void write_rank_picture(const std::filesystem::path& path, View<const float, 2> m,
                                         const verify::Report& report, const std::string& title);
STRUCTMAT_EXPORT void write_rank_picture(const std::filesystem::path& path, View<const double, 2> m,
                                         const verify::Report& report, const std::string& title);
STRUCTMAT_EXPORT void write_rank_picture(const std::filesystem::path& path,
                                         View<const std::complex<float>, 2> m,
                                         const verify::Report& report, const std::string& title);
STRUCTMAT_EXPORT void write_rank_picture(const std::filesystem::path& path,
                                         View<const std::complex<double>, 2> m,
                                         const verify::Report& report, const std::string& title);

}  // namespace structmat::io
