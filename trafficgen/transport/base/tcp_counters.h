#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

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

/// Events of all connections that share a TransportMemory [packets unless named
/// otherwise], all but `data_received` rare. Segments with a wrong checksum reach no connection:
/// the host drops them.
struct TcpEvents {
  std::uint64_t data_received = 0;       ///< segments with data that was not delivered yet
  std::uint64_t out_of_order = 0;        ///< of these, kept until earlier data was there
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
  const auto count = [&v](const char* name, const char* unit, const char* help, auto& n) {
    v.value(counter(name, unit, help), n);
  };
  count("data_received", "segments", "Segments with data that was not delivered yet",
        r.data_received);
  count("out_of_order", "segments", "Segments of these that were kept until earlier data was there",
        r.out_of_order);
  count("retransmitted", "segments", "Segments that were sent again", r.retransmitted);
  count("tail_probes", "segments", "Tail loss probes that were sent", r.tail_probes);
  count("duplicates_told", "segments", "D-SACKs received: segments that were sent again in vain",
        r.duplicates_told);
  count("window_probes", "segments", "Probes of a closed window", r.window_probes);
  count("reassembly_refused", "segments", "Segments refused: no room to remember another hole",
        r.reassembly_refused);
  count("paws_rejected", "segments", "Segments with a timestamp older than the last",
        r.paws_rejected);
  count("old_acks", "segments", "ACKs below what was acknowledged", r.old_acks);
  count("time_waits", "connections", "Connections that were closed here first and waited",
        r.time_waits);
  count("time_waits_cut", "connections", "Waits that ended early: too many waited",
        r.time_waits_cut);
  count("time_wait_answers", "segments", "ACKs to segments of a connection that waits",
        r.time_wait_answers);
  count("time_wait_reuses", "connections", "Waits that a new SYN ended", r.time_wait_reuses);
  count("half_open_evicted", "connections", "Half-open connections that made room for a new one",
        r.half_open_evicted);
  count("half_open_refused", "segments", "SYNs dropped: too many connections were half open",
        r.half_open_refused);
  count("acks_of_unsent", "segments", "ACKs of data that was never sent", r.acks_of_unsent);
  count("acks_too_old", "segments", "ACKs too old by more than a window", r.acks_too_old);
  count("sacks_out_of_window", "blocks", "SACK blocks of data never sent, too old, or empty",
        r.sacks_out_of_window);
  count("out_of_window", "segments", "Segments with a sequence number out of the window",
        r.out_of_window);
  count("out_of_stream", "segments", "Segments with data outside of the stream", r.out_of_stream);
  count("out_of_state", "segments", "Segments that a handshake did not wait for", r.out_of_state);
  count("without_ack", "segments", "Segments without the flag ACK", r.without_ack);
  count("without_timestamp", "segments", "Segments without the negotiated timestamp",
        r.without_timestamp);
  count("syns_refused", "segments", "SYNs within a connection", r.syns_refused);
  count("resets_refused", "segments", "RSTs in the window, not at its first byte",
        r.resets_refused);
  count("challenge_acks", "segments", "Challenge ACKs that were sent", r.challenge_acks);
  count("challenge_acks_withheld", "segments", "Challenge ACKs beyond the most of a second",
        r.challenge_acks_withheld);
}

}  // namespace outrider::tg
