#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/flow_table.h"
#include "common/core/prefix_table.h"
#include "common/core/recency_list.h"
#include "common/core/token_bucket.h"
#include "common/net/tos_signal.h"
#include "common/net/udp_signal.h"
#include "switch/config/config.h"

namespace outrider::sw {

/// Decides which packets are accepted as iteration-start signals. The form must be enabled, the
/// source's prefix must be listed, and the source's token bucket must have a token. A packet
/// that fails is forwarded as an ordinary packet. Not thread-safe.
///
/// The last 4,096 sources have a bucket; a further one takes the place of the least recently
/// used. Its bucket is full if that one was unused for as long as an empty bucket takes to
/// fill, and has one token otherwise. So a source that is evicted and returns gains nothing in
/// the first case, and in the second at most one token for every 4,096 signals of others.
class SignalGate {
 public:
  enum class Verdict : std::uint8_t {
    kNotASignal,
    kNotAccepted,  ///< looks like a signal, but its source is not listed
    kOverRate,     ///< the source has no token; an ordinary packet that arms nothing
    kBadCode,      ///< START with threshold code zero: served as a signal, but arms nothing
    kBadMessage,   ///< invalid UDP message; an ordinary packet that arms nothing
    kAdmitted,
  };

  /// @param config must be valid: prefixes parse
  explicit SignalGate(const SignalConfig& config);

  /// Returns whether the source's prefix is listed.
  [[nodiscard]] bool accepts(std::uint32_t source_address) const noexcept {
    return accept_from_.lookup(source_address).has_value();
  }

  /// Judges the TOS form. @param tos  of a TCP segment without payload
  /// @param signal  set with kAdmitted and kBadCode
  Verdict judge(std::uint8_t tos, std::uint32_t source_address, Time now,
                tos_signal::Signal& signal) noexcept;

  /// The verdict on a datagram to the signals' port.
  struct Heard {
    Verdict verdict = Verdict::kNotASignal;
    udp_signal::Fault fault{};    ///< set with kBadMessage
    udp_signal::Signal signal{};  ///< set with kAdmitted
  };
  /// Judges the UDP form. @param message  payload of a UDP datagram
  Heard judge(std::span<const std::uint8_t> message, std::uint32_t source_address,
              Time now) noexcept;

 private:
  static constexpr std::uint32_t kMaxSources = 4096;
  struct Source {
    std::uint32_t address = 0;
    TokenBucket bucket{};
    Time last_used{};
  };
  /// Takes a token from the source's bucket, which both forms share. O(1).
  [[nodiscard]] bool take_token(std::uint32_t source_address, Time now) noexcept;
  [[nodiscard]] std::uint32_t slot_for(std::uint32_t source_address, Time now) noexcept;

  SignalConfig config_;
  Duration refill_;  ///< after which every bucket is full again
  PrefixTable accept_from_;
  FlowTable<std::uint32_t> index_;  ///< source -> its position in sources_
  std::vector<Source> sources_;     ///< capacity kMaxSources
  RecencyList recency_;             ///< of sources_
};

}  // namespace outrider::sw
