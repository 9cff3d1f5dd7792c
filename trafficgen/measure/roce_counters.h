#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::tg {

/// Why a requester has given up.
enum class GaveUp : std::uint8_t {
  kNot,
  kSilence,          ///< of the peer, too often in a row
  kNotReady,         ///< the peer has said too often that it has no buffer
  kInvalidRequest,   ///< these three the peer has said, by a NAK
  kRemoteAccess,     ///< a wrong key, address or length
  kRemoteOperation,  ///< the peer failed
};

/// Counts of one or more queue pairs of RoCEv2, in packets unless stated otherwise. Identity:
/// arrived == in_order + out_of_order + duplicate + acks_received + naks_received + cnps_received +
/// bad_icrc + malformed + refused.
struct RoceCounters {
  std::uint64_t queue_pairs = 0;    ///< of workers, each connected to one of a server
  std::uint64_t sent = 0;           ///< data
  std::uint64_t retransmitted = 0;  ///< of these, sent again
  std::uint64_t acks_sent = 0;
  std::uint64_t naks_sent = 0;
  std::uint64_t cnps_sent = 0;
  std::uint64_t recoveries = 0;  ///< begun by NAKs
  std::uint64_t timeouts = 0;    ///< silences of a requester
  std::uint64_t arrived = 0;     ///< packets of all kinds
  std::uint64_t in_order = 0;    ///< data with the PSN that was expected
  std::uint64_t out_of_order = 0;
  std::uint64_t kept = 0;          ///< of these, by selective repeat, until their turn
  std::uint64_t contradicted = 0;  ///< of these, not delivered: they do not continue the message
  std::uint64_t duplicate = 0;
  std::uint64_t acks_received = 0;
  std::uint64_t naks_received = 0;
  std::uint64_t rnr_naks_received = 0;  ///< of these: the receiver was not ready
  std::uint64_t cnps_received = 0;
  std::uint64_t bad_icrc = 0;
  std::uint64_t malformed = 0;  ///< opcodes that the transport does not have, or wrong lengths
  std::uint64_t refused = 0;    ///< a wrong key, or something that contradicts what was sent before
  std::uint64_t marked = 0;     ///< data with CE
  // Requesters that gave up:
  std::uint64_t ended_by_silence = 0;
  std::uint64_t ended_not_ready = 0;
  std::uint64_t ended_invalid_request = 0;
  std::uint64_t ended_remote_access = 0;
  std::uint64_t ended_remote_operation = 0;

  /// Returns the count of those that gave up for that reason. @pre why != GaveUp::kNot
  [[nodiscard]] std::uint64_t& ended(GaveUp why) noexcept {
    switch (why) {
      case GaveUp::kNotReady:
        return ended_not_ready;
      case GaveUp::kInvalidRequest:
        return ended_invalid_request;
      case GaveUp::kRemoteAccess:
        return ended_remote_access;
      case GaveUp::kRemoteOperation:
        return ended_remote_operation;
      default:
        return ended_by_silence;
    }
  }

  [[nodiscard]] bool balanced() const noexcept {
    return arrived == in_order + out_of_order + duplicate + acks_received + naks_received +
                          cnps_received + bad_icrc + malformed + refused;
  }
  RoceCounters& operator+=(const RoceCounters& o) noexcept;
  bool operator==(const RoceCounters&) const = default;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RoceCounters>
void fields(V& v, R& r) {
  const auto packets = [&v](const char* name, const char* help, auto& count) {
    v.value(counter(name, "packets", help), count);
  };
  v.value(
      gauge("queue_pairs", "queue pairs", "Queue pairs of workers, each connected to a server's"),
      r.queue_pairs);
  packets("sent", "Data packets that requesters sent", r.sent);
  packets("retransmitted", "Data packets that were sent again", r.retransmitted);
  packets("acks_sent", "Acknowledgments that responders sent", r.acks_sent);
  packets("naks_sent", "NAKs that responders sent", r.naks_sent);
  packets("cnps_sent", "Congestion notification packets that responders sent", r.cnps_sent);
  v.value(counter("recoveries", "recoveries", "Times that a NAK made a requester send again"),
          r.recoveries);
  v.value(counter("timeouts", "timeouts", "Silences after which a requester sent again"),
          r.timeouts);
  packets("arrived", "Packets that queue pairs received", r.arrived);
  packets("in_order", "Data packets with the expected PSN", r.in_order);
  packets("out_of_order", "Data packets after a gap, dropped unless kept", r.out_of_order);
  packets("kept", "Data packets after a gap that selective repeat kept", r.kept);
  packets("contradicted", "Kept packets that proved not to continue the message", r.contradicted);
  packets("duplicate", "Data packets that had arrived before", r.duplicate);
  packets("acks_received", "Acknowledgments that requesters received", r.acks_received);
  packets("naks_received", "NAKs that requesters received", r.naks_received);
  packets("rnr_naks_received", "NAKs of these: the receiver was not ready", r.rnr_naks_received);
  packets("cnps_received", "Congestion notification packets that requesters received",
          r.cnps_received);
  packets("bad_icrc", "Packets with a wrong ICRC", r.bad_icrc);
  packets("malformed", "Packets with an unknown opcode or wrong lengths", r.malformed);
  packets("refused", "Packets that contradict what was sent before", r.refused);
  packets("marked", "Data packets that arrived with CE", r.marked);
  const auto ended = [&v](const char* name, const char* help, auto& count) {
    v.value(counter(name, "queue pairs", help), count);
  };
  ended("ended_by_silence", "Requesters that gave up: silences in a row", r.ended_by_silence);
  ended("ended_not_ready", "Requesters that gave up: the receiver was not ready, in a row",
        r.ended_not_ready);
  ended("ended_invalid_request", "Requesters ended by a NAK of an invalid request",
        r.ended_invalid_request);
  ended("ended_remote_access", "Requesters ended by a NAK of a remote access error",
        r.ended_remote_access);
  ended("ended_remote_operation", "Requesters ended by a NAK of a remote operational error",
        r.ended_remote_operation);
}

inline RoceCounters& RoceCounters::operator+=(const RoceCounters& o) noexcept {
  queue_pairs += o.queue_pairs;
  sent += o.sent;
  retransmitted += o.retransmitted;
  acks_sent += o.acks_sent;
  naks_sent += o.naks_sent;
  cnps_sent += o.cnps_sent;
  recoveries += o.recoveries;
  timeouts += o.timeouts;
  arrived += o.arrived;
  in_order += o.in_order;
  out_of_order += o.out_of_order;
  kept += o.kept;
  contradicted += o.contradicted;
  duplicate += o.duplicate;
  acks_received += o.acks_received;
  naks_received += o.naks_received;
  rnr_naks_received += o.rnr_naks_received;
  cnps_received += o.cnps_received;
  bad_icrc += o.bad_icrc;
  malformed += o.malformed;
  refused += o.refused;
  marked += o.marked;
  ended_by_silence += o.ended_by_silence;
  ended_not_ready += o.ended_not_ready;
  ended_invalid_request += o.ended_invalid_request;
  ended_remote_access += o.ended_remote_access;
  ended_remote_operation += o.ended_remote_operation;
  return *this;
}

}  // namespace outrider::tg
