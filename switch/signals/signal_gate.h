#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/flow_table.h"
#include "common/core/prefix_table.h"
#include "common/core/recency_list.h"
#include "common/net/tos_signal.h"
#include "common/net/udp_signal.h"
#include "switch/config/config.h"
#include "switch/signals/replay_table.h"
#include "switch/signals/source_filter.h"
#include "switch/signals/token_bucket.h"

namespace outrider::sw {

/// Decides which packets are accepted as iteration-start signals. A packet that fails is forwarded
/// as an ordinary packet. The first of these that it fails is its verdict:
///
/// 1. The form is enabled, and the source is listed at the ingress port: for unsigned signals in
///    `accept_from` or `trusted`, for signed ones in `accept_from` of the key's signer. A signed
///    ACK comes from a server: the host that it goes to has to be listed there.
/// 2. A message is well formed; it is signed if it has to be, by a key that is known.
/// 3. There is a token for the source, at that port and under that key. So a flood uses up the
///    tokens of others only if it comes from the same port with their address and their key's id.
/// 4. A signed message has the tag that its key gives it. An ACK is accepted then: it arms nothing.
/// 5. A signed START is new, within the signer's rate, and announces what the signer may announce.
///
/// The last 4,096 sources have a bucket; a further one takes the place of the least recently
/// used. Its bucket is full if that one was unused for as long as an empty bucket takes to
/// fill, and has one token otherwise. So a source that is evicted and returns gains nothing in
/// the first case, and in the second at most one token for every 4,096 signals of others.
///
/// A lane has a gate for the ports that its lcore owns. A tag covers the destination address, so
/// a copy of a message comes to the same port as the message, as long as addresses lead to one
/// port. Not thread-safe.
class SignalGate {
 public:
  enum class Verdict : std::uint8_t {
    kNotASignal,
    kNotAccepted,  ///< looks like a signal, but its source is not listed at this port
    kBadCode,      ///< START with threshold code zero: served as a signal, but arms nothing
    kBadMessage,   ///< invalid UDP message; an ordinary packet that arms nothing
    kUnsigned,     ///< unsigned message, and all have to be signed
    kUnknownKey,   ///< no signer has the key
    kOverRate,     ///< the source has no token
    kBadTag,       ///< forged, altered, or signed for another flow
    kReplayed,
    kNoWindow,       ///< the key has as many active sources as are remembered
    kOverKeyRate,    ///< the signer has no token
    kNotAuthorised,  ///< more than the signer may announce
    kAdmitted,
  };

  /// Where a packet comes from.
  struct Origin {
    std::uint32_t address = 0;
    std::uint32_t port = 0;  ///< index of the ingress port
  };

  /// @param config must be valid, and its key files read
  explicit SignalGate(const SwitchConfig& config);

  /// Takes over what `old` knows of messages under keys that both have. Allocates nothing.
  void inherit(SignalGate& old) noexcept;

  /// Returns whether signals of that source, signed or not, may be believed at that port.
  [[nodiscard]] bool accepts(const Origin& from) const noexcept;

  /// Judges the TOS form. @param tos  of a TCP segment without payload
  /// @param signal  set with kAdmitted and kBadCode
  Verdict judge(std::uint8_t tos, const Origin& from, Time now,
                tos_signal::Signal& signal) noexcept;

  /// The verdict on a datagram to the signals' port.
  struct Judged {
    Verdict verdict = Verdict::kNotASignal;
    udp_signal::Fault fault{};    ///< set with kBadMessage
    udp_signal::Signal signal{};  ///< set with kAdmitted
    /// Set with kAdmitted: number of the signer that is charged, see share_numbers(); 0: none
    std::uint16_t signer = 0;
  };
  /// Judges the UDP form. @param message  payload of a UDP datagram
  /// @param datagram  its addresses and ports. @param port  index of the ingress port
  Judged judge(std::span<const std::uint8_t> message, const FlowKey& datagram, std::uint32_t port,
               Time now) noexcept;

 private:
  static constexpr std::uint32_t kMaxSources = 4096;
  static constexpr std::uint16_t kNoKey = 0xFFFF;

  struct Source {
    FlowKey key{};
    TokenBucket bucket{};
    Time last_used{};
  };
  struct Signer {
    SourceFilter sources;
    std::optional<PrefixTable> destinations;
    TokenBucket bucket;
    SignerConfig config;
    std::uint16_t number = 0;  ///< of its share; 0: it has none
  };
  struct Key {
    SignalKey key{};
    std::size_t signer = 0;  ///< position in signers_
    ReplayTable seen;
  };

  [[nodiscard]] bool trusts(const Origin& from) const noexcept;
  [[nodiscard]] Verdict judge_unsigned(const Origin& from, Time now) noexcept;
  [[nodiscard]] Verdict judge_signed(const udp_signal::Signal& signal, const FlowKey& datagram,
                                     std::uint32_t port, Time now) noexcept;
  [[nodiscard]] static Verdict judge_new(const udp_signal::Signal& start, const FlowKey& datagram,
                                         Key& key, Signer& signer, Time now) noexcept;
  [[nodiscard]] static bool may_announce(const Signer& signer, const udp_signal::Signal& start,
                                         std::uint32_t destination) noexcept;

  /// Takes a token from the source's bucket, which both forms share. O(1).
  /// @param key_id  nothing: the signal is unsigned
  [[nodiscard]] bool take_token(const Origin& from, std::optional<std::uint8_t> key_id,
                                Time now) noexcept;
  [[nodiscard]] std::uint32_t slot_for(const FlowKey& key, Time now) noexcept;

  SignalConfig config_;
  Duration refill_;                    ///< after which every bucket is full again
  std::vector<SourceFilter> trusted_;  ///< sources of unsigned signals
  PrefixTable listed_;                 ///< all sources of any signals
  PrefixTable announcers_;             ///< sources of signed signals
  std::vector<Signer> signers_;        ///< in the order of the configuration
  std::vector<Key> keys_;
  std::array<std::uint16_t, 256> key_by_id_{};  ///< position in keys_, or kNoKey
  FlowTable<std::uint32_t> index_;  ///< source, port and key -> its position in sources_
  std::vector<Source> sources_;     ///< capacity kMaxSources
  RecencyList recency_;             ///< of sources_
};

}  // namespace outrider::sw
