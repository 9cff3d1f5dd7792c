#pragma once

// Includes nlohmann-json, which is slow to compile: for .cc files only.

#include "trafficgen/measure/stream_report_json.h"
#include "trafficgen/report/report_fields.h"

namespace outrider::tg {

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, GeneratorReport>
void fields(V& v, R& r) {
  fields(v, base_of<RunReport>(r));
  v.value("sent", r.sent);
  v.value("received", r.received);
  v.value("consumed", r.consumed);
  v.value("drops", r.drops);
  v.value("pauses_taken", r.pauses_taken);
  v.value("paused_ns", r.paused_ns);
  v.value("mbuf_exhausted", r.mbuf_exhausted);
  v.value("device_full_waits", r.device_full_waits);
  v.value("flights_exhausted", r.flights_exhausted);
  v.value("segments_exhausted", r.segments_exhausted);
  v.value("disorders_exhausted", r.disorders_exhausted);
  v.value("tcp_events", r.tcp_events);
  fields(v, base_of<SignalMessages>(r));
  v.value("starts", r.starts);
  v.value("ack_timeouts", r.ack_timeouts);
  v.value("late_iterations", r.late_iterations);
  v.value("excess_resets", r.excess_resets);
  v.value("roce", r.roce);
  v.value("background_roce", r.background_roce);
  v.value("jobs_finished", r.jobs_finished);
  v.value("bursts", r.bursts);
  v.value("iterations", r.iterations);
  v.value("jobs", r.jobs);
  v.value("learners", r.learners);
  v.value("flows", r.flows);
  v.value("requests", r.requests);
  v.value("bins", r.bins);
  v.value("flow_groups", r.flow_groups);
  v.value("captures", r.captures);
  v.value("neighbourhood", r.neighbourhood);
  v.value("streams", r.streams);
  v.value("transfers", r.transfers);
  v.value("payload", r.payload);
  v.value("connections", r.connections);
}

}  // namespace outrider::tg
