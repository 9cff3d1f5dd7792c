#pragma once

#include <memory>

#include "common/runtime/event_loop.h"
#include "trafficgen/hosts/host_attribution.h"
#include "trafficgen/hosts/host_counters.h"
#include "trafficgen/hosts/host_datagrams.h"
#include "trafficgen/hosts/host_pauses.h"
#include "trafficgen/hosts/host_setup.h"
#include "trafficgen/hosts/host_timers.h"
#include "trafficgen/hosts/nic_turns.h"
#include "trafficgen/hosts/pause_storm.h"
#include "trafficgen/hosts/start_signals.h"
#include "trafficgen/hosts/stray_replies.h"

namespace outrider::tg {

/// What the connections and the NIC of a host both use. One reference to all of it costs a packet
/// fewer loads than one to each.
struct HostParts {
  /// @param loop,timer_source,events must outlive this object
  HostParts(const HostSetup& s, EventLoop& loop, EventSource& timer_source, TcpEvents& events)
      : setup(s),
        timers(loop, timer_source),
        attribution(s.owners != 0 ? std::make_unique<HostAttribution>(s.owners) : nullptr),
        turns(s.tso_bytes),
        signals(counters),
        strays(events, counters),
        pauses(s.rate, turns, counters),
        datagrams(turns.queue(), timers, s.full_payload),
        storm(s.pause_storm, s.rate) {}
  HostParts(const HostParts&) = delete;
  HostParts& operator=(const HostParts&) = delete;

  HostSetup setup;
  HostTimers timers;
  HostCounters counters;
  std::unique_ptr<HostAttribution> attribution;  ///< only if it is on
  NicTurns turns;        ///< of slots that may send, one entry each, and of endpoints
  StartSignals signals;  ///< sent before anything else, but see HostNic
  StrayReplies strays;
  HostPauses pauses;
  HostDatagrams datagrams;
  PauseStorm storm;
};

}  // namespace outrider::tg
