/// \file
/// Leaf loops of the multipole method. An expansion of p terms is p real parts, then p imaginary
/// parts; expansions of several columns follow each other. Formulas: multipole_scheme.hpp.
#pragma once

#include "cauchy/multipole_scheme.hpp"
#include "cauchy/multipole_tree.hpp"

namespace structmat::cauchy::multipole {

/// The smallest rectangle around n >= 1 nodes.
Bounds bounds_of(const double* re, const double* im, index_t n);

/// The largest squared distance from the centre of the disc.
double largest_square(const double* re, const double* im, index_t n, const Disc& disc);

/// Charges of the nodes, real parts of column c at [2 c n, (2 c + 1) n), imaginary ones behind.
struct Charges {
  const double* data;
  index_t n;
  int columns;

  const double* re(int c) const { return data + 2 * c * n; }
  const double* im(int c) const { return data + (2 * c + 1) * n; }
};

/// multipole := that of the nodes of a box.
void expand(const Scheme& scheme, const Tree& tree, const Box& box, const Charges& charges,
            double* multipole);

/// parent += the child's multipole expansion around the parent's centre.
void shift_up(const Scheme& scheme, const Disc& child, const Disc& parent, int columns,
              const double* multipole, double* parent_multipole);

/// child := the parent's local expansion around the child's centre.
void shift_down(const Scheme& scheme, const Disc& parent, const Disc& child, int columns,
                const double* local, double* child_local);

/// A box of sources far from a box of targets.
struct Far {
  const double* multipole;
  double radius;
  double inverse_re, inverse_im;  ///< 1 / (centre of targets - centre of sources)
  int terms, local_terms;
};

/// local += the expansions of `count` far boxes, in a disc of radius q.
void translate(const Scheme& scheme, const Far* far, index_t count, double q, int columns,
               double* local);

/// Targets of one leaf, up to a multiple of `lanes` of them, and their sums: real parts of column c
/// at [2 c n, (2 c + 1) n), imaginary ones behind.
struct Targets {
  const double *re, *im;
  double* sums;
  index_t n;
};

/// sums += sum_j charge_j / (target - source_j) over a leaf of sources; zero where the two are
/// equal. scaled: differences whose squares over- or underflow are handled.
void add_near(const Targets& targets, const Tree& tree, const Box& box, const Charges& charges,
              bool scaled);

/// sums += the local expansion.
void evaluate(const Scheme& scheme, const Disc& disc, int columns, const double* local,
              const Targets& targets);

}  // namespace structmat::cauchy::multipole
