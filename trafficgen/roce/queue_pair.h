#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "common/net/roce_telemetry.h"
#include "trafficgen/hosts/datagram_endpoint.h"
#include "trafficgen/roce/cnp_sender.h"
#include "trafficgen/roce/requester.h"
#include "trafficgen/roce/responder.h"

namespace outrider::tg {

class QueuePair;

/// Receives the events of a queue pair, for the application above it.
class QueuePairListener {
 public:
  /// New bytes arrived, in order.
  virtual void on_received(QueuePair& pair, Time now) noexcept = 0;
  /// The peer has acknowledged more bytes.
  virtual void on_acknowledged(QueuePair& pair, Time now) noexcept = 0;
  /// Nothing more will be delivered; Requester::State says why.
  virtual void on_gave_up(QueuePair& pair, Time now) noexcept = 0;

 protected:
  ~QueuePairListener() = default;
};

/// One end of a reliable connection of RoCEv2. Requester and responder share the flow of datagrams
/// and its turn at the NIC. Answers leave before data and are not paced. CNPs with a priority of
/// their own have turns of their own. There is no connection management: both ends are made before
/// the run and know each other's numbers. With a controller that reads telemetry, data packets
/// carry it (roce_telemetry.h), and answers return that of the newest one. Not thread-safe.
class QueuePair final : public DatagramEndpoint {
 public:
  struct Setup {
    FlowKey flow;  ///< in this end's direction: to port 4791
    std::uint32_t path_mtu = 1024;
    std::uint16_t own_queue_pair = 0;
    std::uint32_t peer_queue_pair = 0;        ///< 24 bits
    std::uint32_t first_psn = 0;              ///< of this end's requests, 24 bits
    std::uint32_t peer_first_psn = 0;         ///< of the peer's
    std::optional<std::uint32_t> peer_key{};  ///< of its memory; absent: its queue pair, as ours
    std::uint64_t peer_address = 0;           ///< where the first byte goes in its memory
    BitRate line{};                           ///< of the host's NIC
    std::uint32_t requests = 0;               ///< see Requester::Setup
  };
  /// @param config,listener must outlive the queue pair
  QueuePair(const RoceConfig& config, const Setup& setup, QueuePairListener& listener);
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  // -- for the application, which tells the host of the change after append()
  [[nodiscard]] Requester& requester() noexcept { return requester_; }
  [[nodiscard]] const Requester& requester() const noexcept { return requester_; }
  [[nodiscard]] const Responder& responder() const noexcept { return responder_; }
  /// See Requester::abandon(). @param peer the other end, which expects what is sent next
  void abandon_to(QueuePair& peer) noexcept {
    requester_.abandon();
    peer.responder_.skip_to(requester_.next_psn());
  }
  [[nodiscard]] const RoceCounters& counters() const noexcept { return counters_; }

  // -- the host
  [[nodiscard]] bool has_datagram(Time now) const noexcept override {
    return responder_.has_answer() || requester_.has_packet(now);
  }
  void next_datagram(OutgoingDatagram& out, Time now) noexcept override;
  std::optional<DropReason> on_datagram(const ReceivedDatagram& datagram,
                                        Time now) noexcept override;
  [[nodiscard]] Time next_timer() const noexcept override {
    return std::min(requester_.next_timer(), responder_.cnps().next_timer());
  }
  void on_timer(Time now) noexcept override;
  [[nodiscard]] const FlowKey& flow() const noexcept override { return setup_.flow; }
  [[nodiscard]] FlowKey key() const noexcept override;
  [[nodiscard]] Apart apart() noexcept override {
    return config_.cnp_priority ? Apart{&cnp_sender_, *config_.cnp_priority} : Apart{};
  }
  [[nodiscard]] bool sample(ConnectionSample& out, Time now) const noexcept override;

 private:
  /// The telemetry that an answer is to return.
  struct Echo {
    roce::TelemetrySection newest{};
    bool due = false;  ///< no answer has returned it
  };

  std::optional<DropReason> take(const roce::Message& m, Ecn ecn, Time now) noexcept;
  std::optional<DropReason> take_answer(const roce::Message& m, Time now,
                                        const roce::Telemetry* path = nullptr) noexcept;
  std::optional<DropReason> take_undecoded(const ReceivedDatagram& datagram, Time now) noexcept;
  void add_telemetry(const roce::Message& m, OutgoingDatagram& out) noexcept;

  const RoceConfig& config_;
  Setup setup_;
  QueuePairListener& listener_;
  RoceCounters counters_;
  Requester requester_;
  Responder responder_;
  CnpSender cnp_sender_;
  std::unique_ptr<Echo> echo_;  ///< nullptr: packets carry no telemetry
};

}  // namespace outrider::tg
