#pragma once

#include <concepts>
#include <type_traits>

#include "common/core/figure.h"
#include "common/telemetry/identity_fields.h"
#include "switch/report/report.h"

namespace outrider::sw {

// Bindings of the records, see common/telemetry/json_fields.h, in the order of the structs.
// The rows of counters are in counts.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, QueueBurstRecord>
void fields(V& v, R& r) {
  v.value("identity", r.identity);
  v.value(
      Described{"first_at_ns", "arrival of its first packet at the measured queue, switch's clock"},
      r.first_at_ns);
  v.value(Described{"last_at_ns", "departure of its last packet so far, switch's clock"},
          r.last_at_ns);
  v.value(Described{"start_packets", "that its first packet found in the queue"}, r.start_packets);
  v.value(Described{"start_bytes", "that its first packet found in the queue"}, r.start_bytes);
  v.value(
      Described{"max_packets", "largest occupancy from the iteration's first packet to its latest"},
      r.max_packets);
  v.value(Described{"packets", "of it that have left the queue"}, r.packets);
  v.value(Described{"sojourn_ns", "sum over its packets"}, r.sojourn_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, QueueBin>
void fields(V& v, R& r) {
  v.value("bytes", r.bytes);
  v.value("busy_ns", r.busy_ns);
  v.value("max_packets", r.max_packets);
  v.value("min_threshold_packets", r.min_threshold_packets);
  v.value("sojourn_ns", r.sojourn_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, QueueReport>
void fields(V& v, R& r) {
  v.value("switch_name", r.switch_name);
  v.value("port_name", r.port_name);
  v.value("queue", r.queue);
  fields(v, base_of<QueueCounts>(r));
  v.value("burst_sojourn_ns", r.burst_sojourn_ns);
  v.value("interval_sojourn_ns", r.interval_sojourn_ns);
  v.value("beyond_by_name", r.beyond_by_name);
  v.value("bursts", r.bursts);
  v.value("bursts_not_recorded", r.bursts_not_recorded);
  v.value("bins", r.bins);
  v.value("regulated", r.regulated);
  v.value("stopped", r.stopped);
  v.value("stops_neighbour", r.stops_neighbour);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, SwitchReport>
void fields(V& v, R& r) {
  fields(v, base_of<ProcessCounts>(r));
  fields(v, base_of<SignalCounts>(r));
  fields(v, base_of<FlowletCounters>(r));
  fields(v, base_of<RunReport>(r));
  v.value("queues", r.queues);
}

}  // namespace outrider::sw
