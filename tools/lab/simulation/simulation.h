#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/signal_key.h"
#include "common/runtime/event_loop.h"
#include "switch/runtime/network.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/link_sampler.h"
#include "tools/lab/simulation/partition.h"
#include "tools/lab/simulation/run_result.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/streams/engine/virtual_streams.h"

namespace outrider::lab {

/// The virtual runtime: switches and hosts joined in memory, in loops that get their time from the
/// caller: one for each tile of the partition, one without. A direct wire takes the place of a
/// device of the other runtimes. Every edge port of a switch is joined to the host to which its
/// route leads, or to streams whose first source or destination address is behind the port. A
/// stream that is sent needs a port without hosts, because a host's NIC would have to share its
/// wire.
///
/// Deterministic: equal configurations give equal reports. Not thread-safe.
class Simulation {
 public:
  /// @param switches,traffic must be valid, and every edge port must have a host
  /// @param pool of make_packet_pool({.frame_room_bytes = kHeaderRoomBytes}); outlives this
  /// @param signal_keys  of jobs that sign, by the name of their key files
  /// @param part  what of both configurations is built, see RankSimulation
  /// @throws std::runtime_error naming the port or host that has no counterpart
  Simulation(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
             rte_mempool& pool, const std::map<std::string, SignalKey>& signal_keys = {},
             const RankPart& part = {});
  ~Simulation();

  /// Advances to `end`. @return events handled
  std::uint64_t run_until(Time end) noexcept;
  /// The same for tests, which handle at most `most` events. @pre there is one loop
  std::uint64_t run_until(Time end, std::uint64_t most) noexcept;
  /// Returns the instant of the next event.
  [[nodiscard]] Time next() const noexcept;
  [[nodiscard]] Time now() const noexcept { return now_; }
  /// Says whether all jobs have ended.
  [[nodiscard]] bool finished() const noexcept { return generator_.finished(); }

  /// Makes end_slice() note what each link has sent, every `slice` at first. Call once, at time 0.
  void sample_links(const sw::SwitchProcessConfig& switches, Duration slice) {
    sampler_.emplace(switches, network_, slice);
  }
  /// Call after running up to each multiple of the slice, and at no time between two of them.
  void end_slice() {
    if (sampler_) sampler_->end_slice(now_);
  }

  /// Changes the switches that are here, see SwitchNetwork::change_to().
  void change_to(const sw::SwitchProcessConfig& switches) { network_.change_to(switches, now_); }

  [[nodiscard]] RunResult result() const;
  /// Releases every packet. Afterwards only users outside this object hold buffers of the pool.
  void flush() noexcept { network_.flush(); }

  [[nodiscard]] sw::SwitchNetwork& network() noexcept { return network_; }
  [[nodiscard]] tg::Generator& generator() noexcept { return generator_; }

  /// Returns the streams, or nullptr if the run has none.
  [[nodiscard]] const tg::VirtualStreams* streams() const noexcept {
    return streams_ ? &*streams_ : nullptr;
  }

 private:
  /// Returns hosts_behind(), checked, of a simulation that is whole.
  [[nodiscard]] std::vector<std::uint32_t> find_hosts(const sw::SwitchProcessConfig& switches,
                                                      const tg::GeneratorConfig& traffic) const;
  void join(const tg::GeneratorConfig& traffic, std::span<const std::uint32_t> behind,
            const RankPart& part);
  void join_streams(const tg::GeneratorConfig& traffic, const std::vector<bool>& has_host);
  void join_pauses(const tg::GeneratorConfig& traffic);
  [[nodiscard]] bool leads_to(std::uint32_t edge, const std::string& device,
                              const std::string& address) const;

  std::vector<std::unique_ptr<EventLoop>> loops_;  ///< [tiles]
  Duration lookahead_;                             ///< no loop is further ahead of another
  sw::SwitchNetwork network_;
  tg::Generator generator_;
  std::optional<tg::VirtualStreams> streams_;
  std::vector<std::unique_ptr<tg::StreamTap>> taps_;
  std::optional<LinkSampler> sampler_{};
  Time now_{};
};

}  // namespace outrider::lab
