#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/net/roce.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/measure/roce_counters.h"
#include "trafficgen/roce/control/rate_controller.h"
#include "trafficgen/roce/departure_times.h"
#include "trafficgen/roce/outgoing_requests.h"
#include "trafficgen/roce/roce_config.h"
#include "trafficgen/roce/selective_recovery.h"

namespace outrider::tg {

/// The side of a queue pair that sends RDMA WRITEs or SENDs, reliable and in order.
///
/// Bytes are appended to requests (OutgoingRequests). Packets leave no faster than the
/// RateController says, and at most `window_packets` beyond what is acknowledged, or fewer if it
/// says so. With go-back-N a NAK of a sequence error, or a silence of `timeout`, makes all packets
/// leave again from the first one that is not acknowledged. With selective repeat only those leave
/// again that are missing (SelectiveRecovery). After `retry_limit` silences in a row without
/// progress the requester gives up.
///
/// A NAK of an invalid request, of remote access or of a remote operation ends the connection at
/// once. An RNR NAK makes it wait as long as the NAK says, in which the silence is not judged, and
/// send again from the packet that the NAK names; after `rnr_retry` of them without progress it
/// gives up.
///
/// A PSN is the sum of a packet's number and the first PSN, modulo 2^24. Source: InfiniBand
/// Architecture Specification 1.2.1, sections 9.7.5 to 9.9. Not thread-safe; nothing allocates
/// after construction, except one doubling of the requests' ring at most.
class Requester {
 public:
  struct Setup {
    std::uint32_t path_mtu = 1024;            ///< payload of a full packet
    std::uint32_t peer_queue_pair = 0;        ///< 24 bits
    std::uint32_t first_psn = 0;              ///< 24 bits
    std::optional<std::uint32_t> peer_key{};  ///< of the peer's memory; absent: its queue pair
    std::uint64_t peer_address = 0;           ///< where the first byte goes
    /// Requests that are not acknowledged, at most; 0: the window's packets and one. It is memory.
    std::uint32_t requests = 0;
    std::uint32_t telemetry_bytes = 0;  ///< that each data packet carries beside
  };
  /// @param config,counters must outlive the requester
  Requester(const RoceConfig& config, const Setup& setup, std::unique_ptr<RateController> control,
            RoceCounters& counters);

  /// Appends bytes > 0. @param immediate sent with the last of them, which then end the message
  void append(std::uint64_t bytes, std::optional<std::uint32_t> immediate, Time now) noexcept;

  [[nodiscard]] bool has_packet(Time now) const noexcept {
    return wants_to_send() && now >= pace_.next_at;
  }
  /// Returns the packet, which leaves now. @pre has_packet(now)
  [[nodiscard]] roce::Message next_packet(Time now) noexcept;
  /// Gives up if it is a NAK that says so.
  /// @param path what hops have told with it; nullptr: nothing
  /// @return false if it acknowledges or names what was never sent, or has a reserved syndrome
  bool on_acknowledge(const roce::Message& m, Time now,
                      const roce::Telemetry* path = nullptr) noexcept;
  [[nodiscard]] Time next_timer() const noexcept;
  void on_timer(Time now) noexcept;
  /// Abandons all that is not acknowledged, also after it has given up, and goes on with the PSN
  /// after it. The rate stays. The peer's responder must skip_to() next_psn().
  void abandon() noexcept;

  [[nodiscard]] bool gave_up() const noexcept { return gave_up_ != GaveUp::kNot; }
  /// Returns what was appended, and how much of it is acknowledged.
  [[nodiscard]] const OutgoingRequests& requests() const noexcept { return requests_; }
  struct State {
    GaveUp gave_up = GaveUp::kNot;
    bool awaits_receiver = false;  ///< the last that the peer has said is that it is not ready
    std::uint64_t in_flight_packets = 0;  ///< that have left and are not acknowledged
  };
  [[nodiscard]] State state() const noexcept {
    return {gave_up_, not_ready_ != 0, highest_ - acknowledged_};
  }
  /// Returns when the first packet left of those that were appended after note_burst().
  [[nodiscard]] std::optional<Time> first_sent_at() const noexcept { return first_sent_at_; }
  void note_burst() noexcept { first_sent_at_.reset(); }
  /// Returns the PSN of the packet after all those that were appended.
  [[nodiscard]] std::uint32_t next_psn() const noexcept { return psn_of(requests_.end()); }
  [[nodiscard]] RateController& control() const noexcept { return *control_; }

 private:
  using Request = OutgoingRequests::Request;
  struct Pace {
    Time next_at{};    ///< of the next packet
    bool over = true;  ///< it was reached when last looked at
    void look(Time now) noexcept { over = now >= next_at; }
  };

  [[nodiscard]] std::uint32_t psn_of(std::uint64_t packet) const noexcept {
    return static_cast<std::uint32_t>(setup_.first_psn + packet) & roce::kPsnMask;
  }
  [[nodiscard]] bool wants_to_send() const noexcept {
    const bool next = sent_ < requests_.end() && sent_ - acknowledged_ < window_packets_;
    return (next || recovery_.next() != SelectiveRecovery::kNone) && !gave_up();
  }
  [[nodiscard]] roce::Message packet(const Request& request, std::uint64_t number) const noexcept;
  void advance_to(std::uint64_t packet, Time now) noexcept;
  void repair(std::optional<std::uint64_t> arrived, bool selects, Time now) noexcept;
  void go_back() noexcept;
  void await_receiver(Duration wait, Time now) noexcept;
  void give_up(GaveUp why) noexcept;

  const RoceConfig& config_;
  Setup setup_;
  std::unique_ptr<RateController> control_;
  RoceCounters& counters_;
  bool selective_;                ///< selective repeat, instead of go-back-N
  bool reads_acks_;               ///< the controller does
  std::uint32_t window_packets_;  ///< that may be in flight
  DepartureTimes departures_;     ///< if reads_acks_
  OutgoingRequests requests_;
  std::size_t at_ = 0;  ///< place in requests_ of the packet that leaves next
  SelectiveRecovery recovery_;
  std::size_t resend_at_ = 0;       ///< the same of the packet that leaves again next
  std::uint64_t acknowledged_ = 0;  ///< packets
  std::uint64_t sent_ = 0;          ///< the packet that leaves next
  std::uint64_t highest_ = 0;       ///< packets that have left at least once
  std::optional<Time> first_sent_at_{};
  Pace pace_;
  Time deadline_ = kNever;
  std::uint32_t silences_ = 0;
  Time not_ready_until_{};       ///< an RNR NAK has said so
  std::uint32_t not_ready_ = 0;  ///< RNR NAKs in a row
  GaveUp gave_up_ = GaveUp::kNot;
};

}  // namespace outrider::tg
