#include "recurrence/triangles_vjp.hpp"

#include <algorithm>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "recurrence/lane_rows.hpp"
#include "structmat/core/array.hpp"

namespace structmat::recurrence {
namespace {

/// Rows between two states that are kept; the states between them are computed again.
template <transition::Uniform K>
constexpr index_t chunk_rows(index_t order) {
  if constexpr (K::rank != 4) return 64;
  return std::clamp<index_t>(16384 / std::max<index_t>(order * order, 1), 16, 64);
}

/// Right-hand sides that are carried at the same time, which bounds the states that are kept.
constexpr index_t most_columns = 64;

/// The reverse sweep over one triangle of one batch entry.
template <Scalar T, transition::Uniform K>
class AdjointPass {
 public:
  using R = real_t<T>;

  AdjointPass(const Triangle<T, K>& t, const TriangleCotangent<T, K>& bar, index_t batch,
              bool conjugated)
      : out_(t.out.select(0, batch)),
        in_(t.in.select(0, batch)),
        transition_(t.transition.select(0, batch)),
        out_bar_(select(bar.out, batch)),
        in_bar_(select(bar.in, batch)),
        transition_bar_(select(bar.transition, batch)),
        emit_(t.emit),
        conjugated_(conjugated),
        chunk_(chunk_rows<K>(out_.extent(1))) {}

  /// x, y_bar, x_bar (may be empty): (n, k).
  void run(const View<const T, 2>& x, const View<const T, 2>& y_bar, const View<T, 2>& x_bar) {
    const index_t n = x.extent(0), columns = x.extent(1), order = out_.extent(1);
    if (n == 0 || order == 0) return;
    const index_t together = std::min(columns, most_columns);
    const index_t width = lane_groups(order) * lane_reals<T>;
    states_ = Array<R, 2>({(n + chunk_ - 1) / chunk_, together * width}, uninitialized);
    adjoint_ = Array<R, 1>({together * width}, uninitialized);
    record_ = Array<R, 1>({record_size<T>(chunk_, order)}, uninitialized);
    operands_ = Array<T, 2>({3, chunk_ * together}, uninitialized);
    for (index_t c = 0; c < columns; c += together) {
      const index_t end = std::min(c + together, columns);
      const auto part = [&](const auto& v) { return v.data() ? v.slice(1, c, end) : v; };
      run_columns(part(x), part(y_bar), part(x_bar));
    }
  }

 private:
  template <int Rank>
  static View<T, Rank - 1> select(const View<T, Rank>& bar, index_t batch) {
    return bar.data() ? bar.select(0, batch) : View<T, Rank - 1>{};
  }

  void run_columns(const View<const T, 2>& x, const View<const T, 2>& y_bar,
                   const View<T, 2>& x_bar) {
    const index_t n = x.extent(0), chunks = states_.extent(0);
    std::fill_n(states_.data(), states_.extent(1), R{0});
    for (index_t j = 0; j + 1 < chunks; ++j) {
      R *from = states_.data() + j * states_.extent(1), *to = from + states_.extent(1);
      std::copy_n(from, states_.extent(1), to);
      const AdjointRun<T> rows = forward_run(x, j * chunk_, (j + 1) * chunk_);
      advance<T, K>(rows, to, record_.data());
    }
    std::fill_n(adjoint_.data(), adjoint_.size(), R{0});
    for (index_t j = chunks - 1; j >= 0; --j) {
      const index_t begin = j * chunk_, end = std::min(begin + chunk_, n);
      AdjointRun<T> rows = forward_run(x, begin, end);
      complete(rows, y_bar, begin, end);
      pull_back<T, K>(rows, states_.data() + j * states_.extent(1), adjoint_.data(),
                      record_.data());
      const index_t skip_out = begin == 0 && emit_ == Emit::before ? 1 : 0;
      out_lanes_.flush(part(out_bar_, begin, end), skip_out);
      in_lanes_.flush(part(in_bar_, begin, end), 0);
      transition_lanes_.flush(part(transition_bar_, begin, end), begin == 0 ? 1 : 0);
      if (x_bar.data()) add_operand(rows.x_bar, x_bar.slice(0, begin, end));
    }
  }

  template <class V>
  static V part(const V& v, index_t begin, index_t end) {
    return v.data() ? v.slice(0, begin, end) : v;
  }

  /// What the forward sweep reads. Row 0 has no transition; there may be no memory where it would
  /// stand.
  AdjointRun<T> forward_run(const View<const T, 2>& x, index_t begin, index_t end) {
    AdjointRun<T> run{};
    run.count = end - begin;
    run.columns = x.extent(1);
    run.order = out_.extent(1);
    run.fresh = begin == 0;
    run.last = end == out_.extent(0);
    run.emit = emit_;
    run.in = in_pack_.load(in_.slice(0, begin, end), 0);
    const auto a = transition_.slice(0, begin, end);
    if constexpr (K::rank == 4) {
      run.transposed = transposed_pack_.load(a.transposed(), run.fresh ? 1 : 0);
    } else {
      run.transition = transition_pack_.load(a, run.fresh ? 1 : 0);
    }
    run.x = pack_operand(x.slice(0, begin, end), 0);
    return run;
  }

  /// Adds what the reverse sweep reads and writes.
  void complete(AdjointRun<T>& run, const View<const T, 2>& y_bar, index_t begin, index_t end) {
    const index_t skip_out = run.fresh && emit_ == Emit::before ? 1 : 0;
    run.out = out_pack_.load(out_.slice(0, begin, end), skip_out);
    if constexpr (K::rank == 4) {
      run.transition = transition_pack_.load(transition_.slice(0, begin, end), run.fresh ? 1 : 0);
    }
    run.y_bar = pack_operand(y_bar.slice(0, begin, end), 1);
    run.x_bar = operands_.data() + 2 * operands_.extent(1);
    std::fill_n(run.x_bar, run.count * run.columns, T{});
    run.out_bar = out_lanes_.start(part(out_bar_, begin, end), run.order, run.count);
    run.in_bar = in_lanes_.start(part(in_bar_, begin, end), run.order, run.count);
    run.transition_bar =
        transition_lanes_.start(part(transition_bar_, begin, end), run.order, run.count);
  }

  // The sweep works with plain generators. M^H x = conj(M^T conj(x)), so operands are conjugated on
  // their way in and out where the generators should have been.
  const T* pack_operand(const View<const T, 2>& from, index_t slot) {
    T* to = operands_.data() + slot * operands_.extent(1);
    const T* const begin = to;
    for (index_t i = 0; i < from.extent(0); ++i) {
      for (index_t c = 0; c < from.extent(1); ++c) {
        *to++ = conjugated_ ? conjugate(from(i, c)) : from(i, c);
      }
    }
    return begin;
  }

  void add_operand(const T* from, const View<T, 2>& to) const {
    for (index_t i = 0; i < to.extent(0); ++i) {
      for (index_t c = 0; c < to.extent(1); ++c, ++from) {
        to(i, c) += conjugated_ ? conjugate(*from) : *from;
      }
    }
  }

  View<const T, 2> out_, in_;
  View<const T, K::rank - 1> transition_;
  View<T, 2> out_bar_, in_bar_;
  View<T, K::rank - 1> transition_bar_;
  Emit emit_;
  bool conjugated_;
  index_t chunk_;
  LanePack<T, 2> out_pack_, in_pack_;
  LanePack<T, K::rank - 1> transition_pack_, transposed_pack_;
  LaneSum<T, 2> out_lanes_, in_lanes_;
  LaneSum<T, K::rank - 1> transition_lanes_;
  Array<R, 2> states_;
  Array<R, 1> adjoint_, record_;
  Array<T, 2> operands_;
};

/// Everything that belongs to one batch entry, on one thread or two.
template <Scalar T, transition::Uniform K>
class Entry {
 public:
  Entry(const Triangles<T, K>& m, const TrianglesCotangent<T, K>& m_bar, index_t batch)
      : m_(m), m_bar_(m_bar), batch_(batch) {}

  void run(int team, const View<const T, 2>& x, const View<const T, 2>& y_bar,
           const View<T, 2>& x_bar) const {
    diagonal(x, y_bar, x_bar);
    const auto down = [&](const View<T, 2>& target) {
      if (m_bar_.down.empty() && !target.data()) return;
      AdjointPass<T, K>(m_.down, m_bar_.down, batch_, m_.conjugate).run(x, y_bar, target);
    };
    const auto up = [&](const View<T, 2>& target) {
      if (m_bar_.up.empty() && !target.data()) return;
      AdjointPass<T, K>(m_.up, m_bar_.up, batch_, m_.conjugate)
          .run(x.reversed(0), y_bar.reversed(0), target.reversed(0));
    };
    if (team < 2) {
      down(x_bar);
      up(x_bar);
      return;
    }
    // Both add to x_bar: the second one, which is added last in either case, sums on its own.
    Array<T, 2> other;
    if (x_bar.data()) other = Array<T, 2>(x_bar.extents());
    parallel_for(2, 2, [&](index_t i) { i == 0 ? down(x_bar) : up(other.view()); });
    for (index_t i = 0; i < other.extent(0); ++i) {
      for (index_t c = 0; c < other.extent(1); ++c) x_bar(i, c) += other(i, c);
    }
  }

 private:
  void diagonal(const View<const T, 2>& x, const View<const T, 2>& y_bar,
                const View<T, 2>& x_bar) const {
    if (m_.diagonal.empty()) return;
    const auto value = [this](const T& v) { return m_.conjugate ? conjugate(v) : v; };
    for (index_t i = 0; i < x.extent(0); ++i) {
      if (m_bar_.diagonal.data()) {
        T sum{};
        for (index_t c = 0; c < x.extent(1); ++c) sum += conjugate_product(x(i, c), y_bar(i, c));
        m_bar_.diagonal(batch_, i) += value(sum);
      }
      if (x_bar.data()) {
        const T d = value(m_.diagonal(batch_, i));
        for (index_t c = 0; c < x.extent(1); ++c) x_bar(i, c) += conjugate_product(d, y_bar(i, c));
      }
    }
  }

  const Triangles<T, K>& m_;
  const TrianglesCotangent<T, K>& m_bar_;
  index_t batch_;
};

}  // namespace

template <Scalar T, transition::Uniform K>
void apply_vjp(int threads, const Triangles<T, K>& m, View<const T, 3> x, View<const T, 3> y_bar,
               const TrianglesCotangent<T, K>& m_bar, View<T, 3> x_bar) {
  const index_t batch = y_bar.extent(0), n = y_bar.extent(1), columns = y_bar.extent(2);
  if (batch == 0 || n == 0 || columns == 0) return;

  constexpr index_t worth_a_thread = 10000;
  const index_t order = m.down.out.extent(2) + m.up.out.extent(2) + 1;
  const index_t share = K::rank == 4 ? order * order : order;
  const index_t most = std::max<index_t>(1, batch * n * columns * share / worth_a_thread);
  const int team = static_cast<int>(std::min<index_t>(thread_count(threads), most));

  const auto sums = [](const auto& v) { return v.data() && v.stride(0) == 0; };
  const auto triangle_sums = [&](const TriangleCotangent<T, K>& t) {
    return sums(t.out) || sums(t.in) || sums(t.transition);
  };
  const bool independent = !triangle_sums(m_bar.down) && !triangle_sums(m_bar.up) &&
                           !sums(m_bar.diagonal) && !sums(x_bar);
  const auto entry = [&](index_t b, int inner) {
    Entry<T, K>(m, m_bar, b)
        .run(inner, x.select(0, b), y_bar.select(0, b),
             x_bar.data() ? x_bar.select(0, b) : View<T, 2>{});
  };
  if (independent && batch > 1) {
    parallel_for(team, batch, [&](index_t b) { entry(b, 1); });
  } else {
    for (index_t b = 0; b < batch; ++b) entry(b, team);
  }
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                \
  template void apply_vjp<T, transition::K>(                                       \
      int, const Triangles<T, transition::K>&, View<const T, 3>, View<const T, 3>, \
      const TrianglesCotangent<T, transition::K>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::recurrence
