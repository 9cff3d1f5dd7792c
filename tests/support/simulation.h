#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "switch/runtime/network.h"
#include "tests/support/dumbbell.h"
#include "tests/support/impairment.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/run_virtual.h"
#include "tools/lab/simulation/simulation.h"
#include "trafficgen/apps/generator.h"

namespace outrider {

/// Makes a pool of packets with attribution, for one test.
Mempool make_test_pool(std::uint32_t mbufs = 8192);
/// Makes a pool for each rank, with as many packets as its part of the case needs.
std::vector<Mempool> make_rank_pools(const lab::Case& c, const lab::Partition& partition);

#ifdef OUTRIDER_SANITIZED
inline constexpr bool kSanitized = true;  ///< code takes five to twenty times as long
#else
inline constexpr bool kSanitized = false;
#endif

/// Returns whether a run with many seeds was asked for (OUTRIDER_FULL=1).
bool full_run();
/// Returns the number of seeds: `few`, or `many` in a full run.
std::uint32_t seeds(std::uint32_t few, std::uint32_t many);

/// Counts every packet that hosts have sent by where it is now.
struct PacketLedger {
  std::uint64_t sent = 0;
  std::uint64_t copied = 0;    ///< copies made by impairments
  std::uint64_t received = 0;  ///< received by hosts
  std::uint64_t dropped_by_switches = 0;
  std::uint64_t dropped_by_impairments = 0;
  std::uint64_t resident = 0;  ///< in queues, on links, held by impairments

  [[nodiscard]] bool balanced() const {
    return sent + copied == received + dropped_by_switches + dropped_by_impairments + resident;
  }
};

/// Connects switches and hosts as Simulation does, with an impairment on each of the two wires
/// of every host. The delays of a dumbbell's hosts are on these wires.
class ImpairedSimulation {
 public:
  /// @throws std::runtime_error if a configuration is not valid
  ImpairedSimulation(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
                     rte_mempool& pool);
  ImpairedSimulation(const Dumbbell& d, rte_mempool& pool)
      : ImpairedSimulation(d.switches(), d.traffic(), pool) {}
  ~ImpairedSimulation() { flush(); }

  /// Returns the impairment between the NIC of `host` and the first wire. Its rule may be set
  /// at any time.
  [[nodiscard]] Impairment& from(std::string_view host) { return *up_[index_of(host)]; }
  /// Returns the impairment between the last wire and `host`.
  [[nodiscard]] Impairment& to(std::string_view host) { return *down_[index_of(host)]; }
  /// Sets random rules on both wires of every host.
  void impair_all(const RandomImpairment& rates, std::uint64_t seed);

  void run_until(Time end) noexcept {
    loop_.run_until(end);
    now_ = end;
  }
  /// Runs until all jobs have ended, but not beyond `limit`. @return whether they have ended
  bool run_to_end(Time limit);

  [[nodiscard]] Time now() const noexcept { return now_; }
  [[nodiscard]] lab::RunResult result() const;
  [[nodiscard]] PacketLedger ledger() const;
  void flush() noexcept;
  [[nodiscard]] tg::Generator& generator() noexcept { return generator_; }

 private:
  [[nodiscard]] std::size_t index_of(std::string_view host) const;

  std::vector<tg::HostConfig> hosts_;
  EventLoop loop_;
  sw::SwitchNetwork network_;
  tg::Generator generator_;
  std::vector<std::unique_ptr<Impairment>> up_, down_;  ///< [hosts]
  std::vector<std::unique_ptr<Link>> wires_;            ///< host to its impairment
  Time now_{};
};

/// Returns the report of one queue. @throws std::runtime_error if there is none
const sw::QueueReport& queue_of(const lab::RunResult& r, std::string_view sw,
                                std::string_view port);
/// Returns the report of a dumbbell's bottleneck queue.
inline const sw::QueueReport& bottleneck_of(const lab::RunResult& r) {
  return queue_of(r, "left", "trunk");
}

/// Runs to the end of the job without impairments, then checks both ledgers and that every
/// buffer was given back.
lab::RunResult run(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
                   rte_mempool& pool, Time limit);
inline lab::RunResult run(const Dumbbell& d, rte_mempool& pool,
                          Time limit = Time{std::chrono::seconds(60)}) {
  return run(d.switches(), d.traffic(), pool, limit);
}

/// Returns the mean of a container of numbers, or 0 if it is empty.
template <class Values>
double mean(const Values& values) {
  double total = 0;
  for (const auto v : values) total += static_cast<double>(v);
  return values.empty() ? 0 : total / static_cast<double>(values.size());
}

}  // namespace outrider
