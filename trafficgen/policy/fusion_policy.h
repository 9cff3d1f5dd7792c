#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/policy/in_flight.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Tensor fusion: at each cycle, the tensors that have become ready since the last one are packed,
/// in the order of the backward pass, into buffers that leave one after the other. A tensor that is
/// larger than a buffer leaves alone.
///
/// Source: Sergeev and Del Balso, "Horovod: fast and easy distributed deep learning in
/// TensorFlow", arXiv 1802.05799, section 4 ("Tensor Fusion"), and Horovod's
/// documentation of HOROVOD_FUSION_THRESHOLD and HOROVOD_CYCLE_TIME. A cycle begins `cycle` after
/// the last one began, or when the last one's buffers are done, whichever is later. Deviations: the
/// first cycle ends `cycle` after the iteration began (in Horovod cycles run freely); a buffer is
/// done when it is acknowledged (in Horovod, when it is reduced); servers answer the tensors of a
/// buffer one by one.
class FusionPolicy final : public SendPolicy {
 public:
  /// @param pieces largest number in an iteration
  FusionPolicy(std::uint32_t targets, std::size_t pieces, std::uint64_t buffer_bytes,
               Duration cycle)
      : ready_(pieces), in_flight_(targets, pieces), buffer_bytes_(buffer_bytes), cycle_(cycle) {}

  void begin(Time now) noexcept override {
    while (!ready_.empty()) (void)ready_.pop();
    packed_ = open_ = 0;
    cycle_at_ = now + cycle_;
  }
  void on_ready(const GradientPiece& piece, bool, Time now) noexcept override {
    if (ready_.empty()) skip_idle_cycles(now);
    ready_.push({piece.target, piece.bytes, piece.index});
  }
  void on_acknowledged(std::uint32_t target, std::uint64_t bytes, Time) noexcept override {
    in_flight_.acknowledge(target, bytes);
  }
  std::optional<PushSegment> next(Time now) noexcept override {
    if (open_ == 0 && !open_buffer(now)) return std::nullopt;
    --open_;
    --packed_;
    PushSegment segment = ready_.pop();
    segment.joined = open_ > 0;
    in_flight_.add(segment.target, {.bytes = segment.bytes, .handed_out = now});
    return segment;
  }
  [[nodiscard]] Time wake_at() const noexcept override {
    return ready_.empty() || packed_ > 0 || !in_flight_.empty() ? kNever : cycle_at_;
  }
  [[nodiscard]] bool needs_acknowledgments() const noexcept override { return true; }

 private:
  /// Skips cycles in which nothing was ready: the next one is the first at or after `now`.
  void skip_idle_cycles(Time now) noexcept {
    if (cycle_at_ >= now) return;
    cycle_at_ += (now - cycle_at_ + cycle_ - Duration{1}) / cycle_ * cycle_;
  }

  /// @return true if a piece may leave
  bool open_buffer(Time now) noexcept {
    if (!in_flight_.empty() || ready_.empty()) return false;
    if (packed_ == 0) {
      if (now < cycle_at_) return false;
      packed_ = ready_.size();
      cycle_at_ = now + cycle_;
    }
    std::uint64_t bytes = ready_.peek().bytes;
    for (open_ = 1; open_ < packed_; ++open_) {
      bytes += ready_.peek(open_).bytes;
      if (bytes > buffer_bytes_) break;
    }
    return true;
  }

  Fifo<PushSegment> ready_;
  InFlight in_flight_;
  std::uint64_t buffer_bytes_;
  Duration cycle_;
  Time cycle_at_{};         ///< when the next cycle may begin
  std::size_t packed_ = 0;  ///< number of first pieces in ready_ that belong to the running cycle
  std::size_t open_ = 0;    ///< of these, still to leave in the current buffer
};

}  // namespace outrider::tg
