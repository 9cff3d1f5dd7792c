#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "switch/runtime/switch.h"
#include "tests/support/adversary/scenario.h"
#include "tests/support/impairment.h"
#include "trafficgen/apps/generator.h"

namespace outrider {

inline constexpr std::uint32_t kLeftPlace = 0, kRightPlace = 1;
inline constexpr const char* kTrunkPort = "trunk";

/// Returns the policy of "left.trunk".
[[nodiscard]] RegulationPolicy& trunk_policy(sw::SwitchProcessConfig& of);

/// The network of a scenario: two switches with hosts, as in a Dumbbell, strangers at a port of
/// each, and an observer before and behind every port. Links and switches have bad luck on demand.
/// Whatever happens, the network knows where every packet ended.
class AdversaryNetwork {
 public:
  /// Watches all ports. Takes packets that come to a switch, and hands them to receive().
  class Watcher {
   public:
    /// A packet comes to a port. @param honest nobody but a host or a switch has sent it
    virtual void enter(std::uint32_t place, std::uint32_t port, Packet* packet, Time now,
                       bool honest) = 0;
    /// A packet has left a port, whose link carries it.
    virtual void on_left(std::uint32_t place, std::uint32_t port, Packet& packet) = 0;

   protected:
    ~Watcher() = default;
  };

  /// @param pool nobody else uses it
  AdversaryNetwork(std::uint64_t seed, rte_mempool& pool, Watcher& watcher);
  ~AdversaryNetwork();
  AdversaryNetwork(const AdversaryNetwork&) = delete;
  AdversaryNetwork& operator=(const AdversaryNetwork&) = delete;

  /// The configurations; a reload may change them.
  [[nodiscard]] DrawnNetwork& drawn() noexcept { return drawn_; }
  [[nodiscard]] EventLoop& loop() noexcept { return loop_; }
  [[nodiscard]] tg::Generator& generator() noexcept { return *generator_; }
  [[nodiscard]] sw::Switch& at(std::uint32_t place) noexcept { return *places_[place].sw; }
  /// Returns the regulated port, "left.trunk".
  [[nodiscard]] sw::EgressPort& trunk();
  [[nodiscard]] std::uint32_t port_of(std::uint32_t place, std::string_view name) const;
  [[nodiscard]] bool is_trunk(std::uint32_t place, std::uint32_t port) const {
    return drawn_.switches.switches[place].ports[port].name == kTrunkPort;
  }

  /// Releases the packet if the port's link is down. @return true if it is
  [[nodiscard]] bool cuts(std::uint32_t place, std::uint32_t port, Packet* packet, Time now);

  // -- bad luck
  void set_down(std::uint32_t place, std::uint32_t port, Time until);
  void impair(const RandomImpairment& rates, std::uint64_t draw);
  void drain_pool(std::uint32_t leave);
  void refill_pool();
  /// The switch loses its packets and everything that it knows. @return false if its ledger was not
  /// balanced
  [[nodiscard]] bool restart(std::uint32_t place, Time now);

  /// Says what is wrong if not every packet has an end. @param injected frames of strangers
  [[nodiscard]] std::optional<std::string> ledger_fault(std::uint64_t injected, Time now) const;

 private:
  struct Observer;  ///< a node before a port, or behind it
  struct Place {    ///< a switch with its surroundings
    std::unique_ptr<sw::Switch> sw;
    std::vector<Node*> beyond;              ///< [ports] nullptr: strangers
    std::vector<Observer*> entries, exits;  ///< [ports]
    std::vector<Time> down_until;           ///< [ports]
  };

  void build_places();
  void connect_ports(std::uint32_t place);
  void connect_hosts();
  [[nodiscard]] std::unique_ptr<sw::Switch> make_switch(std::uint32_t place);
  void leave(std::uint32_t place, std::uint32_t port, Packet* packet, Time now);

  std::uint64_t seed_;
  DrawnNetwork drawn_;
  rte_mempool& pool_;
  Watcher& watcher_;
  EventLoop loop_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::vector<Place> places_;
  std::deque<std::unique_ptr<sw::Switch>> retired_;     ///< the loop still knows their ports
  std::vector<std::unique_ptr<Impairment>> up_, down_;  ///< [hosts]
  std::vector<std::unique_ptr<Link>> links_;
  std::unique_ptr<tg::Generator> generator_;
  std::vector<Packet*> drained_;
  // The ledger, besides what the parts count themselves.
  std::uint64_t cut_ = 0, to_strangers_ = 0, lost_in_restarts_ = 0, dropped_by_retired_ = 0;
};

}  // namespace outrider
