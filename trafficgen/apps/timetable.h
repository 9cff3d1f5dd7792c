#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// One event that a configuration will start.
struct TimetableEvent {
  Time at{};
  const char* kind = "";
  const std::string* name = nullptr;  ///< of the table
  const std::string* from = nullptr;
  const std::string* to = nullptr;
  std::uint64_t bytes = 0;               ///< 0: unknown before the run, or endless
  const TcpConfig* transport = nullptr;  ///< of the connection that it opens, if it opens one
  std::uint16_t port = 0;                ///< port of the listening end
  bool full_mtu = false;                 ///< segments as long as both hosts' MTUs allow
};

struct Timetable {
  std::vector<TimetableEvent> events;  ///< in the order of time; names are the configuration's
  bool ends_before_run = false;        ///< there were more than `max_events`
};

/// Returns what starts before `until`, see preview(). @param config valid, outlives the timetable
/// @throws std::runtime_error if a file of a flow group cannot be read
Timetable timetable_of(const GeneratorConfig& config, Time until, std::uint64_t max_events);

}  // namespace outrider::tg
