#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/signal_key.h"
#include "common/runtime/backpressure.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/node.h"
#include "trafficgen/apps/run_parts.h"
#include "trafficgen/config/config.h"
#include "trafficgen/config/lcore_plan.h"
#include "trafficgen/core/siphash.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/report/report.h"

namespace outrider::tg {

/// Holds the hosts, jobs and background flows of one process, driven by its event loop. It is the
/// same in every runtime. Not thread-safe: one lcore owns it.
///
/// Where several lcores share the hosts, each has a generator of its own, made of the whole
/// configuration and its share. Everything keeps the position in the file that it would have with
/// one lcore, and with it its name, its ports and its random draws.
class Generator {
 public:
  struct Options {
    bool full_payload = false;  ///< real frames: buffers also hold the payload (zeros)
    /// Key of initial sequence numbers, which strangers must not know; absent: made of the seed
    std::optional<SipKey> sequence_key{};
    /// Keys of jobs by the name in job.announce.signal_key; what is not in it is read from its file
    std::map<std::string, SignalKey> signal_keys{};
    LcoreShare share{};  ///< what of the configuration is made
    /// [hosts] the loop of each, which its jobs and flows have too: hosts that share traffic share
    /// a loop, see host_groups(). Empty: the generator's own. The loops take turns
    std::vector<EventLoop*> loops{};
  };

  /// @param config must be valid; model profiles and signal keys are loaded here
  /// @param pool of make_packet_pool(); must outlive the generator
  /// @throws std::runtime_error if a model profile or a signal key cannot be read
  Generator(const GeneratorConfig& config, EventLoop& loop, rte_mempool& pool, Options options);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  [[nodiscard]] const GeneratorConfig& config() const noexcept;
  /// Returns the highest owner id for attribution; 0: attribution is off.
  [[nodiscard]] std::uint32_t owners() const noexcept;
  /// Returns whether host `index` is in this generator's share; only then may it be named below.
  [[nodiscard]] bool has_host(std::uint32_t index) const noexcept;
  /// Returns the node at which host `index` (position in config().hosts) receives; port is ignored.
  [[nodiscard]] Node& host(std::uint32_t index) noexcept;
  /// Sets the wire that host `index` sends into. Call it once per host, before start().
  /// @param backpressure of the device at the wire's end, see Host::connect()
  void connect(std::uint32_t index, Link& out, const Backpressure* backpressure = nullptr) noexcept;

  /// Returns the node to which the wires of hosts with device `index` lead: `edge` itself, or the
  /// device's NeighbourEdge before it.
  Node& egress(std::uint32_t device, Node& edge) noexcept;

  /// Starts to fetch what the packets of a batch will touch. The caller keeps the packets.
  void expect(std::uint32_t device, std::span<Packet* const> packets) noexcept;

  /// Sets where packets for hosts of another lcore go, with the device as port. Call it for each
  /// lcore that has hosts behind a device of this one.
  void connect_lcore(std::uint32_t lcore, Node& to);

  /// Takes ownership, and finds the host by destination address among those of `device`.
  void receive_from_device(std::uint32_t device, Packet* packet, Time now) noexcept;

  /// Schedules the first event of every job and flow. Call it once.
  /// @param wall_ns  the wall clock at `now` [ns since 1970], which signed STARTs tell; in virtual
  ///                 time `now` itself
  void start(Time now, std::uint64_t wall_ns = 0);
  /// Returns true if the file has jobs or transfers, and those of the share have ended; or, see
  /// ends_with_lists(), the flows of its lists have.
  [[nodiscard]] bool finished() const noexcept;

  [[nodiscard]] GeneratorReport report(Time now) const;
  /// Returns the report of a run whose hosts several lcores shared: that of one generator with all
  /// of them. @param parts made of the same configuration with all shares of a plan; none runs
  [[nodiscard]] static GeneratorReport report(std::span<const Generator* const> parts, Time now);
  /// Returns how many FlowReports each job has in report(), in order; 0 for jobs of other lcores.
  /// What joins reports of several processes needs it: a FlowReport does not name its job.
  [[nodiscard]] std::vector<std::uint32_t> flows_of_jobs() const;
  /// Returns the current counts. The cost depends on the number of hosts and jobs, not of
  /// connections or records.
  [[nodiscard]] TrafficLive live(Time now) const noexcept;

  /// Makes room for the parts of the configuration, and names those of the share.
  void name(RunParts& parts) const;
  /// Publishes the counts of the share's parts, of the kinds that are shown. @pre name() was called
  /// with `parts`, or nothing is shown
  void publish(RunParts& parts) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace outrider::tg
