#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "switch/runtime/direct_switch.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider {

using namespace std::chrono_literals;

inline constexpr std::uint32_t kPorts = 4;

/// Returns a switch in which port p, 10.0.<p>.0/24, has a device of its own. The drain is so
/// slow that no packet leaves before leave().
inline sw::SwitchProcessConfig four_ports() {
  sw::SwitchProcessConfig c;
  sw::SwitchConfig sw{.name = "sw", .ports = {}, .routes = {}, .mac_routes = {}};
  for (std::uint32_t p = 0; p < kPorts; ++p) {
    const std::string name = "p" + std::to_string(p);
    c.devices.push_back({.name = name, .device = "net_ring" + std::to_string(p)});
    sw::SwitchPortConfig port{.name = name, .drain_rate = BitRate{1'000'000}, .device = name};
    port.queue.limit_packets = 4000;
    port.marker.threshold_packets = 4000;
    sw.ports.push_back(port);
    sw.routes.push_back({"10.0." + std::to_string(p) + ".0/24", name});
  }
  c.switches = {sw};
  return c;
}

/// The packets that left by each port: flow -> sequence numbers in order.
using Left = std::map<std::uint32_t, std::map<std::uint16_t, std::vector<std::uint32_t>>>;

/// Runs the workers of a DirectSwitch in turns in one thread.
class LcoresBench {
 public:
  LcoresBench(const sw::SwitchProcessConfig& c, std::uint32_t lcores)
      : devices_(ports(c), *pool_),
        direct_(std::make_unique<sw::DirectSwitch>(c, devices_, lcores)) {}
  ~LcoresBench() {
    direct_.reset();
    for (std::uint32_t p = 0; p < kPorts; ++p) drain(p, [](Packet&) {});
    EXPECT_EQ(rte_mempool_in_use_count(pool_.get()), 0U);
  }

  void arrive(std::uint32_t port, const FrameSpec& spec) {
    Packet* packet = make_packet(*pool_, spec);
    ASSERT_EQ(devices_.port(port).tx(&packet, 1), 1U);
    ++arrived_;
  }
  void poll() {
    for (std::uint32_t w = 0; w < direct_->workers(); ++w)
      direct_->worker(w).poll(now_, now_ + 1us);
    now_ += 1us;
  }
  void poll_only(std::uint32_t lcore) {
    direct_->worker(lcore).poll(now_, now_ + 1us);
    now_ += 1us;
  }
  /// Polls with a pause and takes the packets that left meanwhile from the devices.
  void wait(Duration pause) {
    poll();
    poll();
    now_ += pause;
    static_cast<void>(leave(0s));
  }
  /// Lets all waiting packets leave; the far ends take them.
  Left leave(Duration after = 100s) {
    for (std::uint32_t w = 0; w < direct_->workers(); ++w)
      direct_->worker(w).poll(now_, now_ + after);
    now_ += after;
    Left left;
    collect([&](const Arrival& a) { left[a.port][a.flow.source_port].push_back(a.sequence); });
    return left;
  }
  /// Lets the far ends take the packets that have left. Otherwise these would come in again by the
  /// same port.
  template <class See>
  void collect(See see) {
    for (std::uint32_t p = 0; p < kPorts; ++p)
      drain(p, [&](Packet& packet) {
        const Arrival a = arrival_of(packet, p, now_);
        EXPECT_TRUE(a.checksum_valid);
        see(a);
      });
  }
  [[nodiscard]] sw::SwitchReport report() const { return direct_->report(now_); }
  void capture(sw::PortCapture& to) {
    for (sw::Switch* sw : direct_->switches())
      for (std::uint32_t p = 0; p < sw->ports(); ++p) sw->port(p).capture(to);
  }
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }

 private:
  static std::vector<PortConfig> ports(const sw::SwitchProcessConfig& c) {
    std::vector<PortConfig> configs;
    for (const auto& d : c.devices)
      configs.push_back({.name = d.name, .device = d.device, .rx_queues = d.rx_queues});
    return configs;
  }
  template <class See>
  void drain(std::uint32_t port, See see) {
    std::array<Packet*, kBatchPackets> batch;
    while (const auto n = devices_.receive_batch(port, 0, batch))
      for (std::uint16_t i = 0; i < n; ++i) {
        see(*batch[i]);
        release(batch[i]);
      }
  }

  Mempool pool_ = make_packet_pool({.name = "lcores", .mbufs = 8191});
  PollDevices devices_;
  std::unique_ptr<sw::DirectSwitch> direct_;
  Time now_{};
  std::uint64_t arrived_ = 0;
};

}  // namespace outrider
