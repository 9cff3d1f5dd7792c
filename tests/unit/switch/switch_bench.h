#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "switch/runtime/switch.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider {

/// One switch with three ports and a collector behind each. All packets of 1000
/// bytes take 8 us on the wire.
///   east  10.0.3.0/24   where the servers are
///   south 10.0.4.0/24
///   west  10.0.1.0/24   where the workers are
/// STARTs are accepted from 10.0.1.0/24.
struct SwitchBench {
  static constexpr std::uint32_t kEast = 0, kSouth = 1, kWest = 2;
  static constexpr Duration kFrameTime = std::chrono::microseconds(8);
  static constexpr std::uint16_t kPayload = 946;  // + 14 + 20 + 20 = 1000

  /// Returns a configuration with K = 40, queues of 60 and regulation "arrival".
  static sw::SwitchConfig config() {
    sw::SwitchConfig c;
    c.name = "sw";
    const std::array<std::string, 3> names = {"east", "south", "west"};
    for (const auto& name : names) {
      sw::SwitchPortConfig port;
      port.name = name;
      port.drain_rate = BitRate{1'000'000'000};
      port.rate_layer = RateLayer::kL2;
      port.regulation.mode = RegulationMode::kMark;
      port.regulation.recovery = Recovery::kArrival;
      port.regulation.spare_ddl = false;
      c.ports.push_back(port);
    }
    c.routes = {{"10.0.3.0/24", "east"}, {"10.0.4.0/24", "south"}, {"10.0.1.0/24", "west"}};
    c.signals.accept_tos = true;
    c.signals.accept_from = {"10.0.1.0/24"};
    return c;
  }

  explicit SwitchBench(const sw::SwitchConfig& c = config(),
                       const sw::EgressPort::Limits& limits = {})
      : sw(c, loop, limits) {
    for (std::uint32_t p = 0; p < 3; ++p) {
      links[p] = std::make_unique<Link>(loop, Duration::zero(), out[p], p);
      sw.port(p).transmitter().output().connect(*links[p]);
    }
  }
  ~SwitchBench() {
    sw.flush();
    for (auto& link : links) link->flush();
  }

  /// Goes on to `end`, unless a source asks for the same instant for ever.
  void run_to(Time end) {
    constexpr std::uint64_t kMostEvents = 20'000'000;  // tests have far fewer
    if (loop.run_until(end, kMostEvents) == kMostEvents)
      throw std::runtime_error("a source asks for the same instant for ever");
  }
  void receive(std::uint32_t ingress, Packet* packet, Time now) {
    run_to(now);
    sw.receive(ingress, packet, now);
  }
  void send(const FrameSpec& spec, Time now, std::uint32_t ingress = kWest) {
    receive(ingress, make_packet(pool.get(), spec), now);
  }
  /// Sends `n` background packets to `destination` at once.
  void fill(std::uint32_t n, Time now, const std::string& destination = "10.0.3.9",
            Ecn ecn = Ecn::kNotEct) {
    for (std::uint32_t i = 0; i < n; ++i) send(background(destination, ecn), now);
  }
  void run() { run_to(kNever - std::chrono::nanoseconds(1)); }

  static FrameSpec background(const std::string& destination = "10.0.3.9", Ecn ecn = Ecn::kEct0) {
    return {.flow = {ip("10.0.2.7"), ip(destination), 33'000, 80},
            .tos = static_cast<std::uint8_t>(ecn),
            .payload_bytes = kPayload};
  }
  static FlowKey ddl_flow(std::uint32_t worker = 0) {
    return {ip("10.0.1.1") + worker, ip("10.0.3.1"), static_cast<std::uint16_t>(40'000 + worker),
            5000};
  }
  static FrameSpec data(std::uint32_t worker, std::uint32_t sequence, Ecn ecn = Ecn::kEct0) {
    return {.flow = ddl_flow(worker),
            .tos = static_cast<std::uint8_t>(ecn),
            .sequence = sequence,
            .payload_bytes = kPayload};
  }
  static FrameSpec start(std::uint32_t worker, std::uint32_t sequence, std::uint16_t threshold,
                         Ecn ecn = Ecn::kNotEct) {
    return {.flow = ddl_flow(worker),
            .tos = start_tos(threshold, ecn),
            .sequence = sequence,
            .tcp_flags = 0};
  }

  sw::SwitchReport report(Time now) const {
    sw::SwitchReport r;
    r.ledger_balanced = true;
    sw.fill(r, now);
    return r;
  }
  std::uint64_t marks(std::uint32_t port, TrafficClass c, MarkReason why) const {
    return report({}).queues[port].marks[c][static_cast<std::size_t>(why)];
  }
  std::uint64_t drops(TrafficClass c, DropReason why) const {
    return report({}).drops[c][static_cast<std::size_t>(why)];
  }

  TestPool pool;
  EventLoop loop;
  std::array<Collector, 3> out;
  std::array<std::unique_ptr<Link>, 3> links;
  sw::Switch sw;
};

}  // namespace outrider
