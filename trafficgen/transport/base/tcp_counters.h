#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace outrider::tg {

/// Counters of one connection [packets unless named otherwise], modulo 2^32 to save memory: there
/// may be a million connections at once. Rare events are in TcpEvents.
struct TcpCounters {
  std::uint32_t segments_sent = 0;  ///< all, pure ACKs too
  std::uint32_t segments_received = 0;
  std::uint32_t retransmitted = 0;
  std::uint32_t rtos_data = 0;       ///< retransmission time-outs of data or FIN
  std::uint32_t rtos_handshake = 0;  ///< of SYN or SYN-ACK
  std::uint32_t fast_recoveries = 0;
  std::uint32_t ece_reductions = 0;
  std::uint32_t ce_received = 0;
  std::uint32_t duplicates_received = 0;  ///< segments with no new byte
  std::uint32_t out_of_order_received = 0;
};

/// Rare events of all connections that share a TransportMemory [packets unless named
/// otherwise]. Segments with a wrong checksum reach no connection: the host drops them.
struct TcpEvents {
  std::uint64_t retransmitted = 0;       ///< segments
  std::uint64_t tail_probes = 0;         ///< sent (RFC 8985, 7)
  std::uint64_t duplicates_told = 0;     ///< D-SACKs received (RFC 2883): resent in vain
  std::uint64_t window_probes = 0;       ///< sent into a closed window
  std::uint64_t reassembly_refused = 0;  ///< no room to remember another hole; never SACKed
  std::uint64_t paws_rejected = 0;       ///< timestamp older than the last (RFC 7323, 5)
  std::uint64_t old_acks = 0;            ///< below what was acknowledged: overtaken, harmless

  std::uint64_t time_waits = 0;         ///< connections that were closed here first and waited
  std::uint64_t time_waits_cut = 0;     ///< of these, ended early: too many waited
  std::uint64_t time_wait_answers = 0;  ///< ACKs to a FIN or another segment of theirs
  std::uint64_t time_wait_reuses = 0;   ///< a new SYN ended the waiting (RFC 6191)

  // SYNs at a host that has as many half-open connections as it may, see Host::Setup.
  std::uint64_t half_open_evicted = 0;  ///< half-open connections that made room for a new one
  std::uint64_t half_open_refused = 0;  ///< SYNs dropped: the oldest one is not yet answered

  // Segments that no correct peer sends, and that were not obeyed. One may count in several
  // counters.
  std::uint64_t acks_of_unsent = 0;       ///< data that was never sent (RFC 5961, 5.2)
  std::uint64_t acks_too_old = 0;         ///< by more than a window (RFC 5961, 5.2)
  std::uint64_t sacks_out_of_window = 0;  ///< blocks: of data never sent, too old, or empty
  std::uint64_t out_of_window = 0;        ///< their sequence number (RFC 9293, 3.10.7.4)
  std::uint64_t out_of_stream = 0;        ///< data before the stream's first byte, or beyond a FIN
  std::uint64_t out_of_state = 0;         ///< handshake: not what this state waits for
  std::uint64_t without_ack = 0;          ///< flag ACK missing
  std::uint64_t without_timestamp = 0;    ///< though negotiated (RFC 7323, 3.2)
  std::uint64_t syns_refused = 0;         ///< within a connection (RFC 5961, 4.2)
  std::uint64_t resets_refused = 0;       ///< in the window, not its first byte (RFC 5961, 3.2)

  std::uint64_t challenge_acks = 0;           ///< sent to such a peer
  std::uint64_t challenge_acks_withheld = 0;  ///< beyond ChallengeAcks::kPerSecond

  [[nodiscard]] std::uint64_t invalid() const noexcept {
    return acks_of_unsent + acks_too_old + sacks_out_of_window + out_of_window + out_of_stream +
           out_of_state + without_ack + without_timestamp + syns_refused + resets_refused;
  }
};

// Bindings, see common/telemetry/json_fields.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, TcpEvents>
void fields(V& v, R& r) {
  v.value("retransmitted", r.retransmitted);
  v.value("tail_probes", r.tail_probes);
  v.value("duplicates_told", r.duplicates_told);
  v.value("window_probes", r.window_probes);
  v.value("reassembly_refused", r.reassembly_refused);
  v.value("paws_rejected", r.paws_rejected);
  v.value("old_acks", r.old_acks);
  v.value("time_waits", r.time_waits);
  v.value("time_waits_cut", r.time_waits_cut);
  v.value("time_wait_answers", r.time_wait_answers);
  v.value("time_wait_reuses", r.time_wait_reuses);
  v.value("half_open_evicted", r.half_open_evicted);
  v.value("half_open_refused", r.half_open_refused);
  v.value("acks_of_unsent", r.acks_of_unsent);
  v.value("acks_too_old", r.acks_too_old);
  v.value("sacks_out_of_window", r.sacks_out_of_window);
  v.value("out_of_window", r.out_of_window);
  v.value("out_of_stream", r.out_of_stream);
  v.value("out_of_state", r.out_of_state);
  v.value("without_ack", r.without_ack);
  v.value("without_timestamp", r.without_timestamp);
  v.value("syns_refused", r.syns_refused);
  v.value("resets_refused", r.resets_refused);
  v.value("challenge_acks", r.challenge_acks);
  v.value("challenge_acks_withheld", r.challenge_acks_withheld);
}

}  // namespace outrider::tg
