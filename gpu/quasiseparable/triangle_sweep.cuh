/// \file
/// The sweep of src/quasiseparable/triangle_sweep.hpp over both strictly triangular parts of a dense
/// matrix on the device, block by block.
///
/// X = [C without its first rows, new columns] is reduced by products: Q, an orthonormal basis of the
/// range of X^H Omega for a Gaussian Omega with some columns more than the state has had so far, takes
/// up the row space of X. The rest, X - (X Q) Q^H, is formed and measured; where it is not small beside
/// what may be dropped, Omega gets more columns. A QR factorisation of X Q by tiles of rows and Jacobi
/// rotations of its R give the singular values and vectors. What is dropped is orthogonal to what stays,
/// so errors add up as on the CPU. Where the state is about as large as X, X is factorised as it is
/// (cuSOLVER).
///
/// Source: Halko, Martinsson, Tropp, SIAM Review 53 (2011); Demmel, Grigori, Hoemmen, Langou, SIAM J.
/// Sci. Comput. 34 (2012) for the tiles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/random.cuh"
#include "dense/blas.cuh"
#include "dense/copy.cuh"
#include "dense/solver.cuh"
#include "quasiseparable/sweep_kernels.cuh"
#include "quasiseparable/triangle_sweep.hpp"

namespace structmat::quasiseparable {

/// Device memory that is handed out piece by piece and fetched as a whole.
template <class D>
class Pool {
 public:
  struct Piece {
    std::size_t slab = 0;
    index_t at = 0;
  };

  Piece take(index_t count) {
    constexpr index_t least = index_t{1} << 21;
    if (slabs_.empty() || used_ + count > slabs_.back().size()) {
      slabs_.emplace_back(std::array<index_t, 1>{std::max(least, count)}, uninitialized);
      used_ = 0;
    }
    const Piece piece{slabs_.size() - 1, used_};
    used_ += count;
    return piece;
  }
  D* operator[](const Piece& p) { return slabs_[p.slab].data() + p.at; }

  /// After the work that fills it is done.
  void fetch() {
    for (const auto& slab : slabs_) fetched_.push_back(to_host(slab));
  }
  const D* fetched(const Piece& p) const { return fetched_[p.slab].data() + p.at; }

 private:
  std::vector<Array<D, 1, space::cuda>> slabs_;
  std::vector<Array<D, 1>> fetched_;
  index_t used_ = 0;
};

/// Memory that grows; what it held is lost then.
template <class D>
class Buffer {
 public:
  explicit Buffer(bool zeros = false) : zeros_(zeros) {}
  D* at_least(index_t count) {
    if (memory_.size() < count) {
      const std::array<index_t, 1> extents{count + count / 4};
      memory_ = {};
      memory_ = zeros_ ? Array<D, 1, space::cuda>(extents)
                       : Array<D, 1, space::cuda>(extents, uninitialized);
    }
    return memory_.data();
  }
  D* data() { return memory_.data(); }

 private:
  bool zeros_;
  Array<D, 1, space::cuda> memory_;
};

template <Scalar T>
class PairSweep {
 public:
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;
  using Piece = typename Pool<D>::Piece;

  /// m: square, finite; the sweep is over scale * m, whose norm is about 1.
  PairSweep(const char* operation, const exec::cuda& e, View<const T, 2, space::cuda> m, R scale)
      : operation_(operation),
        stream_(gpu::stream_of(e)),
        processors_(gpu::multiprocessors(operation)),
        n_(m.extent(0)),
        ld_(n_ + chunk),
        scale_(scale),
        blas_memory_({gpu::Blas::workspace_bytes}, uninitialized),
        blas_(operation, stream_, blas_memory_.data()),
        solver_(operation, stream_) {
    sides_[0].m = gpu::strided(m);
    sides_[1].m = gpu::strided(m.transposed());
  }

  index_t state(int side) const { return sides_[side].state; }

  /// scale * P of the next block, by columns: size x state.
  Piece rows(int side, index_t begin, index_t size, Pool<D>& pool) {
    Side& s = sides_[side];
    const Piece p = pool.take(size * s.state);
    copy_columns(s.x.data() + begin, ld_, pool[p], size, size, s.state);
    return p;
  }

  /// Goes past the block of `size` rows starting at `begin`: both triangles. Synchronises.
  void advance(index_t begin, index_t size, const std::array<Truncation, 2>& truncation,
               Pool<D>& pool) {
    end_ = begin + size;
    rest_ = n_ - end_;
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      s.columns = s.state + size;
      s.truncation = truncation[i];
      s.done = false;
      s.asked = std::min(s.state, s.truncation.most) + oversampling;
      // `finish` has left room for the new columns, except in front of the first block.
      D* const x = s.x.at_least(ld_ * s.columns);
      gpu::Strided<const D, 2> from{s.m.data + end_ * s.m.stride[0] + begin * s.m.stride[1],
                                    {s.m.stride[0], s.m.stride[1]}};
      gpu::copy_matrix<D>(operation_, from, gpu::Strided<D, 2>{x + s.state * ld_ + end_, {1, ld_}},
                          rest_, size, processors_, stream_, scale_);
    }
    while (!(sides_[0].done && sides_[1].done)) {
      for (Side& s : sides_) {
        // Nearly all of X: no gain from a sketch.
        if (!s.done && 4 * s.asked >= 3 * smaller(s)) factorise(s);
      }
      if (!(sides_[0].done && sides_[1].done)) sketch();
    }
    for (Side& s : sides_) finish(s, size, pool);
  }

  /// conj([A, Q^T])^T of the block just passed, by columns: (state before + size) x state.
  Piece basis(int side) const { return sides_[side].basis; }
  /// Singular values of X, the kept ones first; of those dropped only the larger ones.
  const std::vector<double>& values(int side) const { return sides_[side].values; }
  double norm(int side) const { return sides_[side].norm; }
  double dropped_squares(int side) const { return sides_[side].dropped_squares; }

 private:
  /// Rows of one product in sketches: enough of them run beside each other.
  static constexpr index_t chunk = 512;
  static constexpr index_t oversampling = 16;
  static constexpr int squares_blocks = 128;

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
    Piece basis{};
  };

  index_t smaller(const Side& s) const { return std::min(rest_, s.columns); }

  void copy_columns(const D* from, index_t ld_from, D* to, index_t ld_to, index_t rows,
                    index_t columns) const {
    if (rows == 0 || columns == 0) return;
    gpu::check(cudaMemcpy2DAsync(to, ld_to * sizeof(D), from, ld_from * sizeof(D), rows * sizeof(D),
                                 columns, cudaMemcpyDeviceToDevice, stream_),
               operation_);
  }

  index_t shared_limit() const {
    int device = 0, bytes = 0;
    gpu::check(cudaGetDevice(&device), operation_);
    gpu::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               operation_);
    return bytes;
  }

  const D* probes(index_t columns) {
    if (probe_columns_ < columns) {
      probe_columns_ = columns + columns / 4;
      const index_t count = ld_ * probe_columns_;
      constexpr std::uint64_t seed = 0x5eed;
      gpu::fill_gaussian<D>(operation_, probes_.at_least(count), count, seed, processors_, stream_);
    }
    return probes_.data();
  }

  /// One attempt for the triangles that are not done.
  void sketch() {
    const index_t limit = shared_limit();
    const index_t chunks = (rest_ + chunk - 1) / chunk;
    Orthonormalise<D> orthonormalise{};
    Squares<D> squares{};
    TriangleSvd<D> svd{};
    index_t orthonormalise_bytes = 0, svd_bytes = 0;
    orthonormalise.in_shared = svd.in_shared = true;
    index_t summary_size = 2;
    for (const Side& s : sides_) summary_size += s.done ? 0 : s.asked;
    double* const summary = summary_.at_least(summary_size);
    squares.out = squares_.at_least(2 * squares_blocks);
    svd.squares = squares.out;
    svd.squares_count = squares_blocks;
    index_t summary_at = 0;
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      svd.side[i].summary = summary + summary_at;
      summary_at += 1 + (s.done ? 0 : s.asked);
      if (s.done) continue;
      const index_t k = s.asked, c = s.columns;
      const D* const omega = probes(k);
      D* const parts = s.parts.at_least(chunks * c * k);
      blas_.gemm<D>(CUBLAS_OP_C, CUBLAS_OP_N, c, k, chunk, D(1), s.x.data() + end_, ld_, chunk,
                    omega + end_, ld_, chunk, D(0), parts, c, c * k, chunks);
      orthonormalise.side[i] = {parts, chunks, static_cast<int>(c), static_cast<int>(k),
                                s.q.at_least(c * k)};
      orthonormalise_bytes =
          std::max(orthonormalise_bytes, (c * k + k) * static_cast<index_t>(sizeof(D)));
      D* const work = s.work.at_least(k * k);
      svd.side[i] = {nullptr, static_cast<int>(k), work, s.v.at_least(k * k), svd.side[i].summary};
      svd_bytes = std::max(svd_bytes, k * k * static_cast<index_t>(sizeof(D)) +
                                          k * static_cast<index_t>(sizeof(R) + sizeof(int)));
      s.inner = k;
      s.sketched = true;
    }
    if (orthonormalise_bytes > limit) {
      orthonormalise.in_shared = false;
      orthonormalise_bytes = largest_asked() * static_cast<index_t>(sizeof(D));
    }
    if (svd_bytes > limit) {
      svd.in_shared = false;
      svd_bytes = largest_asked() * static_cast<index_t>(sizeof(R) + sizeof(int));
    }
    gpu::launch(operation_, orthonormalise_kernel<D>,
                gpu::Grid{2, threads_for(largest_asked(), sweep_threads),
                          static_cast<std::size_t>(orthonormalise_bytes)},
                stream_, orthonormalise);
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      if (s.done) continue;
      const index_t k = s.asked, c = s.columns;
      D* const x = s.x.data() + end_;
      D* const z = s.z.at_least(ld_ * k) + end_;
      blas_.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_N, rest_, k, c, D(1), x, ld_, 0, s.q.data(), c, 0, D(0),
                    z, ld_, 0);
      blas_.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_C, rest_, c, k, D(-1), z, ld_, 0, s.q.data(), c, 0, D(1),
                    x, ld_, 0);
      squares.side[i] = {x, ld_, rest_, static_cast<int>(c)};
    }
    gpu::launch(operation_, squares_kernel<D>, 2 * squares_blocks, plain_threads, stream_, squares);
    factorise_tiles(svd, limit);
    gpu::launch(operation_, triangle_svd_kernel<D>,
                gpu::Grid{2, threads_for(largest_asked(), sweep_threads),
                          static_cast<std::size_t>(svd_bytes)},
                stream_, svd);

    std::vector<double> seen(summary_at);
    gpu::check(cudaMemcpyAsync(seen.data(), summary, summary_at * sizeof(double),
                               cudaMemcpyDeviceToHost, stream_),
               operation_);
    gpu::check(cudaStreamSynchronize(stream_), operation_);
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      if (s.done) continue;
      const double* const own = seen.data() + (svd.side[i].summary - summary);
      s.values.assign(own + 1, own + 1 + s.asked);
      judge(s, own[0]);
    }
  }

  index_t largest_asked() const {
    index_t largest = 0;
    for (const Side& s : sides_) {
      if (!s.done) largest = std::max(largest, s.asked);
    }
    return largest;
  }

  /// R of z in svd.side[].r, by levels of tiles.
  void factorise_tiles(TriangleSvd<D>& svd, index_t limit) {
    Tiles<D> tiles{};
    for (int i = 0; i < 2; ++i) {
      Side& s = sides_[i];
      if (s.done) continue;
      tiles.side[i].from = s.z.data() + end_;
      tiles.side[i].ld = ld_;
      tiles.side[i].rows = rest_;
      tiles.side[i].columns = static_cast<int>(s.asked);
    }
    const index_t k = largest_asked(), size = static_cast<index_t>(sizeof(D));
    // Tiles that do not fit into shared memory with at least three triangles in them are worked on in
    // global memory.
    const index_t fitting = k == 0 ? 0 : ((limit - k * size) / (k * size)) / 32 * 32;
    const bool in_shared = fitting >= 3 * k;
    const int tile =
        static_cast<int>(in_shared ? std::min<index_t>(fitting, 512) : (4 * k + 31) / 32 * 32);
    for (int level = 0;; ++level) {
      int blocks = 0;
      bool more = false;
      for (int i = 0; i < 2; ++i) {
        auto& t = tiles.side[i];
        Side& s = sides_[i];
        t.tile = tile;
        t.count = s.done ? 0 : static_cast<int>((t.rows + tile - 1) / tile);
        blocks += t.count;
        more |= t.count > 1;
        if (!s.done) t.to = s.r[level % 2].at_least(t.count * t.columns * t.columns);
      }
      tiles.scratch_stride = tile * k;
      tiles.scratch = in_shared ? nullptr : scratch_.at_least(blocks * tiles.scratch_stride);
      const index_t bytes = (in_shared ? tile * k + k : k) * size;
      gpu::launch(operation_, tiles_kernel<D>,
                  gpu::Grid{static_cast<unsigned>(blocks), threads_for(k, tile_threads),
                            static_cast<std::size_t>(bytes)},
                  stream_, tiles);
      for (int i = 0; i < 2; ++i) {
        auto& t = tiles.side[i];
        if (sides_[i].done) continue;
        svd.side[i].r = t.to;
        t.from = t.to;
        t.rows = index_t{t.count} * t.columns;
        t.ld = t.rows;
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
    s.sketched = false;
    s.inner = c;
    s.values.assign(static_cast<std::size_t>(q), 0);
    s.norm = 0;
    if (q == 0) return choose(s, 0);
    D* const x = s.x.data() + end_;
    Adjoint<D> adjoint{x, ld_, rest_, c, false, nullptr};
    int* const info = info_.at_least(1);
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
      run(solver_.geqrf_bytes<D>(rest_, c, copy, rest_, tau), [&](gpu::Solver::Buffer buffer) {
        solver_.geqrf<D>(rest_, c, copy, rest_, tau, buffer, info);
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
    run(solver_.gesvd_bytes<D>(true, c, q, b, c),
        [&](gpu::Solver::Buffer buffer) { solver_.gesvd<D>(c, q, b, c, sigma, v, buffer, info); });
    std::vector<R> values(q);
    gpu::check(cudaMemcpy(values.data(), sigma, q * sizeof(R), cudaMemcpyDeviceToHost), operation_);
    s.values.assign(values.begin(), values.end());
    for (const double value : s.values) s.norm += value * value;
    s.norm = std::sqrt(s.norm);
    choose(s, 0);
  }

  /// The basis and C' = X V.
  void finish(Side& s, index_t size, Pool<D>& pool) {
    const index_t c = s.columns, kept = s.kept, most_next = 2 * std::max<index_t>(size, 128);
    s.basis = pool.take(c * kept);
    D* const basis = pool[s.basis];
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
  Array<std::byte, 1, space::cuda> blas_memory_;
  gpu::Blas blas_;
  gpu::Solver solver_;
  std::array<Side, 2> sides_;
  Buffer<D> probes_, scratch_;
  Buffer<double> summary_, squares_;
  Buffer<R> sigma_;
  Buffer<int> info_;
  Buffer<std::byte> solver_memory_;
  index_t probe_columns_ = 0, end_ = 0, rest_ = 0;
};

}  // namespace structmat::quasiseparable
