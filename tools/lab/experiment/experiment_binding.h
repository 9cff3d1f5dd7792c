#pragma once

#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

// Bindings of the experiment file, see common/config/config_binding.h.

template <class V>
void describe(V& v, SwitchEntry& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("outside", c.outside);
}

template <class V>
void describe(V& v, TrunkEntry& c) {
  v.value("a", c.a, Presence::kRequired);
  v.value("b", c.b, Presence::kRequired);
  v.rate("rate", c.rate, Presence::kRequired);
  v.duration("delay", c.delay, Presence::kRequired);
  v.value("gray", c.gray);
  v.value("bottleneck", c.bottleneck);
  v.value("lose_packets", c.lose_packets);
  v.value("mark_packets", c.mark_packets);
}

template <class V>
void describe(V& v, HostGroupEntry& c) {
  v.value("name", c.name, Presence::kRequired);
  v.text("count", c.count, parse_host_count, format_host_count);
  v.value("switch", c.at_switch);
  v.choice("placement", c.placement, kHostPlacements);
  v.rate("rate", c.rate);
  v.duration("delay", c.delay);
  v.share("delay_spread", c.delay_spread);
  v.bytes("mtu_bytes", c.mtu_bytes);
  v.bytes("tso_bytes", c.tso_bytes);
  v.table("pause_storm", c.pause_storm);
}

template <class V>
void describe(V& v, NetworkEntry& c) {
  v.value("measured", c.measured);
  v.duration("rtt", c.rtt);
}

template <class V>
void describe(V& v, Observed& c) {
  v.value("queues", c.queues);
  v.value("captures", c.captures);
  v.duration("capture_from", c.capture_from);
  v.value("capture_packets", c.capture_packets);
  v.value("flows", c.flows);
  v.value("requests", c.requests);
}

template <class V>
void describe(V& v, BackgroundEntry& c) {
  v.value("from", c.from, Presence::kRequired);
  v.value("to", c.to, Presence::kRequired);
  v.value("both_ways", c.both_ways);
  v.value("matrix", c.matrix);
}

template <class V>
void describe(V& v, JobEntry& c) {
  v.value("workers", c.workers);
  v.value("servers", c.servers);
  v.value("hosts", c.hosts);
  v.value("ring", c.ring);
}

template <class V>
void describe(V& v, Arm& c) {
  v.value("label", c.label, Presence::kRequired);
  v.choice("role", c.role, kArmRoles);
  v.value("against", c.against);
  describe(v, c.parameters);  // an arm's overrides are keys of [[arm]] itself
}

template <class V>
void describe(V& v, ExperimentFile& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("question", c.question);
  v.value("seeds", c.seeds);
  v.table("network", c.network);
  v.table("observe", c.observed);
  v.table("fabric", c.fabric);
  v.tables("switch", c.switches);
  v.tables("link", c.trunks);
  v.tables("hosts", c.hosts);
  v.table("background", c.background);
  v.table("job", c.job);
  v.table("parameters", c.parameters);
  v.tables("arm", c.arms, Arm{.label = {}, .parameters = c.parameters});
}

}  // namespace outrider::lab
