#pragma once

// Includes nlohmann-json, which is slow to compile: for .cc files only.

#include "trafficgen/measure/stream_report_json.h"
#include "trafficgen/report/report_fields.h"

namespace outrider::tg {

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, GeneratorReport>
void fields(V& v, R& r) {
  fields(v, base_of<RunReport>(r));
  fields(v, base_of<GeneratorCounts>(r));
  v.value("roce", r.roce);
  v.value("background_roce", r.background_roce);
  v.value("jobs_finished", r.jobs_finished);
  v.value("bursts", r.bursts);
  v.value("iterations", r.iterations);
  v.value("steps", r.steps);
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
  v.value("connections", r.connections);
}

}  // namespace outrider::tg
