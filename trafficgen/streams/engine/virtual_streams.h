#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/node.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::tg {

/// Runs streams in the event loop, with the same schedules and frames as in real time; each packet
/// leaves at its exact instant. Buffers hold heads only, and stamps count nanoseconds of the run.
/// Not thread-safe: one lcore owns it.
class VirtualStreams final : public EventSource {
 public:
  /// @param streams valid, with rates that the devices' line rates allow
  /// @param pool of make_packet_pool({.frame_room_bytes = kHeaderRoomBytes})
  /// @throws std::runtime_error if a rate does not fit its device
  VirtualStreams(const std::vector<StreamConfig>& streams, const std::vector<StreamDevice>& devices,
                 std::uint64_t seed, std::optional<Duration> duration, EventLoop& loop,
                 rte_mempool& pool, const std::vector<PauseConfig>& pauses = {});

  /// Sets the wire that stream `index` sends into. Call it once per stream with a device, before
  /// start().
  void connect(std::size_t index, Link& out) noexcept { wires_.links[index] = &out; }

  /// Sets the wire that the frames of pause `index` go into. Call it once for each, before start().
  void connect_pause(std::size_t index, Link& out) noexcept {
    wires_.links[streams_ + index] = &out;
  }

  /// Takes a packet of a stream. @return false if it belongs to none: the caller keeps it
  bool take(Packet* packet, Time now) noexcept;

  /// Schedules the first packet. Call it once.
  void start() noexcept { loop_.schedule(id_, engine_.next()); }
  Time fire(Time now) noexcept override;

  [[nodiscard]] StreamsReport report() const { return engine_.report(); }
  /// See StreamEngine::samples().
  [[nodiscard]] const std::vector<StreamSample>& samples(std::size_t stream) const noexcept {
    return engine_.samples(stream);
  }
  [[nodiscard]] std::string hops_csv() const {
    const StreamEngine* one = &engine_;
    return StreamEngine::hops_csv({&one, 1});
  }

 private:
  /// A stream's wire, as a device that takes everything.
  struct Wire {
    Link* link;
    std::uint16_t head_bytes;
    Time now;
    std::uint16_t tx(Packet** packets, std::uint16_t n) const noexcept;
  };
  struct Wires {
    std::vector<Link*> links;               ///< [streams and pauses]
    std::vector<std::uint16_t> head_bytes;  ///< [the same], bytes that are not implied zeros
    Time now{};
    [[nodiscard]] Wire port(std::size_t index) const noexcept {
      return {links[index], head_bytes[index], now};
    }
  };

  EventLoop& loop_;
  SourceId id_;
  std::size_t streams_;
  Wires wires_;
  StreamEngine engine_;
};

/// The end of a wire at which streams may arrive, with or without a host.
class StreamTap final : public Node {
 public:
  /// @param host receives packets of no stream; nullptr: they are dropped and counted as foreign
  StreamTap(VirtualStreams& streams, Node* host) noexcept : streams_(streams), host_(host) {}
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;
  /// Returns the number of packets that neither a stream nor a host took.
  [[nodiscard]] std::uint64_t foreign() const noexcept { return foreign_; }

 private:
  VirtualStreams& streams_;
  Node* host_;
  std::uint64_t foreign_ = 0;
};

}  // namespace outrider::tg
