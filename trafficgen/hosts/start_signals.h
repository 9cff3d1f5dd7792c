#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/flow_table.h"
#include "common/core/send_counter.h"
#include "common/core/signal_key.h"
#include "common/net/tos_signal.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/frames/frame.h"
#include "trafficgen/frames/signal_frame.h"
#include "trafficgen/hosts/host_counters.h"

namespace outrider::tg {

/// Receives the answers to the STARTs that it sent.
class SignalListener {
 public:
  /// @param flow as in the START
  /// @param told_lead  how early a switch wants to hear of the next burst, if it says so
  virtual void on_signal_ack(const FlowKey& flow, std::optional<Duration> told_lead,
                             Time now) noexcept = 0;

 protected:
  ~SignalListener() = default;
};

/// A burst as announced by a START in the TOS byte.
struct TosStart {
  FlowKey flow;
  std::uint32_t sequence = 0;  ///< number of the burst's first byte
  std::uint16_t threshold_packets = 0;
};

/// A burst as announced by a UDP START.
struct UdpStart {
  FlowKey flow;                ///< the TCP flow
  std::uint16_t port = 0;      ///< UDP port of both ends
  std::uint32_t sequence = 0;  ///< number of the burst's first byte
  std::uint16_t threshold_packets = 0;
  BurstIdentity identity{};
  std::uint64_t burst_bytes = 0;  ///< on this connection
  Time due_at{};                  ///< when the worker intends to send the burst
  /// Signs the START when it leaves; nullptr: unsigned. Must outlive the host's traffic.
  const SignalKey* key = nullptr;
  bool recorded = true;  ///< an eavesdropper keeps it, see StartSignals::push_replay()
  /// Of the burst's packets. The START has it too: switches that choose a queue by DSCP look for
  /// the burst's queue with it.
  std::uint8_t dscp = 0;
};

/// Keeps the iteration-start signals of one host, in both wire forms: STARTs that wait for the NIC,
/// answers to arriving STARTs, and the listeners for answers to its own. A form that nobody on the
/// host asked for is not read: its packets are TCP's, or nobody's. Not thread-safe: the host owns
/// it. take_at() and hear_acks() may allocate; packets do not.
///
/// A START with a key is signed when it leaves, because the tag covers the time that is left until
/// the burst is due. Its counter is the host's clock, see SendCounter. The counter of an unsigned
/// START is the number of STARTs that the host has sent.
///
/// Anyone can send STARTs, so at most kMaxAnswers wait; then the oldest answer is dropped and
/// counted. What the host's own applications send they bound themselves.
class StartSignals {
 public:
  /// More than that many STARTs arrive only while one frame leaves if they are a flood.
  static constexpr std::size_t kMaxAnswers = 256;

  /// @param counters of the host, must outlive this object
  explicit StartSignals(HostCounters& counters) : counters_(counters) {}

  // -- for applications on the host
  /// Accepts signals in the TOS byte from now on: STARTs are answered, ACKs reported.
  void take_tos() noexcept { takes_tos_ = true; }
  /// Does the same for UDP signals on that port.
  void take_at(std::uint16_t udp_port);
  /// Reports answers to those STARTs of a flow that leave from now on.
  /// @param key  of the STARTs; only answers with a tag by this key are believed, others are
  ///             counted. nullptr: the STARTs are unsigned, and so must be their answers
  void hear_acks(const FlowKey& flow, SignalListener& listener, const SignalKey* key = nullptr);
  void forget_acks(const FlowKey& flow) noexcept { ack_listeners_.erase(flow); }

  /// Sets the clock from which signed STARTs take their counters.
  /// @param at_zero_ns  wall clock at Time{} [ns since 1970]; 0 in virtual time
  void set_clock(std::uint64_t at_zero_ns) noexcept { clock_at_zero_ns_ = at_zero_ns; }

  // -- for the host
  /// Queues a START. Applications call Host::send_start(), which also asks the NIC.
  void push(const TosStart& start) noexcept;
  void push(const UdpStart& start) noexcept;
  /// Queues the last recorded UDP START once more, byte for byte as it left.
  /// @return false if none has left
  bool push_replay() noexcept;
  /// Processes a segment that is a signal. @return false if it is none
  [[nodiscard]] bool take(const ReceivedFrame& frame, Time now) noexcept {
    if (tos_signal::is_carrier(frame.segment.flags, frame.segment.payload_bytes) && takes_tos_)
        [[unlikely]] {
      const auto signal = tos_signal::decode(frame.tos);
      if (signal) take(frame, *signal, now);
      return signal.has_value();
    }
    return false;
  }
  /// Processes a signal that has arrived.
  void take(const ReceivedSignal& received, Time now) noexcept;
  /// Returns the ports on which UDP signals are accepted.
  [[nodiscard]] std::span<const std::uint16_t> ports() const noexcept { return ports_; }
  /// Returns true if nothing waits to be sent.
  [[nodiscard]] bool empty() const noexcept { return starts_.empty() && answers_.empty(); }
  /// Returns true if write() would write an answer: signals leave in the order of their queueing.
  /// @pre !empty()
  [[nodiscard]] bool next_is_answer() const noexcept {
    return starts_.empty() || (!answers_.empty() && answers_.peek().number < starts_.peek().number);
  }
  [[nodiscard]] std::size_t waiting_answers() const noexcept { return answers_.size(); }
  /// Writes the next waiting signal. @param start of the transmission, from which its "due in"
  /// counts
  void write(Packet& packet, Time start, bool full_payload) noexcept;

 private:
  static constexpr std::size_t kExpectedStarts = 64;
  static constexpr std::uint32_t kExpectedAnnouncedFlows = 64;
  struct Outgoing {
    FlowKey flow;  ///< of a UDP message: the datagram's addresses and ports
    std::uint32_t sequence = 0;
    tos_signal::Signal signal{};
    std::optional<udp_signal::Signal> message{};  ///< set: it takes the UDP form
    Time due_at{};                                ///< for a UDP START
    const SignalKey* key = nullptr;               ///< for a UDP START
    bool recorded = false;                        ///< for a UDP START
    std::uint8_t dscp = 0;                        ///< for a UDP START
    bool complete = false;                        ///< nothing of the message is to be set
    std::uint64_t number = 0;                     ///< in the order of queueing
  };
  struct Heard {
    SignalListener* listener = nullptr;
    const SignalKey* key = nullptr;  ///< nullptr: the STARTs are unsigned
    std::uint64_t after = 0;         ///< counters of its STARTs are greater
  };
  void take(const ReceivedFrame& frame, const tos_signal::Signal& signal, Time now) noexcept;
  void answer(Outgoing reply) noexcept;
  void take_ack(const FlowKey& flow, const ReceivedSignal* message, Time now) noexcept;
  void complete(Outgoing& start, Time leaves_at) noexcept;

  HostCounters& counters_;
  Fifo<Outgoing> starts_{kExpectedStarts};
  Fifo<Outgoing> answers_{kMaxAnswers};
  std::uint64_t next_number_ = 0;
  std::vector<std::uint16_t> ports_;  ///< UDP
  bool takes_tos_ = false;
  FlowTable<Heard> ack_listeners_{kExpectedAnnouncedFlows};
  SendCounter counter_;  ///< of signed STARTs
  std::uint64_t clock_at_zero_ns_ = 0;
  std::optional<Outgoing> recorded_;  ///< the last UDP START that is to be recorded
};

}  // namespace outrider::tg
