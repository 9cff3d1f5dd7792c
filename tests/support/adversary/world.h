#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/core/random.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/switch.h"
#include "tests/support/adversary/grant_oracle.h"
#include "tests/support/adversary/regulation_oracle.h"
#include "tests/support/adversary/scenario.h"
#include "tests/support/adversary/steps_oracle.h"
#include "tests/support/adversary/trust_oracle.h"
#include "tests/support/adversary/window_oracle.h"
#include "tests/support/frames.h"
#include "tests/support/impairment.h"
#include "trafficgen/apps/generator.h"

namespace outrider {

inline constexpr std::uint32_t kLeftPlace = 0, kRightPlace = 1;
inline constexpr const char* kTrunkPort = "trunk";

/// Plays a scenario: two switches with hosts, as in a Dumbbell, strangers at a port of each, and
/// an observer before and behind every port. It judges all the while what docs/attacks.md
/// promises:
///
/// - what WindowOracle, RegulationOracle, GrantOracle and StepsOracle say, of "left.trunk", and
///   TrustOracle, of "left";
/// - every packet has a named end, and every buffer comes back;
/// - when the attack is over and everything was silent, no entry is live and no burst announced;
/// - the jobs end, unless one of their workers was killed.
class AdversaryWorld {
 public:
  /// @param pool  of make_test_pool(); nobody else uses it
  AdversaryWorld(const Scenario& scenario, rte_mempool& pool);
  ~AdversaryWorld();

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
  struct Observer;  ///< a node before a port, or behind it
  struct Place {    ///< a switch with its surroundings
    std::unique_ptr<sw::Switch> sw;
    std::vector<Node*> beyond;              ///< [ports] nullptr: strangers
    std::vector<Observer*> entries, exits;  ///< [ports]
    std::vector<Time> down_until;           ///< [ports]
  };
  struct Event {
    Time at{};
    std::size_t act = 0;
    std::uint32_t number = 0;  ///< of the act's packets; or 1: what lasts ends
  };
  friend class Attack;

  void build_places();
  void connect_ports(std::uint32_t place);
  void connect_hosts();
  [[nodiscard]] sw::EgressPort::Limits limits() const;
  [[nodiscard]] std::uint32_t port_of(std::uint32_t place, std::string_view name) const;
  void set_down(std::uint32_t place, std::uint32_t port, Time until);
  void plan();
  void run_until(Time end);
  void judge_step();
  void settle();
  void judge_end();

  void enter(std::uint32_t place, std::uint32_t port, Packet* packet, Time now, bool honest);
  void leave(std::uint32_t place, std::uint32_t port, Packet* packet, Time now);
  void observe(Packet* packet, const SeenFrame& frame, bool honest, Time now);
  void hand_over(std::uint32_t place, std::uint32_t port, Packet* packet, Time now);
  void judge_steps(std::uint64_t arrived);
  void receive_start(const SeenFrame& start, std::uint32_t port, Packet* packet, Time now);
  void receive_forged(std::uint32_t port, Packet* packet, Time now);
  void inject(std::uint32_t place, std::string_view port, std::span<const std::uint8_t> frame);
  void restart(std::uint32_t place);
  void reload(std::uint32_t draw);
  void impair(const RandomImpairment& rates, std::uint64_t draw);
  void drain_pool(std::uint32_t leave);
  void refill_pool();
  void violated(const std::string& what);
  [[nodiscard]] const sw::PortQueue& trunk() const;
  [[nodiscard]] RegulationPolicy& trunk_policy(sw::SwitchProcessConfig& of) const;
  [[nodiscard]] sw::QueueCounts trunk_counts() const { return sw::counts_of(trunk(), now_); }
  [[nodiscard]] sw::QueueCounts trunk_grants() const;
  [[nodiscard]] std::optional<std::string> ledger_fault() const;

  Scenario scenario_;
  DrawnWorld drawn_;
  rte_mempool& pool_;
  EventLoop loop_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::vector<Place> places_;
  std::deque<std::unique_ptr<sw::Switch>> retired_;     ///< the loop still knows their ports
  std::vector<std::unique_ptr<Impairment>> up_, down_;  ///< [hosts]
  std::vector<std::unique_ptr<Link>> links_;
  std::unique_ptr<tg::Generator> generator_;
  std::vector<Packet*> drained_;
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
  // The ledger, besides what the parts count themselves.
  std::uint64_t cut_ = 0, to_strangers_ = 0, lost_in_restarts_ = 0, dropped_by_retired_ = 0;
  std::optional<std::string> violation_;
};

/// Plays a scenario. @return the first violation
[[nodiscard]] std::optional<std::string> violation_of(const Scenario& scenario, rte_mempool& pool);

}  // namespace outrider
