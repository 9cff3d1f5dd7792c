#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

using SonicJson = nlohmann::ordered_json;

/// Name of the maps, and begin of the names of profiles: none of SONiC's own begins so.
inline constexpr const char* kSonicName = "OUTRIDER";

/// A port with the name that it is assumed to have there.
struct SonicPort {
  std::string name;
  bool trunk = false;  ///< to another switch
  BitRate rate{};
  Duration delay{};  ///< of the link, one way
};

/// Classes by their numbers, each of which is that of a queue, a priority group and a priority too.
struct SonicClasses {
  std::string bursts = "3";
  std::string storage = "3";  ///< that of background over RoCEv2
  std::string cnps = "6";     ///< SONiC's own class of DSCP 48
  std::string rest = "0";
  /// The settings of the bursts' queue, and of that of storage if it has one
  std::vector<std::pair<std::string, sw::PortQueueConfig>> queues{};
};

/// Returns the classes of a case. @pre its first job is over RoCEv2
SonicClasses sonic_classes(const Case& c);

/// Returns the maps of DSCPs, queues and priorities, the pauses of ports, and the queue of CNPs.
SonicJson sonic_maps(const Case& c, const SonicClasses& classes,
                     const std::vector<SonicPort>& ports);

/// Returns the queues with their ECN marks and shares of the link, which are the same on all ports;
/// null if a marker has no counterpart.
SonicJson sonic_queues(const Case& c, const SonicClasses& classes,
                       const std::vector<SonicPort>& ports, std::uint32_t frame_bytes);

/// Returns pools, profiles and the watchdog of lossless classes: empty without one; null if XOFF
/// has no counterpart, or the buffer does not hold the headroom of devices.
SonicJson sonic_pauses(const Case& c, const sw::SwitchConfig& of, const SonicClasses& classes,
                       const std::vector<SonicPort>& ports, std::uint32_t frame_bytes);

}  // namespace outrider::lab
