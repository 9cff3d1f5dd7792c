#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/runtime/backpressure.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/node.h"
#include "trafficgen/config/config.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/report/report.h"

namespace outrider::tg {

/// Hosts, jobs and background flows of one process, driven by one event loop;
/// the same in every runtime. Not thread-safe: one lcore owns it.
class Generator {
 public:
  struct Options {
    bool full_payload = false;  ///< real frames: buffers hold the (zero) payload too
  };

  /// @param config must be valid; model profiles are loaded here.
  /// @param pool of make_packet_pool(); must outlive the generator
  /// @throws std::runtime_error if a model profile cannot be read
  Generator(const GeneratorConfig& config, EventLoop& loop, rte_mempool& pool, Options options);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  [[nodiscard]] const GeneratorConfig& config() const noexcept;
  /// Highest owner of attribution; 0: it is off.
  [[nodiscard]] std::uint32_t owners() const noexcept;
  /// Where host `index` (position in config().hosts) receives; port is ignored.
  [[nodiscard]] Node& host(std::uint32_t index) noexcept;
  /// Wire that host `index` sends into. Once per host, before start().
  /// @param backpressure of what the wire ends in, see Host::connect()
  void connect(std::uint32_t index, Link& out, const Backpressure* backpressure = nullptr) noexcept;

  /// What the wires of hosts with device `index` end in: `edge` itself, or the
  /// device's neighbours before it.
  Node& egress(std::uint32_t device, Node& edge) noexcept;

  /// Starts to fetch what the packets of a batch will touch. They stay the caller's.
  void expect(std::uint32_t device, std::span<Packet* const> packets) noexcept;

  /// Takes ownership; finds the host by destination address among those of `device`.
  void receive_from_device(std::uint32_t device, Packet* packet, Time now) noexcept;

  /// Schedules the first event of every job and flow. Once.
  void start(Time now);
  /// All jobs have ended.
  [[nodiscard]] bool finished() const noexcept;

  [[nodiscard]] GeneratorReport report(Time now) const;
  /// What the report would begin with. Its cost is that of hosts and jobs, not of
  /// connections or records.
  [[nodiscard]] TrafficLive live(Time now) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace outrider::tg
