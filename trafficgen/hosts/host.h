#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/fifo.h"
#include "common/core/flow_table.h"
#include "common/core/per_reason.h"
#include "common/core/random.h"
#include "common/core/units.h"
#include "common/net/tos_signal.h"
#include "common/runtime/backpressure.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/node.h"
#include "trafficgen/hosts/connection_table.h"
#include "trafficgen/hosts/datagram_table.h"
#include "trafficgen/hosts/frame.h"
#include "trafficgen/hosts/host_attribution.h"
#include "trafficgen/hosts/nic_queue.h"
#include "trafficgen/hosts/payload.h"
#include "trafficgen/hosts/payload_report.h"
#include "trafficgen/hosts/signal_frame.h"
#include "trafficgen/hosts/time_wait_table.h"
#include "trafficgen/hosts/timer_queue.h"
#include "trafficgen/transport/connection/connection.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// Decides what becomes of a SYN to a listening port.
class Acceptor {
 public:
  struct Offer {
    const TcpConfig* config = nullptr;
    ConnectionListener* listener = nullptr;  ///< nullptr: refused with RST
    std::uint8_t option_bytes = 0;
    std::uint32_t owner = 0;  ///< of attribution; 0: none
    std::uint8_t nic_class = 0;
  };
  /// @param flow as the client sends it
  virtual Offer accept(const FlowKey& flow) noexcept = 0;
  virtual void on_accepted(TcpConnection& connection) noexcept = 0;

 protected:
  ~Acceptor() = default;
};

/// Hears the answers to the STARTs that it sent.
class SignalListener {
 public:
  /// @param flow as the START was sent
  virtual void on_signal_ack(const FlowKey& flow, Time now) noexcept = 0;

 protected:
  ~SignalListener() = default;
};

/// A burst as a UDP START announces it.
struct UdpStart {
  FlowKey flow;                ///< TCP
  std::uint16_t port = 0;      ///< UDP, of both ends
  std::uint32_t sequence = 0;  ///< of the burst's first byte
  std::uint16_t threshold_packets = 0;
  BurstIdentity identity{};
  std::uint64_t burst_bytes = 0;  ///< on this connection
  Time due_at{};                  ///< when the worker means to send it
};

/// Packets of one host. Identities:
/// received == to_connections + signals_taken + datagrams_taken + sum(drops). Connections in
/// TIME-WAIT count as such.
struct HostCounters {
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;  ///< frames without FCS
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t to_connections = 0;
  std::uint64_t signals_taken = 0;
  std::uint64_t datagrams_taken = 0;  ///< by endpoints, see DatagramEndpoint
  PerReason<DropReason> drops{};
  std::uint64_t mbuf_exhausted = 0;
  std::uint64_t device_full_waits = 0;
  std::uint64_t starts_sent = 0;
  std::uint64_t acks_sent = 0;
  std::uint64_t acks_received = 0;
  std::uint64_t resets_sent = 0;
  PayloadReport payload;  ///< only with Payload::kPattern

  void count_sent(const Packet& packet) noexcept {
    ++sent;
    sent_bytes += meta(packet).frame_bytes;
  }
  void count_received(const Packet& packet) noexcept {
    ++received;
    received_bytes += meta(packet).frame_bytes;
  }
};

/// An emulated host: one address, one NIC with a link rate, connections, timers.
///
/// The NIC pulls: when the wire is free it takes a signal, or the next segment
/// of the connection whose turn it is (round robin), so nothing is queued or
/// dropped inside the host and a busy NIC simply makes connections wait. With
/// segmentation offload a connection keeps its turn for `tso_bytes` of payload.
///
/// NIC and timers are two sources of the event loop, because one has instants
/// microseconds ahead and the other seconds.
///
/// A START that arrives is answered with an ACK of its form. Not thread-safe: one lcore owns
/// the host and everything on it. Opening a connection may allocate; packets do not.
class Host final : public Node {
 public:
  struct Setup {
    std::string name;
    std::uint32_t address = 0;
    BitRate rate{};
    std::uint32_t mtu_bytes = 1500;
    std::uint32_t tso_bytes = 0;  ///< 0: segments of connections take turns
    double send_jitter = 0;       ///< share of an MTU's time, see GeneratorConfig
    std::uint64_t seed = 1;
    std::uint32_t index = 0;  ///< entity of its random streams
    bool full_payload = false;
    Payload payload = Payload::kZeros;       ///< kPattern needs full_payload
    std::uint32_t expected_connections = 0;  ///< at once; room for more is made in a run
    /// Highest owner of attribution; 0: it is off. Otherwise all packets must be of a
    /// pool with attribution.
    std::uint32_t owners = 0;
  };

  /// @param pool,memory must outlive the host
  Host(const Setup& setup, EventLoop& loop, rte_mempool& pool, TransportMemory& memory);
  ~Host();

  /// @param backpressure the NIC waits while it is full; it and `out` must outlive the host
  void connect(Link& out, const Backpressure* backpressure = nullptr) noexcept {
    out_ = &out;
    backpressure_ = backpressure;
  }

  // -- for applications on this host
  /// The next source port, in turn; after 32,768 they come round again.
  std::uint16_t allocate_port() noexcept;
  /// The same, passing over ports of connections to that peer that are open or in
  /// TIME-WAIT. @return nothing if that is all 32,768
  std::optional<std::uint16_t> allocate_port(std::uint32_t to_address, std::uint16_t to_port,
                                             Time now) noexcept;
  /// Client side. If the flow is in TIME-WAIT here, that ends.
  /// @param flow source must be this host, @param owner of attribution
  /// @return valid until on_closed
  TcpConnection& open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                      ConnectionListener& listener, Time now, std::uint32_t owner = 0);
  void listen(std::uint16_t port, Acceptor& acceptor);
  void send(TcpConnection& connection, std::uint64_t bytes, Time now) noexcept;
  void close(TcpConnection& connection, Time now) noexcept;
  /// Classes of connections at the NIC, see NicQueue; before any is opened.
  /// @param bands [classes]
  void make_nic_classes(std::span<const std::uint8_t> bands, BitRate floor) {
    ready_.make_classes(bands, floor);
  }
  void set_nic_bands(std::span<const std::uint8_t> bands) noexcept { ready_.set_bands(bands); }
  /// See HostAttribution::begin_burst(). Nothing happens without attribution.
  void begin_burst(TcpConnection& connection, const BurstLedger& ledger, BurstTime idle,
                   Time now) noexcept;
  /// Within on_delivered(): where the time of what is being delivered went; not valid()
  /// without attribution.
  [[nodiscard]] const BurstLedger& arriving() const noexcept {
    static constexpr BurstLedger kNone{};
    return attribution_ ? attribution_->arriving() : kNone;
  }
  /// @param sequence of the announced burst's first byte
  void send_start(const FlowKey& flow, std::uint32_t sequence, std::uint16_t threshold_packets,
                  Time now) noexcept;
  /// The same as a UDP message (common/net/udp_signal.h), from and to `start.port`.
  void send_start(const UdpStart& start, Time now) noexcept;
  /// From now on UDP signals to that port are taken: STARTs answered, ACKs heard.
  void take_signals_at(std::uint16_t udp_port);
  void hear_acks(const FlowKey& flow, SignalListener& listener);
  void forget_acks(const FlowKey& flow) noexcept;
  void set_timer(TimerClient& client, std::uint32_t tag, Time at);
  /// Takes turns at the NIC with the connections from now on. Allocates; before the run.
  /// @param endpoint must outlive the host's traffic, and not move
  void add_endpoint(DatagramEndpoint& endpoint, std::uint8_t nic_class = 0);
  /// Call it after anything that the host does not know may have given it something to send.
  void changed(const DatagramEndpoint& endpoint, Time now) noexcept;

  /// Initial sequence number that a connection of this flow gets.
  static std::uint32_t initial_sequence(const FlowKey& flow) noexcept;

  // -- for the runtime
  /// Start to fetch what a packet of this flow will need: first the table, then,
  /// a little later, the connection. @param flow as the packet carries it
  void prefetch_lookup(const FlowKey& flow) const noexcept {
    connections_.prefetch_lookup(flow.reversed());
  }
  /// @return the connection, nullptr if there is none
  [[nodiscard]] const TcpConnection* prefetch_connection(const FlowKey& flow) noexcept {
    return connections_.prefetch(flow.reversed());
  }
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;

  [[nodiscard]] std::uint32_t address() const noexcept { return setup_.address; }
  [[nodiscard]] const std::string& name() const noexcept { return setup_.name; }
  [[nodiscard]] std::uint32_t mtu_bytes() const noexcept { return setup_.mtu_bytes; }
  [[nodiscard]] BitRate rate() const noexcept { return setup_.rate; }
  [[nodiscard]] const HostCounters& counters() const noexcept { return counters_; }

 private:
  struct Nic final : EventSource {
    explicit Nic(Host& h) : host(h) {}
    Time fire(Time now) noexcept override { return host.fire_nic(now); }
    Host& host;
  };
  struct Timers final : EventSource {
    explicit Timers(Host& h) : host(h) {}
    Time fire(Time now) noexcept override { return host.fire_timers(now); }
    Host& host;
  };
  struct DatagramTimers final : TimerClient {
    explicit DatagramTimers(Host& h) : host(h) {}
    void on_timer(std::uint32_t number, Time now) noexcept override {
      host.on_datagram_timer(number, now);
    }
    Host& host;
  };
  struct OutgoingSignal {
    FlowKey flow;  ///< of a UDP message: the datagram's
    std::uint32_t sequence = 0;
    tos_signal::Signal signal;
    std::optional<udp_signal::Signal> message{};  ///< then it takes the UDP form
    Time due_at{};                                ///< of a UDP START
  };
  /// Tells a datagram endpoint's number from a connection's slot where both wait.
  static constexpr std::uint32_t kDatagramBit = 1U << 31;
  static constexpr std::size_t kMaxReplies = 64;
  struct OutgoingReply {  ///< of no connection: resets, TIME-WAIT
    FlowKey flow;
    TcpSegment segment;
  };

  std::uint32_t add_connection(const FlowKey& flow, const TcpConfig& config,
                               std::uint8_t option_bytes, TcpConnection::Role role,
                               ConnectionListener& listener, std::uint32_t owner);
  void retire_if_closed(std::uint32_t slot, Time now) noexcept;
  void refresh(std::uint32_t slot, Time now) noexcept;

  void verify(Packet& packet, const ReceivedFrame& frame) noexcept;
  void take_frame(const ReceivedFrame& frame, Time now) noexcept;
  // host_signals.cc
  void take_signal(const ReceivedFrame& frame, const tos_signal::Signal& signal, Time now) noexcept;
  void take_signal(const ReceivedSignal& received, Time now) noexcept;
  void take_ack(const FlowKey& flow, Time now) noexcept;
  void write_signal(Packet& packet, Time start) noexcept;
  // host_unknown.cc
  void take_unknown(const ReceivedFrame& frame, Time now) noexcept;
  [[nodiscard]] bool take_late(const ReceivedFrame& frame, Time now) noexcept;
  void reset(const ReceivedFrame& frame) noexcept;

  // host_datagrams.cc
  void refresh_endpoint(std::uint32_t number, Time now) noexcept;
  [[nodiscard]] std::optional<DropReason> take_datagram(Packet& packet, Time now) noexcept;
  [[nodiscard]] bool write_datagram(std::uint32_t number, Packet& packet, Time now) noexcept;
  void on_datagram_timer(std::uint32_t number, Time now) noexcept;

  [[nodiscard]] bool has_work() const noexcept;
  void prefetch_waiting() noexcept;
  void transmit(Time now) noexcept;
  bool write_next(Packet& packet, Time now, Time start) noexcept;
  bool write_ready(Packet& packet, Time now, Time start) noexcept;
  void keep_turn(std::uint32_t slot, std::uint32_t payload_bytes, Time now) noexcept;
  [[nodiscard]] Time jittered(Time now) noexcept;
  Time fire_nic(Time now) noexcept;
  Time fire_timers(Time now) noexcept;
  void note_timer(Time at) noexcept;
  [[nodiscard]] Time next_transmission() const noexcept;
  void settle(Time now) noexcept;

  Setup setup_;
  EventLoop& loop_;
  Nic nic_source_{*this};
  Timers timer_source_{*this};
  SourceId nic_id_, timer_id_;
  rte_mempool& pool_;
  Link* out_ = nullptr;
  const Backpressure* backpressure_ = nullptr;
  Serializer nic_;
  RandomStream jitter_;
  std::uint64_t jitter_ns_;

  ConnectionTable connections_;
  TimeWaitTable time_waits_;
  TcpEvents& events_;
  DatagramTable datagrams_;
  DatagramTimers datagram_timers_{*this};
  NicQueue ready_;  ///< slots that may send, one entry each; endpoints with kDatagramBit
  /// Slot whose turn goes on (segmentation offload), and what it has sent of it.
  std::optional<std::uint32_t> turn_;
  std::uint32_t turn_bytes_ = 0;
  Fifo<OutgoingSignal> signals_;  ///< sent before anything else
  Fifo<OutgoingReply> replies_;   ///< bounded by kMaxReplies
  std::vector<std::pair<std::uint16_t, Acceptor*>> listeners_;
  std::vector<std::uint16_t> signal_ports_;  ///< UDP
  FlowTable<SignalListener*> ack_listeners_;
  TimerQueue timers_;           ///< the applications'
  Time nic_retry_at_ = kNever;  ///< no mbuf was left, or the device is full: try again then
  std::uint16_t next_port_ = 32768;
  int busy_ = 0;  ///< > 0 inside receive() or a timer: the NIC is asked at the end
  HostCounters counters_;
  std::unique_ptr<HostAttribution> attribution_;  ///< only if it is on
};

}  // namespace outrider::tg
