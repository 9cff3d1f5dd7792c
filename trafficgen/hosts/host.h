#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/units.h"
#include "common/runtime/backpressure.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/node.h"
#include "trafficgen/hosts/connection_table.h"
#include "trafficgen/hosts/frame.h"
#include "trafficgen/hosts/host_attribution.h"
#include "trafficgen/hosts/host_counters.h"
#include "trafficgen/hosts/host_datagrams.h"
#include "trafficgen/hosts/host_pauses.h"
#include "trafficgen/hosts/host_timers.h"
#include "trafficgen/hosts/nic_turns.h"
#include "trafficgen/hosts/nic_wire.h"
#include "trafficgen/hosts/payload.h"
#include "trafficgen/hosts/start_signals.h"
#include "trafficgen/hosts/stray_replies.h"
#include "trafficgen/transport/connection/connection.h"
#include "trafficgen/transport/connection/initial_sequence.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// Decides whether a SYN to a listening port is accepted.
class Acceptor {
 public:
  struct Offer {
    const TcpConfig* config = nullptr;
    ConnectionListener* listener = nullptr;  ///< nullptr: refused with RST
    std::uint8_t option_bytes = 0;
    std::uint32_t owner = 0;  ///< owner id for attribution; 0: none
    std::uint8_t nic_class = 0;
  };
  /// @param flow in the client's direction
  virtual Offer accept(const FlowKey& flow) noexcept = 0;
  virtual void on_accepted(TcpConnection& connection) noexcept = 0;

 protected:
  ~Acceptor() = default;
};

/// An emulated host: one address, one NIC with a link rate, connections, timers.
///
/// The NIC pulls: when the wire is free it takes a signal, or a reply to a segment of no
/// connection, or the next segment of the connection whose turn it is (round robin). After 64
/// answers to others in a row, data that wait have a turn. Nothing is therefore queued or dropped
/// inside the host; a busy NIC makes connections wait. With segmentation offload a connection keeps
/// its turn for `tso_bytes` of payload.
///
/// Many methods: it serves applications, the runtime and its own NIC, and its parts do the work.
///
/// NIC and timers are two sources of the event loop, because events of the NIC are microseconds
/// ahead and those of timers seconds.
///
/// The host answers an arriving START with an ACK of the same form, if an application asked it to
/// take that form (StartSignals). Not thread-safe: one lcore owns
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
    SipKey sequence_key{};    ///< of initial sequence numbers
    std::uint32_t index = 0;  ///< entity of the host's random streams
    bool full_payload = false;
    Payload payload = Payload::kZeros;       ///< kPattern needs full_payload
    std::uint32_t expected_connections = 0;  ///< at once; more of them allocate during the run
    /// Connections that a SYN has opened and whose handshake is not over, at most. A SYN beyond
    /// takes the place of the oldest one; established ones are never touched. > 0
    std::uint32_t max_half_open = 16'384;
    /// Highest owner id for attribution; 0: attribution is off. Otherwise all packets must come
    /// from a pool with attribution.
    std::uint32_t owners = 0;
  };

  /// @param pool,memory must outlive the host
  Host(const Setup& setup, EventLoop& loop, rte_mempool& pool, TransportMemory& memory);
  ~Host();

  /// @param backpressure the NIC waits while it is full. It and `out` must outlive the host
  void connect(Link& out, const Backpressure* backpressure = nullptr) noexcept {
    wire_.connect(out, backpressure);
  }

  // -- for applications on this host
  /// Returns the next source port in turn; after 32,768 ports they repeat.
  std::uint16_t allocate_port() noexcept;
  /// Like allocate_port(), but skips ports of connections to that peer that are open or in
  /// TIME-WAIT.
  /// @return nothing if all 32,768 are
  std::optional<std::uint16_t> allocate_port(std::uint32_t to_address, std::uint16_t to_port,
                                             Time now) noexcept;
  /// Opens a connection as client. If the flow is in TIME-WAIT here, that ends.
  /// @param flow its source must be this host, @param owner owner id for attribution
  /// @return valid until on_closed
  TcpConnection& open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                      ConnectionListener& listener, Time now, std::uint32_t owner = 0);
  void listen(std::uint16_t port, Acceptor& acceptor);
  void send(TcpConnection& connection, std::uint64_t bytes, Time now) noexcept;
  void close(TcpConnection& connection, Time now) noexcept;
  /// Ends a connection at once and resets its peer. @pre called by the connection's listener
  void abort(TcpConnection& connection, Time now) noexcept;
  /// Returns the NIC's queue, whose classes must be made before any connection is opened.
  [[nodiscard]] NicQueue& nic_queue() noexcept { return turns_.queue(); }
  /// See HostAttribution::begin_burst(). Nothing happens without attribution.
  void begin_burst(TcpConnection& connection, const BurstLedger& ledger, BurstTime idle,
                   Time now) noexcept;
  /// Returns, within on_delivered(), the ledger of the data being delivered; not valid() without
  /// attribution.
  [[nodiscard]] const BurstLedger& arriving() const noexcept {
    static constexpr BurstLedger kNone{};
    return attribution_ ? attribution_->arriving() : kNone;
  }
  /// Sends a START in the TOS byte. @param sequence number of the announced burst's first byte
  void send_start(const FlowKey& flow, std::uint32_t sequence, std::uint16_t threshold_packets,
                  Time now) noexcept;
  /// Sends a START as a UDP message (common/net/udp_signal.h), from and to `start.port`.
  void send_start(const UdpStart& start, Time now) noexcept;
  /// See StartSignals::push_replay().
  bool replay_start(Time now) noexcept;
  /// Returns the signals' part, which configures UDP ports and listeners for answers.
  [[nodiscard]] StartSignals& signals() noexcept { return signals_; }
  void set_timer(TimerClient& client, std::uint32_t tag, Time at) { timers_.set(client, tag, at); }
  /// Adds an endpoint, which takes turns at the NIC with the connections. Allocates.
  /// @param endpoint must outlive the host's traffic, and not move
  /// @param priority whose pause frames stop it
  void add_endpoint(DatagramEndpoint& endpoint, std::uint8_t nic_class = 0,
                    std::optional<std::uint8_t> priority = std::nullopt) {
    datagrams_.add(endpoint, nic_class, priority.value_or(kNoPriority));
    if (priority) obey_pauses(*priority);
  }
  [[nodiscard]] const HostDatagrams& datagrams() const noexcept { return datagrams_; }
  /// Makes the host ask the endpoint again. Call it after any change that may have given the
  /// endpoint something to send without the host's knowledge.
  void changed(const DatagramEndpoint& endpoint, Time now) noexcept;

  // -- for the runtime
  /// Starts to fetch what a packet of this flow will need: first the table, then, a little later,
  /// the connection. @param flow as in the packet
  void prefetch_lookup(const FlowKey& flow) const noexcept {
    connections_.prefetch_lookup(flow.reversed());
  }
  /// @return the connection, nullptr if there is none
  [[nodiscard]] const TcpConnection* prefetch_connection(const FlowKey& flow) noexcept {
    return connections_.prefetch(flow.reversed());
  }
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;
  /// Obeys a pause frame that came by the device of this host and others; it is not counted here.
  /// @return false if nothing here can be paused
  bool obey(const PauseFrame& frame, Time now) noexcept;

  /// Calls f(const TcpConnection&) for every connection of this host, in no particular order.
  template <class F>
  void for_each_connection(F&& f) {
    connections_.for_each(f);
  }

  /// Returns the first sequence number of a connection with this flow, open or not.
  /// @param flow its source must be this host
  [[nodiscard]] std::uint32_t initial_sequence(const FlowKey& flow) const noexcept {
    return initial_sequence_of(flow, setup_.sequence_key);
  }
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

  std::uint32_t add_connection(const FlowKey& flow, const TcpConfig& config,
                               std::uint8_t option_bytes, TcpConnection::Role role,
                               ConnectionListener& listener, std::uint32_t owner);
  [[nodiscard]] bool make_room_for_half_open(Time now) noexcept;
  using Slot = ConnectionTable::Slot;
  void retire_if_closed(Slot& slot, Time now) noexcept {
    if (slot.closed() && !slot.queued) [[unlikely]]
      retire(slot, now);
  }
  [[gnu::noinline]] void retire(Slot& slot, Time now) noexcept;
  [[gnu::always_inline]] void refresh(Slot& slot, Time now) noexcept;
  [[gnu::noinline]] void note_timer(Slot& slot) noexcept;

  [[gnu::noinline]] bool take_signal(Packet& packet, Time now) noexcept;
  [[gnu::noinline]] void take_other(Packet& packet, DropReason reason, Time now) noexcept;
  void obey_pauses(std::uint8_t priority);
  [[gnu::noinline]] bool take_pause(Packet& packet, Time now) noexcept;
  [[gnu::noinline]] bool put_aside(std::uint32_t index) noexcept;
  [[gnu::noinline]] void verify(Packet& packet, const ReceivedFrame& frame) noexcept;
  [[gnu::always_inline]] void take_frame(const ReceivedFrame& frame, Time now) noexcept;
  [[gnu::noinline]] void take_unknown(const ReceivedFrame& frame, Time now) noexcept;

  /// Returns true if signals or answers to others wait, which go before data.
  [[nodiscard]] bool has_replies() const noexcept { return !signals_.empty() || !strays_.empty(); }
  [[nodiscard]] bool has_work() const noexcept { return !turns_.empty() || has_replies(); }
  void prefetch_waiting() noexcept;
  // The steps of sending a packet have one caller each. Inlined, they save no registers for each
  // other.
  [[nodiscard, gnu::always_inline]] bool send_next(Time now) noexcept;
  enum class Wrote : std::uint8_t { kNothing, kSignal, kOther };
  [[gnu::always_inline]] Wrote write_next(Packet& packet, Time now, Time start) noexcept;
  [[gnu::noinline]] Wrote write_first(Packet& packet, Time start) noexcept;
  [[gnu::always_inline]] bool write_ready(Packet& packet, Time now, Time start) noexcept;
  /// Sends while the wire is free and there is something to send.
  /// @return when the NIC must be asked again
  Time fire_nic(Time now) noexcept {
    wire_.begin();
    return has_work() ? send_waiting(now) : kNever;
  }
  Time send_waiting(Time now) noexcept;
  Time fire_timers(Time now) noexcept;
  /// Sends, after a call from outside, what may leave at once, and schedules the next event.
  void settle(Time now) noexcept {
    if (busy_ == 0) loop_.schedule(nic_id_, fire_nic(now));
  }

  Setup setup_;
  EventLoop& loop_;
  Nic nic_source_{*this};
  Timers timer_source_{*this};
  SourceId nic_id_;
  HostTimers timers_;  ///< after the NIC: simultaneous events go by order of registration
  HostCounters counters_;
  NicWire wire_;

  ConnectionTable connections_;
  NicTurns turns_;        ///< of slots that may send, one entry each, and of endpoints
  StartSignals signals_;  ///< sent before anything else, but see write_next()
  StrayReplies strays_;
  HostDatagrams datagrams_;
  std::unique_ptr<HostPauses> pauses_;  ///< only if some flow has, or had, a priority
  std::vector<std::pair<std::uint16_t, Acceptor*>> listeners_;
  std::uint32_t replies_in_a_row_ = 0;  ///< while data waited
  std::uint16_t next_port_;
  int busy_ = 0;  ///< > 0 inside receive() or a timer, at whose end the NIC is asked
  std::unique_ptr<HostAttribution> attribution_;  ///< only if it is on
};

}  // namespace outrider::tg
