#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "common/core/clock.h"
#include "switch/aqm/mark_verdict.h"

namespace outrider {

/// Ways in which RED spreads its marks.
enum class RedSpacing : std::uint8_t {
  kUniform,      ///< the paper's: gaps uniform in {1..1/p}, so about 2p of the packets are marked
  kIndependent,  ///< each packet with probability p, as switch chips do for ECN
};

/// Random early detection: marks with a probability that grows with the average occupancy,
/// from 0 at Kmin to Pmax at Kmax, and marks every packet from Kmax on. Occupancies are in
/// packets or bytes, as Kmin and Kmax are. They exclude the packet that arrives and the one
/// in service.
///
/// Call on_enqueue() for every packet that is judged, on_dequeue() for every
/// packet that leaves the queue; `now` does not decrease. O(1), no division, no
/// allocation, not thread-safe (one lcore owns it).
///
/// Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion
/// Avoidance", 1993: average and idle time section 4 and figure 2, probability and
/// uniform gaps section 7. Deviations: always marks from Kmax on (RFC 3168 section 7
/// asks routers to drop there, but the switches of DCTCP and DCQCN mark); no "gentle" slope;
/// a packet that finds the queue empty is a sample too, after those of the idle time.
/// Otherwise a link that is never idle for a whole packet time would keep an old average.
/// DPDK's rte_red divides by 2 - count p instead of 1 - count p, which equals this with
/// half of its Pmax.
class RedMarker {
 public:
  struct Params {
    double kmin = 0;    ///< [packets or bytes] >= 0
    double kmax = 0;    ///< same unit, > kmin
    double pmax = 0;    ///< in (0, 1]
    double weight = 1;  ///< weight of a new sample in the average, in (0, 1]; 1: instantaneous
    /// Time of an average packet on an otherwise idle link [ns], > 0. An idle period counts as
    /// so many packets that found the queue empty. Unused at weight 1.
    Duration packet_time{};
    RedSpacing spacing = RedSpacing::kUniform;
  };

  /// @pre the ranges above, which the configuration checks
  explicit RedMarker(const Params& params) noexcept
      : params_(params),
        slope_(params.pmax / (params.kmax - params.kmin)),
        packets_per_ns_(params.packet_time > Duration::zero()
                            ? 1.0 / static_cast<double>(params.packet_time.count())
                            : 0) {
    assert(params.kmin >= 0 && params.kmax > params.kmin);
    assert(params.pmax > 0 && params.pmax <= 1 && params.weight > 0 && params.weight <= 1);
    assert(params.weight == 1 || params.packet_time > Duration::zero());
    decay_[0] = 1 - params.weight;
    for (std::size_t i = 1; i < decay_.size(); ++i) decay_[i] = decay_[i - 1] * decay_[i - 1];
  }

  /// @param occupancy of the queue that the packet joins
  /// @param draw uniform in [0, 2^32); the caller draws for every packet, so that
  ///             one queue's decisions do not change another's draws
  [[nodiscard]] MarkVerdict on_enqueue(std::uint64_t occupancy, std::uint32_t draw,
                                       Time now) noexcept {
    update_average(static_cast<double>(occupancy), now);
    if (average_ < params_.kmin) {
      since_mark_ = kNoneYet;
      return MarkVerdict::kPass;
    }
    if (average_ >= params_.kmax) {
      since_mark_ = 0;
      return MarkVerdict::kMark;
    }
    const double p = slope_ * (average_ - params_.kmin);
    ++since_mark_;
    // draw < p / (1 - count p), without the division; it always holds from count p = 1 on
    const double share =
        params_.spacing == RedSpacing::kUniform ? 1 - static_cast<double>(since_mark_) * p : 1;
    if (static_cast<double>(draw) * 0x1p-32 * share >= p) return MarkVerdict::kPass;
    since_mark_ = 0;
    return MarkVerdict::kMark;
  }

  /// @param left occupancy without the packet that leaves
  void on_dequeue(std::uint64_t left, Time now) noexcept {
    if (left == 0) empty_since_ = now;
  }

  /// Returns the average occupancy as of the last packet judged.
  [[nodiscard]] double average() const noexcept { return average_; }
  [[nodiscard]] const Params& params() const noexcept { return params_; }

 private:
  static constexpr std::int64_t kNoneYet = -1;  ///< the paper's count below Kmin
  static constexpr double kNothing = 1e-6;      ///< an average that counts as an empty queue

  void update_average(double occupancy, Time now) noexcept {
    if (occupancy > 0 || params_.weight == 1) average_ += params_.weight * (occupancy - average_);
    else decay_idle(now);
  }

  /// Multiplies by the paper's (1 - w)^m with m = idle time / packet time (and one more, see
  /// above). The squares of 1 - w are precomputed: at most 32 products, none at average 0.
  void decay_idle(Time now) noexcept {
    assert(now >= empty_since_);
    if (average_ < kNothing) return;
    const double packets = 1 + static_cast<double>((now - empty_since_).count()) * packets_per_ns_;
    empty_since_ = now;
    if (packets >= 0x1p32) {
      average_ = 0;
      return;
    }
    auto m = static_cast<std::uint32_t>(packets);
    for (std::size_t i = 0; m != 0; ++i, m >>= 1U)
      if ((m & 1U) != 0) average_ *= decay_[i];
    if (average_ < kNothing) average_ = 0;
  }

  Params params_;
  double slope_;
  double packets_per_ns_;
  double average_ = 0;
  std::int64_t since_mark_ = kNoneYet;  ///< packets since the last mark, or kNoneYet
  Time empty_since_{};                  ///< meaningful while the queue is empty
  std::array<double, 32> decay_{};      ///< (1 - w)^(2^i)
};

}  // namespace outrider
