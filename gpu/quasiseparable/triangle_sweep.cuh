/// \file
/// The sweep of src/quasiseparable/triangle_sweep.hpp over both strictly triangular parts of a dense
/// matrix on the device, block by block.
///
/// X = [C without its first rows, new columns] is reduced by products: Q, an orthonormal basis of the
/// range of X^H Omega for a Gaussian Omega with some columns more than the state has had so far, takes
/// up the row space of X. The rest, X - (X Q) Q^H, is formed and measured; where it is not small beside
/// what may be dropped, Omega gets more columns. A QR factorisation of X Q by tiles of rows and Jacobi
/// rotations of its R give the singular values and vectors. What is dropped is orthogonal to what stays,
/// so errors add up as on the CPU. Where the state is about as large as X, X takes the place of X Q; if
/// both are large, cuSOLVER factorises it.
///
/// Source: Halko, Martinsson, Tropp, SIAM Review 53 (2011); Demmel, Grigori, Hoemmen, Langou, SIAM J.
/// Sci. Comput. 34 (2012) for the tiles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/random.cuh"
#include "core/workspace.cuh"
#include "dense/blas.cuh"
#include "dense/copy.cuh"
#include "dense/solver.cuh"
#include "quasiseparable/sweep_kernels.cuh"
#include "quasiseparable/sweep_memory.cuh"
#include "quasiseparable/triangle_sweep.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
class PairSweep {
 public:
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;

  /// Columns of a sketch beyond the state.
  static constexpr index_t oversampling = 16;

  /// m: square, finite; the sweep is over scale * m, whose norm is about 1.
  PairSweep(const char* operation, const exec::cuda& e, View<const T, 2, space::cuda> m, R scale)
      : operation_(operation),
        stream_(gpu::stream_of(e)),
        processors_(gpu::multiprocessors(operation)),
        n_(m.extent(0)),
        ld_(n_ + chunk),
        scale_(scale),
        blas_memory_({gpu::Blas::workspace_bytes}, uninitialized),
        blas_(operation, stream_, blas_memory_.data()) {
    sides_[0].m = gpu::strided(m);
    sides_[1].m = gpu::strided(m.transposed());
  }

  /// The caller's memory for a sweep of fixed orders in steps of `size` rows. Taken twice, to count and
  /// to cut.
  struct Memory {
    D *x[2], *next[2], *parts[2], *q[2], *z[2], *v[2], *work[2], *r[2][2], *probes, *scratch;
    double* squares;
    std::byte* blas;
    index_t wide, tall, columns, tiles, pieces;  ///< numbers of those arrays

    Memory() = default;
    Memory(const char* operation, gpu::Workspace& w, index_t n, index_t order, index_t size) {
      const index_t ld = n + chunk, asked = order + oversampling, c = order + size;
      // Without a sketch there are at most 4 / 3 of its columns.
      const index_t most = std::min(c, std::max(asked, 4 * asked / 3 + 1));
      wide = ld * c, tall = ld * asked, columns = c * std::max(most, asked);
      pieces = (n / chunk + 1) * c * asked;
      const index_t k = std::max(asked, most);
      tiles = (n / 2 + k) * k;
      for (int i = 0; i < 2; ++i) {
        x[i] = w.take<D>(wide), next[i] = w.take<D>(wide);
        parts[i] = w.take<D>(pieces);
        z[i] = w.take<D>(tall);
        q[i] = w.take<D>(columns), v[i] = w.take<D>(columns), work[i] = w.take<D>(columns);
        for (D*& levels : r[i]) levels = w.take<D>(tiles);
      }
      probes = w.take<D>(tall);
      squares = w.take<double>(2 * squares_blocks);
      scratch = Tiling(k, shared_limit(operation)).in_shared
                    ? nullptr
                    : w.take<D>(2 * (n * (k + 8) + (4 * k + 32) * k));
      scratch_size = 2 * (n * (k + 8) + (4 * k + 32) * k);
      blas = w.take<std::byte>(gpu::Blas::workspace_bytes);
    }
    index_t scratch_size = 0;
  };

  /// The same in the caller's memory: `advance_by` only, neither allocates nor synchronises.
  /// factor: scale, in device memory.
  PairSweep(const char* operation, const exec::cuda& e, View<const T, 2, space::cuda> m,
            const R* factor, std::array<index_t, 2> orders, index_t size, const Memory& memory)
      : operation_(operation),
        stream_(gpu::stream_of(e)),
        processors_(gpu::multiprocessors(operation)),
        n_(m.extent(0)),
        ld_(n_ + chunk),
        scale_(1),
        factor_(factor),
        room_(size),
        blas_(operation, stream_, memory.blas) {
    sides_[0].m = gpu::strided(m);
    sides_[1].m = gpu::strided(m.transposed());
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      s.truncation.most = orders[i];
      s.x.borrow(memory.x[i], memory.wide), s.next.borrow(memory.next[i], memory.wide);
      s.parts.borrow(memory.parts[i], memory.pieces);
      s.z.borrow(memory.z[i], memory.tall);
      s.q.borrow(memory.q[i], memory.columns), s.v.borrow(memory.v[i], memory.columns);
      s.work.borrow(memory.work[i], memory.columns);
      for (int l = 0; l < 2; ++l) s.r[l].borrow(memory.r[i][l], memory.tiles);
      for (D* zeros : {memory.x[i], memory.next[i]}) {
        gpu::check(cudaMemsetAsync(zeros, 0, memory.wide * sizeof(D), stream_), operation_);
      }
    }
    probes_.borrow(memory.probes, memory.tall);
    squares_.borrow(memory.squares, 2 * squares_blocks);
    scratch_.borrow(memory.scratch, memory.scratch_size);
    probe_columns_ = std::max(orders[0], orders[1]) + oversampling;
    gpu::fill_gaussian<D>(operation, memory.probes, ld_ * probe_columns_, seed, processors_,
                          stream_);
  }

  index_t state(int side) const { return sides_[side].state; }

  /// scale * P of the next block, by columns: size x state.
  D* rows(int side, index_t begin, index_t size, Pool<D>& pool) {
    const Side& s = sides_[side];
    D* const p = pool.take(size * s.state);
    rows(side, begin, size, p);
    return p;
  }
  void rows(int side, index_t begin, index_t size, D* to) {
    Side& s = sides_[side];
    copy_columns(s.x.data() + begin, ld_, to, size, size, s.state);
  }

  /// Goes past the block of `size` rows starting at `begin`: both triangles. Synchronises.
  void advance(index_t begin, index_t size, const std::array<Truncation, 2>& truncation,
               Pool<D>& pool) {
    take_columns(begin, size);
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      s.truncation = truncation[i];
      s.done = false;
      s.asked = std::min(s.state, s.truncation.most) + oversampling;
    }
    while (!(sides_[0].done && sides_[1].done)) {
      for (Side& s : sides_) {
        if (s.done) continue;
        // Nearly all of X: no gain from a sketch.
        s.sketched = 4 * s.asked < 3 * smaller(s);
        if (!s.sketched && smaller(s) > most_direct) factorise(s);
      }
      if (!(sides_[0].done && sides_[1].done)) attempt();
    }
    for (Side& s : sides_) finish(s, size, pool.take(s.columns * s.kept));
  }

  /// How many numbers advance_by leaves for a side, at most: the squares of what the sketch missed,
  /// then the singular values of X.
  static index_t summary_size(index_t order, index_t size) {
    const index_t asked = order + oversampling;
    return 1 + std::max(asked, std::min(order + size, 4 * asked / 3 + 1));
  }

  /// The same to the orders that are fixed: only enqueued. summaries, bases: of the two sides, on the
  /// device. Vectors of singular values that are rounding are zeros.
  void advance_by(index_t begin, index_t size, const std::array<double*, 2>& summaries,
                  const std::array<D*, 2>& bases) {
    take_columns(begin, size);
    for (Side& s : sides_) {
      s.done = false;
      s.asked = s.truncation.most + oversampling;
      s.sketched = 4 * s.asked < 3 * smaller(s);
    }
    enqueue(4 * std::numeric_limits<R>::epsilon(), summaries);
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      s.kept = std::min(s.truncation.most, s.sketched ? s.asked : smaller(s));
      finish(s, size, bases[i]);
    }
  }

  /// V of the block just passed, [A, Q^T] = V^H, by columns: (state before + size) x state.
  const D* basis(int side) const { return sides_[side].basis; }
  /// Singular values of X, the kept ones first; of those dropped only the larger ones.
  const std::vector<double>& values(int side) const { return sides_[side].values; }
  double norm(int side) const { return sides_[side].norm; }
  double dropped_squares(int side) const { return sides_[side].dropped_squares; }

 private:
  /// Rows of one product in sketches: enough of them run beside each other.
  static constexpr index_t chunk = 512;
  /// Larger matrices are not rotated as they are.
  static constexpr index_t most_direct = 160;
  static constexpr int squares_blocks = 128;
  static constexpr std::uint64_t seed = 0x5eed;

  struct Side {
    gpu::Strided<const D, 2> m{};
    Buffer<D> x{true}, next{true};  ///< by columns, rows counted as those of m; zeros behind row n
    Buffer<D> parts, q, z, v, work;
    std::array<Buffer<D>, 2> r;
    index_t state = 0, columns = 0, asked = 0;
    bool done = false;
    Truncation truncation{};
    std::vector<double> values;
    double norm = 0, residual = 0, dropped_squares = 0;
    bool sketched = false;  ///< V = Q v and X V = z v; otherwise V = v
    index_t inner = 0;      ///< columns of z, or of X
    index_t kept = 0;
    D* basis = nullptr;
  };

  index_t smaller(const Side& s) const { return std::min(rest_, s.columns); }

  void copy_columns(const D* from, index_t ld_from, D* to, index_t ld_to, index_t rows,
                    index_t columns) const {
    if (rows == 0 || columns == 0) return;
    gpu::check(cudaMemcpy2DAsync(to, ld_to * sizeof(D), from, ld_from * sizeof(D), rows * sizeof(D),
                                 columns, cudaMemcpyDeviceToDevice, stream_),
               operation_);
  }

  static index_t shared_limit(const char* operation) {
    int device = 0, bytes = 0;
    gpu::check(cudaGetDevice(&device), operation);
    gpu::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               operation);
    return bytes;
  }

  /// Rows of a tile of k columns. Tiles that do not fit into shared memory with at least two triangles
  /// in them are worked on in global memory.
  struct Tiling {
    bool in_shared;
    int rows;

    Tiling(index_t k, index_t limit) {
      const index_t number = static_cast<index_t>(sizeof(D)),
                    fitting = ((limit - k * number) / (k * number)) / 32 * 32;
      in_shared = fitting >= 2 * k;
      rows = static_cast<int>(in_shared ? std::min<index_t>(fitting, 512) : (4 * k + 31) / 32 * 32);
    }
  };

  /// X: the new columns beside the rest of C.
  void take_columns(index_t begin, index_t size) {
    end_ = begin + size;
    rest_ = n_ - end_;
    for (Side& s : sides_) {
      s.columns = s.state + size;
      // `finish` has left room for the new columns, except in front of the first block.
      D* const x = s.x.at_least(ld_ * s.columns);
      gpu::Strided<const D, 2> from{s.m.data + end_ * s.m.stride[0] + begin * s.m.stride[1],
                                    {s.m.stride[0], s.m.stride[1]}};
      gpu::copy_matrix<D>(operation_, from, gpu::Strided<D, 2>{x + s.state * ld_ + end_, {1, ld_}},
                          rest_, size, processors_, stream_, scale_, false, nullptr, factor_);
    }
  }

  const D* probes(index_t columns) {
    if (probe_columns_ < columns) {
      probe_columns_ = columns + columns / 4;
      const index_t count = ld_ * probe_columns_;
      gpu::fill_gaussian<D>(operation_, probes_.at_least(count), count, seed, processors_, stream_);
    }
    return probes_.data();
  }

  /// One attempt for the triangles that are not done.
  void attempt() {
    std::array<index_t, 2> sizes{};
    for (int i = 0; i < 2; ++i) {
      const Side& s = sides_[i];
      sizes[i] = s.done ? 0 : s.sketched ? s.asked : smaller(s);
    }
    const index_t summary_size = 2 + sizes[0] + sizes[1];
    double* const summary = summary_.at_least(summary_size);
    enqueue(0, {summary, summary + 1 + sizes[0]});
    std::vector<double> seen(summary_size);
    gpu::check(cudaMemcpyAsync(seen.data(), summary, summary_size * sizeof(double),
                               cudaMemcpyDeviceToHost, stream_),
               operation_);
    gpu::check(cudaStreamSynchronize(stream_), operation_);
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      if (s.done) continue;
      const double* const own = seen.data() + (i == 0 ? 0 : 1 + sizes[0]);
      s.values.assign(own + 1, own + 1 + sizes[i]);
      judge(s, own[0]);
    }
  }

  /// Its work, and where its summaries go.
  void enqueue(R negligible, const std::array<double*, 2>& summaries) {
    const index_t limit = shared_limit(operation_), number = static_cast<index_t>(sizeof(D));
    Orthonormalise<D> orthonormalise{};
    Squares<D> squares{};
    SmallSvd<D> svd{};
    index_t sketch_size = 0, sketch_columns = 0, svd_size = 0, svd_columns = 0;
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      if (s.done) continue;
      const index_t c = s.columns, k = s.sketched ? s.asked : smaller(s);
      s.inner = s.sketched ? k : c;
      svd.side[i].rows = static_cast<int>(s.inner);
      svd.side[i].columns = static_cast<int>(k);
      svd.side[i].v = s.v.at_least(s.inner * k);
      svd_size = std::max(svd_size, s.inner * k);
      svd_columns = std::max(svd_columns, k);
      if (!s.sketched) continue;
      orthonormalise.side[i] = multiply_sketch(s);
      sketch_size = std::max(sketch_size, c * k);
      sketch_columns = std::max(sketch_columns, k);
    }
    if (sketch_columns > 0) {
      orthonormalise.in_shared = (sketch_size + sketch_columns) * number <= limit;
      const index_t bytes =
          (sketch_columns + (orthonormalise.in_shared ? sketch_size : 0)) * number;
      gpu::launch(
          operation_, orthonormalise_kernel<D>,
          gpu::Grid{2, threads_for(sketch_columns, sweep_threads), static_cast<std::size_t>(bytes)},
          stream_, orthonormalise);
    }
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      if (s.done || !s.sketched) continue;
      const index_t k = s.asked, c = s.columns;
      D* const x = s.x.data() + end_;
      D* const z = s.z.at_least(ld_ * k) + end_;
      blas_.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_N, rest_, k, c, D(1), x, ld_, 0, s.q.data(), c, 0, D(0),
                    z, ld_, 0);
      blas_.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_C, rest_, c, k, D(-1), z, ld_, 0, s.q.data(), c, 0, D(1),
                    x, ld_, 0);
      squares.side[i] = {x, ld_, rest_, static_cast<int>(c)};
    }
    if (sketch_columns > 0) {
      squares.out = squares_.at_least(2 * squares_blocks);
      svd.squares = squares.out;
      svd.squares_count = squares_blocks;
      gpu::launch(operation_, squares_kernel<D>, 2 * squares_blocks, plain_threads, stream_,
                  squares);
    }
    factorise_tiles(svd, limit);

    for (int i = 0; i < 2; ++i) svd.side[i].summary = summaries[i];
    svd.negligible = negligible;
    const index_t small = gpu::sort_bytes<R>(svd_columns);
    svd.in_shared = svd_size * number + small <= limit;
    for (int i = 0; i < 2 && !svd.in_shared; ++i) {
      if (!sides_[i].done) svd.side[i].work = sides_[i].work.at_least(svd_size);
    }
    gpu::launch(
        operation_, small_svd_kernel<D>,
        gpu::Grid{2, threads_for(svd_columns, sweep_threads),
                  static_cast<std::size_t>(small + (svd.in_shared ? svd_size * number : 0))},
        stream_, svd);
  }

  /// X^H Omega in parts that run beside each other.
  typename Orthonormalise<D>::Side multiply_sketch(Side& s) {
    const index_t k = s.asked, c = s.columns, chunks = (rest_ + chunk - 1) / chunk;
    const D* const omega = probes(k);
    D* const parts = s.parts.at_least(chunks * c * k);
    blas_.gemm<D>(CUBLAS_OP_C, CUBLAS_OP_N, c, k, chunk, D(1), s.x.data() + end_, ld_, chunk,
                  omega + end_, ld_, chunk, D(0), parts, c, c * k, chunks);
    return {parts, chunks, static_cast<int>(c), static_cast<int>(k), s.q.at_least(c * k)};
  }

  /// svd.side[].r: R of X Q or of X, by levels of tiles; X itself where it is wide.
  void factorise_tiles(SmallSvd<D>& svd, index_t limit) {
    Tiles<D> tiles{};
    index_t k = 0;
    bool tall[2];
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      tall[i] = !s.done && rest_ > s.inner;
      if (s.done) continue;
      const D* const from = (s.sketched ? s.z.data() : s.x.data()) + end_;
      svd.side[i].r = from;
      svd.side[i].ld = ld_;
      if (!tall[i]) continue;
      tiles.side[i] = {from, ld_, rest_, static_cast<int>(s.inner), 0, 0, nullptr};
      k = std::max(k, s.inner);
    }
    if (k == 0) return;
    const index_t size = static_cast<index_t>(sizeof(D));
    const Tiling tiling(k, limit);
    const bool in_shared = tiling.in_shared;
    const int tile = tiling.rows;
    for (int level = 0;; ++level) {
      int blocks = 0;
      bool more = false;
      for (int i = 0; i < 2; ++i) {
        if (!tall[i]) continue;
        auto& t = tiles.side[i];
        t.tile = tile;
        t.count = static_cast<int>((t.rows + tile - 1) / tile);
        t.to = sides_[i].r[level % 2].at_least(t.count * t.columns * t.columns);
        blocks += t.count;
        more |= t.count > 1;
      }
      tiles.scratch_stride = tile * k;
      tiles.scratch = in_shared ? nullptr : scratch_.at_least(blocks * tiles.scratch_stride);
      const index_t bytes = (in_shared ? tile * k + k : k) * size;
      gpu::launch(operation_, tiles_kernel<D>,
                  gpu::Grid{static_cast<unsigned>(blocks), threads_for(k, tile_threads),
                            static_cast<std::size_t>(bytes)},
                  stream_, tiles);
      for (int i = 0; i < 2; ++i) {
        if (!tall[i]) continue;
        auto& t = tiles.side[i];
        svd.side[i].r = t.to;
        t.from = t.to;
        t.rows = index_t{t.count} * t.columns;
        t.ld = t.rows;
        svd.side[i].ld = t.columns;
      }
      if (!more) return;
    }
  }

  /// Is the residual of the sketch small enough? If so, how much stays.
  void judge(Side& s, double residual_squares) {
    double squares = residual_squares;
    for (const double v : s.values) squares += v * v;
    s.norm = std::sqrt(squares);
    const double residual = std::sqrt(residual_squares);
    const double floor = 2 * double(epsilon<T>) * std::sqrt(double(s.columns)) * s.norm;
    const bool enough = residual <= std::max(s.truncation.tail / 4, floor) ||
                        s.asked - oversampling >= s.truncation.most;
    if (!enough) {
      // X again, up to rounding, for a larger sketch.
      blas_.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_C, rest_, s.columns, s.asked, D(1), s.z.data() + end_,
                    ld_, 0, s.q.data(), s.columns, 0, D(1), s.x.data() + end_, ld_, 0);
      s.asked *= 2;
      return;
    }
    choose(s, residual <= floor ? 0 : residual_squares);
  }

  void choose(Side& s, double dropped) {
    s.kept = static_cast<index_t>(s.values.size());
    while (s.kept > 0) {
      const double last = s.values[s.kept - 1], next = dropped + last * last;
      if (s.kept <= s.truncation.most && std::sqrt(next) > s.truncation.tail) break;
      dropped = next;
      --s.kept;
    }
    s.dropped_squares += dropped;
    s.done = true;
  }

  /// X = U S V^H by cuSOLVER, through R where X is tall: X^H or R^H = V S U^H.
  void factorise(Side& s) {
    const index_t c = s.columns, q = smaller(s);
    s.inner = c;
    s.values.assign(static_cast<std::size_t>(q), 0);
    s.norm = 0;
    D* const x = s.x.data() + end_;
    Adjoint<D> adjoint{x, ld_, rest_, c, false, nullptr};
    int* const info = info_.at_least(1);
    if (!solver_) solver_.emplace(operation_, stream_);
    const auto run = [&](std::size_t bytes, const auto& call) {
      call(gpu::Solver::Buffer{solver_memory_.at_least(static_cast<index_t>(bytes)), bytes});
      int status = 0;
      gpu::check(cudaMemcpyAsync(&status, info, sizeof(int), cudaMemcpyDeviceToHost, stream_),
                 operation_);
      gpu::check(cudaStreamSynchronize(stream_), operation_);
      if (status != 0) throw BackendError(operation_, "cuSOLVER", status, "no convergence");
    };
    if (rest_ > c) {
      D* const copy = s.z.at_least(ld_ * c);
      copy_columns(x, ld_, copy, rest_, rest_, c);
      D* const tau = s.parts.at_least(c);
      run(solver_->geqrf_bytes<D>(rest_, c, copy, rest_, tau), [&](gpu::Solver::Buffer buffer) {
        solver_->geqrf<D>(rest_, c, copy, rest_, tau, buffer, info);
      });
      adjoint = {copy, rest_, c, c, true, nullptr};
    }
    D* const b = s.work.at_least(c * q);
    adjoint.to = b;
    gpu::launch(operation_, adjoint_kernel<D>,
                gpu::persistent_blocks(c * q, plain_threads, processors_), plain_threads, stream_,
                adjoint);
    D* const v = s.v.at_least(c * q);
    R* const sigma = sigma_.at_least(q);
    run(solver_->gesvd_bytes<D>(true, c, q, b, c),
        [&](gpu::Solver::Buffer buffer) { solver_->gesvd<D>(c, q, b, c, sigma, v, buffer, info); });
    std::vector<R> values(q);
    gpu::check(cudaMemcpy(values.data(), sigma, q * sizeof(R), cudaMemcpyDeviceToHost), operation_);
    s.values.assign(values.begin(), values.end());
    for (const double value : s.values) s.norm += value * value;
    s.norm = std::sqrt(s.norm);
    choose(s, 0);
  }

  /// The basis and C' = X V.
  void finish(Side& s, index_t size, D* basis) {
    const index_t c = s.columns, kept = s.kept,
                  most_next = room_ > 0 ? room_ : 2 * std::max<index_t>(size, 128);
    s.basis = basis;
    D* const next = s.next.at_least(ld_ * (kept + most_next));
    const index_t v_rows = s.sketched ? s.inner : c;
    if (s.sketched) {
      blas_.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_N, c, kept, v_rows, D(1), s.q.data(), c, 0, s.v.data(),
                    v_rows, 0, D(0), basis, c, 0);
    } else {
      copy_columns(s.v.data(), c, basis, c, c, kept);
    }
    const D* const from = (s.sketched ? s.z.data() : s.x.data()) + end_;
    blas_.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_N, rest_, kept, v_rows, D(1), from, ld_, 0, s.v.data(),
                  v_rows, 0, D(0), next + end_, ld_, 0);
    std::swap(s.x, s.next);
    s.state = kept;
  }

  const char* operation_;
  cudaStream_t stream_;
  int processors_;
  index_t n_, ld_;
  R scale_;
  const R* factor_ = nullptr;
  index_t room_ = 0;  ///< for the columns of the next block; 0: for larger ones than this one's
  Array<std::byte, 1, space::cuda> blas_memory_;
  gpu::Blas blas_;
  std::optional<gpu::Solver> solver_;
  std::array<Side, 2> sides_;
  Buffer<D> probes_, scratch_;
  Buffer<double> summary_, squares_;
  Buffer<R> sigma_;
  Buffer<int> info_;
  Buffer<std::byte> solver_memory_;
  index_t probe_columns_ = 0, end_ = 0, rest_ = 0;
};

}  // namespace structmat::quasiseparable
