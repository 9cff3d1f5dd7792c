#include "trafficgen/report/report_csv.h"

#include "common/telemetry/csv_text.h"
#include "trafficgen/report/report_fields.h"

namespace outrider::tg {
namespace {

/// One size class of one group.
struct GroupClass {
  std::string group;
  FlowClassReport flows;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, GroupClass>
void fields(V& v, R& r) {
  v.value("group", r.group);
  fields(v, r.flows);
}

/// One answered request of one pair.
struct NamedSample {
  std::string name;
  RequestSample sample;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, NamedSample>
void fields(V& v, R& r) {
  v.value("name", r.name);
  v.value("answered_ns", r.sample.answered_ns);
  v.value("latency_ns", r.sample.latency_ns);
}

std::vector<NamedSample> samples_of(const std::vector<RequestReport>& requests) {
  std::vector<NamedSample> samples;
  for (const auto& r : requests)
    for (const auto& sample : r.samples) samples.push_back({r.name, sample});
  return samples;
}

/// One loss of the learner of one job.
struct NamedLoss {
  std::string name;
  LossPoint point;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, NamedLoss>
void fields(V& v, R& r) {
  v.value("name", r.name);
  fields(v, r.point);
}

std::vector<NamedLoss> losses_of(const std::vector<LearnerReport>& learners) {
  std::vector<NamedLoss> losses;
  for (const auto& learner : learners)
    for (const auto& point : learner.losses) losses.push_back({learner.name, point});
  return losses;
}

/// One bin of the series, with the time that it covers.
struct TimedBin {
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 0;
  GoodputBin bin;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, TimedBin>
void fields(V& v, R& r) {
  v.value("begin_ns", r.begin_ns);
  v.value("length_ns", r.length_ns);
  fields(v, r.bin);
}

std::vector<GroupClass> classes_of(const std::vector<FlowGroupReport>& groups) {
  std::vector<GroupClass> classes;
  for (const auto& g : groups)
    for (const auto& c : g.classes) classes.push_back({g.name, c});
  return classes;
}

std::vector<TimedBin> timed(const GeneratorReport& report) {
  std::vector<TimedBin> bins;
  for (const auto& bin : report.bins)
    bins.push_back({static_cast<std::int64_t>(bins.size()) * report.bin_ns, report.bin_ns, bin});
  return bins;
}

}  // namespace

std::vector<CsvFile> csv_files(const GeneratorReport& report) {
  std::vector<CsvFile> files;
  const auto add = [&](const char* name, const auto& records) {
    if (!records.empty()) files.push_back({name, csv_of(records)});
  };
  add("bursts.csv", report.bursts);
  add("iterations.csv", report.iterations);
  add("steps.csv", report.steps);
  add("jobs.csv", report.jobs);
  add("learners.csv", report.learners);
  add("losses.csv", losses_of(report.learners));
  add("flows.csv", report.flows);
  add("goodput.csv", timed(report));
  add("flow-groups.csv", report.flow_groups);
  add("flow-classes.csv", classes_of(report.flow_groups));
  add("captures.csv", report.captures);
  add("requests.csv", report.requests);
  add("request-samples.csv", samples_of(report.requests));
  add("transfers.csv", report.transfers);
  add("connections.csv", report.connections);
  bool records = false;
  for (const auto& g : report.flow_groups) records |= !g.records.empty();
  if (records) files.push_back({"flow-records.csv", flow_records_csv(report.flow_groups)});
  if (!report.streams.streams.empty()) files.push_back({"streams.csv", to_csv(report.streams)});
  return files;
}

}  // namespace outrider::tg
