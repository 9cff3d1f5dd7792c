#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/prefix_table.h"
#include "common/dpdk/lpm_table.h"
#include "common/net/headers.h"
#include "switch/config/config.h"

namespace outrider::sw {

/// Where a routed packet leaves, and the station it is for.
struct NextHop {
  std::uint16_t port = 0;
  bool has_mac = false;  ///< absent: the packet keeps its MAC addresses
  MacAddress mac{};
};

/// The routes of one switch: longest prefix, then one of the equal-cost next hops.
///
/// IPv4 prefixes lie in a table of our own or in rte_lpm, IPv6 ones in the former.
/// Neighbours are host routes of their own, and so are the switch's addresses, to which
/// nothing is forwarded. Filled at start-up and const from then on: what spraying counts
/// belongs to the caller.
class RouteTable {
 public:
  /// Equal-cost next hops of a destination.
  struct Target {
    std::uint32_t first = 0;  ///< in the list of next hops
    std::uint16_t hops = 0;   ///< 0: the switch itself
    bool spray = false;
  };
  /// [targets()]: packets that were sprayed so far, modulo hops. One for each lcore.
  using Turns = std::vector<std::uint16_t>;

  /// @param config must be valid. @param index of the switch in its process: it seeds the
  /// choice among equal costs, so that switches in a row do not all choose alike
  /// @throws DpdkError if rte_lpm is asked for and there is no memory for it
  RouteTable(const SwitchConfig& config, std::uint32_t index);

  /// @return nullptr if there is no route
  [[nodiscard]] const Target* find(std::uint32_t address) const noexcept {
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

  /// The next hop that a packet of the flow takes. @pre target.hops > 0
  [[nodiscard]] const NextHop& choose(const Target& target, const FlowKey& flow,
                                      Turns& turns) const noexcept {
    assert(target.hops > 0);
    if (target.hops == 1) [[likely]]
      return hops_[target.first];
    if (!target.spray) return hops_[target.first + share_of(flow, target.hops)];
    std::uint16_t& turn = turns[static_cast<std::size_t>(&target - targets_.data())];
    const std::uint32_t chosen = turn;
    turn = chosen + 1 == target.hops ? 0 : static_cast<std::uint16_t>(chosen + 1);
    return hops_[target.first + chosen];
  }

  /// The port that a packet to `address` may leave by: the first of equal costs.
  [[nodiscard]] std::optional<std::uint16_t> port_to(std::uint32_t address) const noexcept {
    const Target* target = find(address);
    if (target == nullptr || target->hops == 0) return std::nullopt;
    return hops_[target->first].port;
  }

 private:
  [[nodiscard]] std::uint32_t share_of(const FlowKey& flow, std::uint32_t hops) const noexcept {
    const std::uint64_t mixed = (hash_of(flow) ^ seed_) * 0x9FB21C651E98DF25ULL;
    return static_cast<std::uint32_t>((mixed >> 32) * hops >> 32);
  }
  void add_route(const SwitchConfig& config, const RouteConfig& route);
  void insert(const std::string& prefix_or_host, std::uint16_t target);

  PrefixTable ipv4_;
  Ipv6PrefixTable ipv6_;
  std::unique_ptr<LpmTable> lpm_;  ///< in place of ipv4_
  std::vector<Target> targets_;
  std::vector<NextHop> hops_;
  std::uint64_t seed_;
};

}  // namespace outrider::sw
