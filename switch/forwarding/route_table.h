#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/flow_key.h"
#include "common/net/headers.h"
#include "switch/config/config.h"
#include "switch/forwarding/flowlet_table.h"
#include "switch/forwarding/lpm_table.h"
#include "switch/forwarding/prefix_table.h"

namespace outrider::sw {

/// The port by which a routed packet leaves, and the station that it is sent to.
struct NextHop {
  std::uint16_t port = 0;
  bool has_mac = false;  ///< if false, the packet keeps its MAC addresses
  MacAddress mac{};
};

/// The routes of one switch. A lookup finds the longest prefix and then chooses one of its
/// equal-cost next hops.
///
/// IPv4 prefixes are in a PrefixTable or in rte_lpm, IPv6 prefixes in an Ipv6PrefixTable.
/// Each neighbour is a host route, and so is each address of the switch, to which nothing is
/// forwarded. The table is filled at start-up and const afterwards; what changes as packets are
/// spread belongs to the caller.
class RouteTable {
 public:
  /// The unit of traffic that takes one of a destination's next hops.
  enum class Spread : std::uint8_t { kFlows, kPackets, kFlowlets };
  /// Equal-cost next hops of a destination.
  struct Target {
    std::uint32_t first = 0;  ///< index of the first in the list of next hops
    std::uint16_t hops = 0;   ///< number of next hops; 0: the switch itself
    Spread spread = Spread::kFlows;
  };
  /// The state of spreading. Each lcore has its own.
  struct Spreading {
    std::vector<std::uint16_t> turns;  ///< [targets()] packets sprayed so far, modulo hops
    FlowletTable flowlets;
  };

  /// @param config must be valid. @param index  of the switch in its process. It seeds the
  /// choice among equal costs, so that successive switches on a path choose differently
  /// @throws DpdkError if rte_lpm is asked for and there is no memory for it
  RouteTable(const SwitchConfig& config, std::uint32_t index);

  /// @return nullptr if there is no route
  [[nodiscard, gnu::always_inline]] const Target* find(std::uint32_t address) const noexcept {
    const auto target = lpm_ ? lpm_->lookup(address) : ipv4_.lookup(address);
    return target ? &targets_[*target] : nullptr;
  }
  [[nodiscard]] const Target* find(const Ipv6Address& address) const noexcept {
    const auto target = ipv6_.lookup(address);
    return target ? &targets_[*target] : nullptr;
  }
  void prefetch(std::uint32_t address) const noexcept {
    if (lpm_) lpm_->prefetch(address);
  }

  [[nodiscard]] std::size_t targets() const noexcept { return targets_.size(); }

  /// @param seed  of the paths of flowlets, which differ from switch to switch
  /// @throws std::bad_alloc
  [[nodiscard]] Spreading make_spreading(std::uint64_t seed) const;

  /// Returns the next hop that a packet of the flow takes. @pre target.hops > 0
  /// @param now  does not decrease
  [[nodiscard, gnu::always_inline]] const NextHop& choose(const Target& target, const FlowKey& flow,
                                                          const Time& now,
                                                          Spreading& spreading) const noexcept {
    assert(target.hops > 0);
    if (target.hops == 1) [[likely]]
      return hops_[target.first];
    return hops_[target.first + choose_of_several(target, flow, now, spreading)];
  }

  /// Returns the port that a packet to `address` may leave by, the first of equal costs.
  [[nodiscard]] std::optional<std::uint16_t> port_to(std::uint32_t address) const noexcept {
    const Target* target = find(address);
    if (target == nullptr || target->hops == 0) return std::nullopt;
    return hops_[target->first].port;
  }

 private:
  [[nodiscard]] std::uint32_t share_of(const FlowKey& flow, std::uint32_t hops) const noexcept {
    const std::uint64_t mixed = (public_hash_of(flow) ^ seed_) * 0x9FB21C651E98DF25ULL;
    return static_cast<std::uint32_t>((mixed >> 32) * hops >> 32);
  }
  /// Apart from choose(), and with the time where its caller has it: a route with one port, which
  /// most have, should not keep registers for them.
  [[nodiscard, gnu::noinline]] std::uint32_t choose_of_several(const Target& target,
                                                               const FlowKey& flow, const Time& now,
                                                               Spreading& spreading) const noexcept;
  void add_target(std::uint16_t hops, const RouteConfig& route);
  void add_route(const SwitchConfig& config, const RouteConfig& route);
  void insert(const std::string& prefix_or_host);

  PrefixTable ipv4_;
  Ipv6PrefixTable ipv6_;
  std::unique_ptr<LpmTable> lpm_;  ///< if set, used in place of ipv4_
  std::vector<Target> targets_;
  std::vector<NextHop> hops_;
  std::vector<Duration> gaps_;  ///< [targets()] of flowlets
  std::uint32_t index_;         ///< of the switch
  std::uint64_t seed_;
};

}  // namespace outrider::sw
