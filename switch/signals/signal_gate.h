#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/core/flow_table.h"
#include "common/core/prefix_table.h"
#include "common/core/token_bucket.h"
#include "common/net/tos_signal.h"
#include "common/net/udp_signal.h"
#include "switch/config/config.h"

namespace outrider::sw {

/// Decides which packets are believed to be iteration-start signals: the form
/// must be enabled, the source's prefix listed, and the source within its token
/// bucket. Whatever fails is an ordinary packet. Not thread-safe.
class SignalGate {
 public:
  enum class Verdict : std::uint8_t {
    kNotASignal,
    kNotAccepted,  ///< looks like one, but not from there
    kOverRate,     ///< forwarded like any packet, arms nothing
    kBadCode,      ///< START with threshold code zero: forwarded first, arms nothing
    kBadMessage,   ///< forwarded like any packet, arms nothing
    kAdmitted,
  };

  /// @param config must be valid: prefixes parse
  explicit SignalGate(const SignalConfig& config);

  /// @param tos of a TCP packet without payload
  Verdict judge(std::uint8_t tos, std::uint32_t source_address, Time now,
                tos_signal::Signal& signal) noexcept;

  /// What a datagram to the signals' port is.
  struct Heard {
    Verdict verdict = Verdict::kNotASignal;
    udp_signal::Fault fault{};    ///< of kBadMessage
    udp_signal::Signal signal{};  ///< of kAdmitted
  };
  /// @param message payload of a UDP datagram
  Heard judge(std::span<const std::uint8_t> message, std::uint32_t source_address,
              Time now) noexcept;

 private:
  /// Both forms draw on one bucket.
  [[nodiscard]] bool take_token(std::uint32_t source_address, Time now) noexcept;

  static constexpr std::uint32_t kMaxSources = 4096;
  SignalConfig config_;
  PrefixTable accept_from_;
  FlowTable<TokenBucket> buckets_;  ///< by source; a source beyond kMaxSources counts as over rate
};

}  // namespace outrider::sw
