#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::tg {

enum class ArrivalProcess : std::uint8_t {
  kPoisson,  ///< exponential gaps
  kFixed,    ///< equal gaps
};

/// A group of flows that arrive and end. They are drawn from a size distribution at a load, or
/// listed in a file.
struct FlowsConfig {
  std::string name;
  std::vector<std::string> from;  ///< host names; a flow's sender is drawn from them
  std::vector<std::string> to;
  std::optional<std::string> distribution{};  ///< path of a CDF file; or
  std::optional<std::string> list{};          ///< path of a flow list, see flow_list.h
  std::vector<std::string> hosts;             ///< with `list`: host number n of the list is entry n
  std::optional<double> load{};   ///< share of the receivers' NICs, with headers and gaps; or
  std::optional<BitRate> rate{};  ///< of payload, of the whole group
  ArrivalProcess arrivals = ArrivalProcess::kPoisson;
  std::string transport;
  Duration start{};
  std::optional<Duration> duration{};        ///< of arrivals; absent: to the end of the run
  std::optional<std::uint64_t> max_flows{};  ///< largest number of arrivals; absent: no limit
  /// Flows at once; further arrivals are refused. Absent: as many as arrive, see kMaxOpenFlows
  std::optional<std::uint32_t> max_open{};
  std::uint32_t records = 0;  ///< flows whose records are kept
  std::uint16_t tcp_port = 31000;
  /// Between two hosts, over RoCEv2. Absent: first_queue_pairs(), and more when all are in use
  std::optional<std::uint32_t> queue_pairs{};
};

/// Calls visit(path) for each file that a group reads.
template <class Flows, class Visit>
void for_each_file(Flows& flows, Visit visit) {
  if (flows.distribution) visit(*flows.distribution);
  if (flows.list) visit(*flows.list);
}

/// Largest number of open flows of a group, and of all groups with `max_open` together; a host has
/// room for twice as many.
inline constexpr std::uint32_t kMaxOpenFlows = 1'000'000;

/// Checks the rules of a group that need no other table.
void check(const Checks& at, const FlowsConfig& flows);
/// Reads the group's files and checks them.
void check_files(const Checks& at, const FlowsConfig& flows);

inline constexpr auto kArrivalProcesses = choices<ArrivalProcess>(
    {{"poisson", ArrivalProcess::kPoisson}, {"fixed", ArrivalProcess::kFixed}});

void describe(Settings& v, FlowsConfig& c);

}  // namespace outrider::tg
