#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/core/random.h"
#include "switch/report/snapshots.h"
#include "tests/support/adversary/grant_oracle.h"
#include "tests/support/adversary/network.h"
#include "tests/support/adversary/regulation_oracle.h"
#include "tests/support/adversary/scenario.h"
#include "tests/support/adversary/steps_oracle.h"
#include "tests/support/adversary/trust_oracle.h"
#include "tests/support/adversary/window_oracle.h"
#include "tests/support/frames.h"

namespace outrider {

/// Plays a scenario in an AdversaryNetwork. It judges all the while what docs/attacks.md promises:
///
/// - what WindowOracle, RegulationOracle, GrantOracle and StepsOracle say, of "left.trunk", and
///   TrustOracle, of "left";
/// - every packet has a named end, and every buffer comes back;
/// - when the attack is over and everything was silent, no entry is live and no burst announced;
/// - the jobs end, unless one of their workers was killed.
class AdversarySimulation final : private AdversaryNetwork::Watcher {
 public:
  /// @param pool  of make_test_pool(); nobody else uses it
  AdversarySimulation(const Scenario& scenario, rte_mempool& pool);

  /// Plays to the end. @return the first violation, with its time; nothing if there is none
  [[nodiscard]] std::optional<std::string> run();

  /// What there was to judge.
  struct Seen {
    std::uint64_t injected = 0;         ///< frames of strangers
    std::uint64_t windows_lowered = 0;  ///< in honest receivers' acknowledgments
    std::uint64_t starts_judged = 0;
    std::uint64_t armed = 0;
    std::uint64_t forged_judged = 0;  ///< STARTs that must not be believed
    std::uint64_t signed_judged = 0;  ///< of `starts_judged`
    std::uint64_t most_steps = 0;     ///< of the regulator, for one packet
    std::uint64_t answers_held = 0;
  };
  [[nodiscard]] const Seen& seen() const noexcept { return seen_; }

 private:
  struct Event {
    Time at{};
    std::size_t act = 0;
    std::uint32_t number = 0;  ///< of the act's packets; or 1: what lasts ends
  };
  friend class Attack;

  void plan();
  void run_until(Time end);
  void judge_step();
  void settle();
  void judge_end();

  // AdversaryNetwork::Watcher
  void enter(std::uint32_t place, std::uint32_t port, Packet* packet, Time now,
             bool honest) override;
  void on_left(std::uint32_t place, std::uint32_t port, Packet& packet) override;

  void observe(Packet* packet, const SeenFrame& frame, bool honest, Time now);
  void hand_over(std::uint32_t place, std::uint32_t port, Packet* packet, Time now);
  void judge_steps(std::uint64_t arrived);
  void receive_start(const SeenFrame& start, std::uint32_t port, Packet* packet, Time now);
  void receive_forged(std::uint32_t port, Packet* packet, Time now);
  void inject(std::uint32_t place, std::string_view port, std::span<const std::uint8_t> frame);
  void restart(std::uint32_t place);
  void reload(std::uint32_t draw);
  void violated(const std::string& what);
  [[nodiscard]] RegulationPolicy& policy() { return trunk_policy(network_.drawn().switches); }
  [[nodiscard]] const sw::PortQueue& trunk() { return network_.trunk().queues()[0]; }
  [[nodiscard]] sw::QueueCounts trunk_counts() { return sw::counts_of(network_.trunk(), 0, now_); }

  Scenario scenario_;
  rte_mempool& pool_;
  AdversaryNetwork network_;
  std::set<const Packet*> strangers_;  ///< frames of strangers on their way
  sw::PortCells cells_{1};
  std::vector<std::vector<std::uint8_t>> starts_;  ///< honest STARTs, for replay
  std::optional<FlowKey> ddl_flow_;                ///< of the latest honest START
  std::uint32_t ddl_sequence_ = 0;
  std::vector<Event> events_;
  std::size_t next_event_ = 0;
  Time now_{};
  WindowOracle windows_;
  RegulationOracle regulation_;
  GrantOracle grants_;
  TrustOracle trust_;
  StepsOracle steps_;
  std::uint64_t granted_ = 0;  ///< bursts, when steps were judged last
  bool settles_;               ///< somebody reads the figures now and then
  bool killed_ = false;
  Seen seen_;
  std::optional<std::string> violation_;
};

/// Plays a scenario. @return the first violation
[[nodiscard]] std::optional<std::string> violation_of(const Scenario& scenario, rte_mempool& pool);

}  // namespace outrider
