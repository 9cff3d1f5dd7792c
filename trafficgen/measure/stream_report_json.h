#pragma once

// Includes nlohmann-json, which is slow to compile: for .cc files only.

#include "common/telemetry/json_fields.h"
#include "trafficgen/measure/stream_report.h"

namespace outrider::tg {

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, HopReport>
void fields(V& v, R& r) {
  v.value("switch_id", r.switch_id);
  v.value("port", r.port);
  v.value("queue", r.queue);
  v.value("probes", r.probes);
  v.value("max_left_packets", r.max_left_packets);
  v.value("max_left_bytes", r.max_left_bytes);
  v.value("sojourn_ns", r.sojourn_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, HopsReport>
void fields(V& v, R& r) {
  v.value("probes", r.probes);
  v.value("incomplete", r.incomplete);
  v.value("elsewhere", r.elsewhere);
  v.value("hops", r.hops);
  v.value("rest_ns", r.rest_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StreamReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  v.value("id", r.id);
  v.value("layer", r.layer);
  v.value("flows", r.flows);
  v.value("sends", r.sends);
  v.value("requested_packets_per_second", r.requested_packets_per_second);
  v.value("requested_bits_per_second", r.requested_bits_per_second);
  v.value("achieved_packets_per_second", r.achieved_packets_per_second);
  v.value("achieved_bits_per_second", r.achieved_bits_per_second);
  fields(v, base_of<StreamSentCounts>(r));
  v.value("lateness_ns", r.lateness_ns);
  v.value("gap_error_ns", r.gap_error_ns);
  v.value("receives", r.receives);
  fields(v, base_of<StreamReceivedCounts>(r));
  v.value("latency_ns", r.latency_ns);
  v.value("samples_kept", r.samples_kept);
  v.value("samples_not_kept", r.samples_not_kept);
  v.value("hops", r.hops);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StreamsReport>
void fields(V& v, R& r) {
  v.value("streams", r.streams);
  v.value("ends", r.ends);
  v.value("loop_bias_ns", r.loop_bias_ns);
  v.value("stream_pauses", r.pauses);
  v.value("link_down_checks", r.link_down_checks);
}

}  // namespace outrider::tg
