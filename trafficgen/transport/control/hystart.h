#pragma once

#include <cstdint>
#include <limits>

#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// HyStart++: leaves slow start when round trips lengthen, before packets are lost. When the round
/// trip rises, slow start becomes Conservative Slow Start (CSS), which grows at a quarter of the
/// speed. Five rounds of CSS end slow start, unless the round trip falls below that at the begin of
/// CSS: then the rise was temporary, and slow start resumes.
///
/// Call on_ack() for every ACK of the first slow start, then growth(); once
/// finished() the controller sets ssthresh to its window. Not thread-safe, O(1),
/// 24 bytes.
///
/// Source: RFC 9406, section 4.2 and the constants of 4.3, with L = 8 (no pacing). The RTT
/// thresholds are settings, because round trips of 100 us never exceed those of 4.3. Deviation:
/// round trips are kept up to 4.29 s; longer ones count as that.
class HyStart {
 public:
  static constexpr std::uint8_t kRttSamples = 8;          ///< N_RTT_SAMPLE
  static constexpr std::uint32_t kRttDivisor = 8;         ///< MIN_RTT_DIVISOR
  static constexpr std::uint32_t kGrowthDivisor = 4;      ///< CSS_GROWTH_DIVISOR
  static constexpr std::uint8_t kConservativeRounds = 5;  ///< CSS_ROUNDS
  static constexpr std::uint32_t kLimitSegments = 8;      ///< L

  void on_ack(const AckEvent& ack, const ControllerConfig& config) noexcept;
  /// Returns the bytes by which the window grows for this ACK.
  [[nodiscard]] std::uint32_t growth(std::uint32_t acked_bytes,
                                     std::uint32_t mss_bytes) const noexcept;
  [[nodiscard]] bool conservative() const noexcept { return phase_ == Phase::kConservative; }
  [[nodiscard]] bool finished() const noexcept { return phase_ == Phase::kFinished; }

 private:
  enum class Phase : std::uint8_t { kSlowStart, kConservative, kFinished };
  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

  void begin_round(std::uint64_t snd_nxt) noexcept;
  [[nodiscard]] bool has_risen(const ControllerConfig& config) const noexcept;

  std::uint64_t window_end_ = 0;                 ///< stream offset: the round ends after it
  std::uint32_t last_min_rtt_ns_ = kUnknown;     ///< of the last round
  std::uint32_t current_min_rtt_ns_ = kUnknown;  ///< of this one
  std::uint32_t baseline_rtt_ns_ = kUnknown;     ///< at the begin of CSS
  std::uint8_t samples_ = 0;                     ///< of this round, up to kRttSamples
  std::uint8_t conservative_rounds_ = 0;
  Phase phase_ = Phase::kSlowStart;
};

}  // namespace outrider::tg
