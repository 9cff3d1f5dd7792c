#pragma once

#include <cstdint>
#include <optional>

#include "common/core/units.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/node.h"
#include "trafficgen/hosts/acceptor.h"
#include "trafficgen/hosts/ephemeral_ports.h"
#include "trafficgen/hosts/host_connections.h"
#include "trafficgen/hosts/host_nic.h"
#include "trafficgen/hosts/host_parts.h"
#include "trafficgen/hosts/host_setup.h"

namespace outrider::tg {

/// An emulated host: one address, one NIC with a link rate, connections, datagram endpoints,
/// timers. Each part has a class of its own, in this folder. The host hands them what arrives, and
/// asks its NIC after each event whether something may leave.
///
/// NIC and timers are two sources of the event loop, because events of the NIC are microseconds
/// ahead and those of timers seconds.
///
/// The host answers an arriving START with an ACK of the same form, if an application asked it to
/// take that form (StartSignals). Not thread-safe: one lcore owns
/// the host and everything on it. Opening a connection may allocate; packets do not.
class Host final : public Node {
 public:
  using Setup = HostSetup;

  /// @param pool,memory must outlive the host
  Host(const Setup& setup, EventLoop& loop, rte_mempool& pool, TransportMemory& memory);

  // -- for applications on this host
  /// Opens a connection as client. If the flow is in TIME-WAIT here, that ends.
  /// @param flow its source must be this host, @param owner owner id for attribution
  /// @return valid until on_closed
  TcpConnection& open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                      ConnectionListener& listener, Time now, std::uint32_t owner = 0);
  void send(TcpConnection& connection, std::uint64_t bytes, Time now) noexcept;
  void close(TcpConnection& connection, Time now) noexcept;
  /// Ends a connection at once and resets its peer. @pre called by the connection's listener
  void abort(TcpConnection& connection, Time now) noexcept;
  /// Sends a START: a TosStart, or an UdpStart as a message (common/net/udp_signal.h), from and to
  /// its port.
  template <class Start>
  void send_start(const Start& start, Time now) noexcept {
    parts_.signals.push(start);
    settle(now);
  }
  /// See StartSignals::push_replay().
  bool replay_start(Time now) noexcept;
  void set_timer(TimerClient& client, std::uint32_t tag, Time at) {
    parts_.timers.set(client, tag, at);
  }
  /// Adds an endpoint, which takes turns at the NIC with the connections. Allocates.
  /// @param endpoint must outlive the host's traffic, and not move
  /// @param priority whose pause frames stop it
  void add_endpoint(DatagramEndpoint& endpoint, std::uint8_t nic_class = 0,
                    std::optional<std::uint8_t> priority = std::nullopt);
  /// Makes the host ask the endpoint again. Call it after any change that may have given the
  /// endpoint something to send without the host's knowledge.
  void changed(const DatagramEndpoint& endpoint, Time now) noexcept;
  /// Returns the signals' part, which configures UDP ports and listeners for answers.
  [[nodiscard]] StartSignals& signals() noexcept { return parts_.signals; }
  /// Returns the connections' part, which also listens, and knows numbers, ledgers and free ports.
  [[nodiscard]] HostConnections& connections() noexcept { return connections_; }
  [[nodiscard]] const HostDatagrams& datagrams() const noexcept { return parts_.datagrams; }
  /// Returns the source ports, and numbers of queue pairs, that the host gives out.
  [[nodiscard]] EphemeralPorts& ports() noexcept { return ports_; }

  // -- for the runtime
  [[nodiscard]] HostNic& nic() noexcept { return nic_; }
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;
  /// Obeys a pause frame that came by the device of this host and others; it is not counted here.
  /// @return false if nothing here can be paused
  bool obey(const PauseFrame& frame, Time now) noexcept;
  [[nodiscard]] std::uint32_t address() const noexcept { return parts_.setup.address; }
  [[nodiscard]] const Setup& setup() const noexcept { return parts_.setup; }
  [[nodiscard]] const HostCounters& counters() const noexcept { return parts_.counters; }

 private:
  struct NicSource final : EventSource {
    explicit NicSource(Host& h) : host(h) {}
    Time fire(Time now) noexcept override { return host.fire_nic(now); }
    Host& host;
  };
  struct TimerSource final : EventSource {
    explicit TimerSource(Host& h) : host(h) {}
    Time fire(Time now) noexcept override { return host.fire_timers(now); }
    Host& host;
  };

  [[gnu::noinline]] void take_other(Packet& packet, DropReason reason, Time now) noexcept;
  [[gnu::noinline]] bool take_signal(Packet& packet, Time now) noexcept;
  /// @return when the NIC must be asked again
  Time fire_nic(Time now) noexcept {
    if (!nic_.begin()) return kNever;
    ++busy_;
    const Time next = nic_.send(now);
    --busy_;
    return next;
  }
  Time fire_timers(Time now) noexcept;
  /// Sends, after a call from outside, what may leave at once, and schedules the next event.
  void settle(Time now) noexcept {
    if (busy_ == 0) loop_.schedule(nic_id_, fire_nic(now));
  }

  EventLoop& loop_;
  NicSource nic_source_{*this};
  TimerSource timer_source_{*this};
  SourceId nic_id_;
  HostParts parts_;  ///< after the NIC: simultaneous events go by order of registration
  HostConnections connections_;
  HostNic nic_;
  EphemeralPorts ports_;
  int busy_ = 0;  ///< > 0 inside an event, at whose end the NIC is asked
};

}  // namespace outrider::tg
