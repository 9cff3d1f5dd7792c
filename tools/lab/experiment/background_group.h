#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/config/config_binding.h"
#include "common/config/config_value.h"
#include "trafficgen/channel/transport_config.h"

namespace outrider::lab {

/// The queue of background over RoCEv2 where a port has two.
enum class LabRoceQueue : std::uint8_t {
  kBackground,
  kDdl,  ///< that of the bursts: a class for all of RoCEv2, and another one for TCP
};

inline constexpr auto kLabRoceQueues =
    choices<LabRoceQueue>({{"background", LabRoceQueue::kBackground}, {"ddl", LabRoceQueue::kDdl}});

/// The kind of traffic of a group of background.
enum class BackgroundKind : std::uint8_t { kLongFlows, kLoad, kList, kRequests, kCapture };

/// One [[background]] of an experiment: hosts, a transport, and one kind of traffic. What
/// [background] and the parameters `background_*` say is a shorthand of such groups, see
/// background_of().
struct BackgroundGroup {
  std::string name;  ///< of its rows in the generator's file
  std::string from;  ///< groups of hosts, which may be those of a job
  std::string to;
  bool both_ways = false;  ///< as much again flows from `to` to `from`
  tg::TransportProtocol protocol = tg::TransportProtocol::kTcp;
  LabRoceQueue queue = LabRoceQueue::kBackground;  ///< over RoCEv2
  /// Long flows of the group, which take its pairs of hosts in turn.
  std::optional<std::uint32_t> long_flows{};
  std::optional<double> load{};                ///< as background_load
  std::string sizes{};                         ///< of the flows of `load`: CDF file
  std::string list{};                          ///< flow list
  std::string capture{};                       ///< pcap or pcapng file
  std::optional<std::uint32_t> queue_pairs{};  ///< over RoCEv2, of `load` and `list`
  ConfigTable transport{};                     ///< settings of its transport
  ConfigTable requests{};                      ///< settings of its requests; empty: none

  std::string place{};    ///< key of its table, for messages: "background[0]"
  ConfigTable written{};  ///< its table in the file, with nested keys
  std::string text{};     ///< what the file says of it, without what sweeps set
  /// Of the shorthand alone: the transport of all that background has over a protocol, and long
  /// flows of each pair.
  std::string carrier{};
  std::uint32_t flows_per_pair = 0;

  /// @pre it has one kind
  [[nodiscard]] BackgroundKind kind() const {
    if (load) return BackgroundKind::kLoad;
    if (!list.empty()) return BackgroundKind::kList;
    if (!capture.empty()) return BackgroundKind::kCapture;
    return requests.members.empty() ? BackgroundKind::kLongFlows : BackgroundKind::kRequests;
  }
  [[nodiscard]] bool is_shorthand() const { return !carrier.empty(); }
  [[nodiscard]] bool over_roce() const { return protocol == tg::TransportProtocol::kRoce; }
  /// Returns the name of its transport in the generator's file.
  [[nodiscard]] std::string transport_name() const {
    return is_shorthand() ? carrier : "background_" + name;
  }
};

void describe(Settings& v, BackgroundGroup& c);

/// What follows "background." in the names of settings, and so is the name of no group.
inline constexpr const char* kTransportOfBackground = "transport";

/// What the name of a group's rows that flow back ends with.
inline constexpr const char* kBackRow = "_back";

}  // namespace outrider::lab
