#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/dpdk/packet/packet.h"
#include "common/runtime/event_loop.h"
#include "switch/config/config.h"
#include "switch/egress/queue_part.h"
#include "switch/forwarding/identify.h"
#include "switch/regulation/grants/burst_admission.h"
#include "switch/regulation/policy/start_signal.h"
#include "switch/report/report.h"

namespace outrider::sw {

class EgressPort;

/// The ACK of a START, as it comes back by the port that the burst will leave through.
struct StartAck {
  FlowKey flow{};              ///< that was announced
  std::uint32_t sequence = 0;  ///< as in the START
};

/// Takes ACKs back from the ports at which they waited.
class AckSink {
 public:
  /// Sends an ACK on. @param out  index of its egress port
  virtual void pass_ack(Packet* ack, std::uint16_t out, Time now) noexcept = 0;
  /// Ends an ACK that is of no use any more.
  virtual void drop_ack(Packet* ack) noexcept = 0;

 protected:
  ~AckSink() = default;
};

/// The ACKs that wait at one egress port until its queues have room for the bursts that they let
/// go. BurstAdmission decides; this class keeps the packets, gives them back to the AckSink, and
/// arms the regulation of a burst when it is granted.
///
/// In an event loop it fires when an ACK may pass though no packet comes. A poll loop calls
/// pass() in every poll. Not thread-safe: one lcore owns the port, and all that comes in by it and
/// that ACKs leave through.
class PortGrants final : public QueuePart, public EventSource {
 public:
  /// Returns whether a queue of that port grants bursts.
  [[nodiscard]] static bool needed(const SwitchPortConfig& port);
  /// @param port  the owner, which outlives it
  PortGrants(const SwitchPortConfig& config, EgressPort& port, EventLoop& loop);

  /// Call it once, before the first packet.
  void connect(AckSink& sink) noexcept { sink_ = &sink; }

  /// Handles a START. @return whether the regulator of queue `q` is told when the burst is granted,
  /// not now
  [[nodiscard]] bool defers(std::uint8_t q, const StartSignal& start, Time now) noexcept;
  /// Takes ownership of an ACK only if it returns true: then it keeps it, or has dropped it.
  /// @param out  index of its egress port
  [[nodiscard]] bool take(const StartAck& ack, Packet* packet, std::uint16_t out,
                          Time now) noexcept;
  [[nodiscard]] Steps steps() const noexcept override { return {Step::kChoose}; }
  /// Follows the payload of bursts.
  void choose(Packet& packet, Time now) noexcept override;
  /// Lets pass what may after a packet or a signal has come. A poll loop does so once a poll.
  void after_packet(Time now) noexcept;
  /// Lets ACKs pass that may. A poll loop calls it in every poll. @return how many passed
  std::uint32_t poll(Time now) noexcept;
  Time fire(Time now) noexcept override;

  [[nodiscard]] std::uint64_t keeps(std::size_t queue) const noexcept override;
  void flush() noexcept override;
  void count(QueueCounts& to, std::size_t queue, Time now) const override;
  using EventSource::prepare;  // beside the part's
  [[nodiscard]] std::unique_ptr<PartChange> prepare(const PartReload& reload) const override;
  void apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept override;

 private:
  static constexpr std::uint32_t kMostPassed = 32;
  struct WaitingAck {
    Packet* packet = nullptr;
    std::uint16_t out = 0;
  };
  struct Queue {
    Queue(const BurstAdmission::Setup& setup, std::optional<std::uint32_t> target)
        : admission(setup), steers_to(target), acks(setup.max_entries) {}
    BurstAdmission admission;
    std::optional<std::uint32_t> steers_to;  ///< queue of the port that its bursts go to
    std::vector<WaitingAck> acks;            ///< by their slot in admission
  };

  [[nodiscard]] std::uint64_t queued_bytes(std::size_t q) const noexcept;
  void arm(std::size_t q, std::uint32_t slot, Time now) noexcept;
  [[nodiscard]] bool judge(const StartAck& ack, Packet* packet, std::uint16_t out,
                           Time now) noexcept;
  /// Lets pass what may, but no more than kMostPassed ACKs a call. In an event loop it also says
  /// when the next may. @return how many passed
  std::uint32_t pass(Time now) noexcept;

  EgressPort& port_;
  EventLoop& loop_;
  SourceId id_;
  AckSink* sink_ = nullptr;
  std::vector<std::unique_ptr<Queue>> queues_;  ///< of the port; nullptr: it grants nothing
  bool passing_ = false;  ///< an ACK that leaves by this very port must not pass the next
};

}  // namespace outrider::sw
