#include "trafficgen/background/flows_config.h"

#include <algorithm>

#include "trafficgen/background/flow_sizes.h"
#include "trafficgen/import/hpcc_flows.h"

namespace outrider {
namespace {

constexpr std::uint64_t kMaxRecords = 100'000'000;
constexpr double kMaxLoad = 10;  ///< overload is a legitimate question

void check_drawn(const Checks& at, const FlowsConfig& flows) {
  if (flows.from.empty()) at.fault("from", "must name at least one host");
  if (flows.to.empty()) at.fault("to", "must name at least one host");
  for (std::size_t i = 0; i < flows.from.size(); ++i)
    at.below("from", i).require(
        flows.to.empty() ||
            std::ranges::any_of(flows.to, [&](const auto& h) { return h != flows.from[i]; }),
        "", Checks::quoted(flows.from[i]), "has no other host to send to");
  if (!flows.hosts.empty()) at.fault("hosts", "is for a list; a distribution has from and to");
  if (flows.load.has_value() == flows.rate.has_value())
    at.fault("load", flows.load ? "must not be given together with rate"
                                : "one of load and rate is required");
  if (flows.load) at.in_interval("load", *flows.load, 0, kMaxLoad, false);
  if (flows.rate) at.rate("rate", *flows.rate);
}

void check_listed(const Checks& at, const FlowsConfig& flows) {
  if (flows.hosts.size() < 2) at.fault("hosts", "must name the list's hosts, at least 2");
  if (!flows.from.empty()) at.fault("from", "is for a distribution; a list has hosts");
  if (!flows.to.empty()) at.fault("to", "is for a distribution; a list has hosts");
  if (flows.load) at.fault("load", "is for a distribution; a list has its own times");
  if (flows.rate) at.fault("rate", "is for a distribution; a list has its own times");
}

template <class Result>
void check_loaded(const Checks& at, const char* key, const std::string& path,
                  const Result& loaded) {
  for (const auto& issue : loaded.issues)
    at.fault(key, Checks::quoted(path),
             issue.key.empty() ? issue.problem : issue.key + ": " + issue.problem);
}

}  // namespace

void check(const Checks& at, const FlowsConfig& flows) {
  if (flows.distribution.has_value() == flows.list.has_value())
    at.fault("distribution", flows.list ? "must not be given together with list"
                                        : "one of distribution and list is required");
  else if (flows.list) check_listed(at, flows);
  else check_drawn(at, flows);
  at.not_negative("start", flows.start);
  if (flows.duration) at.positive("duration", *flows.duration);
  if (flows.max_flows) at.require(*flows.max_flows > 0, "max_flows", "0", "must be at least 1");
  at.in_range("max_open", flows.max_open, 1, kMaxOpenFlows, "flows");
  at.in_range("records", flows.records, 0, kMaxRecords, "flows");
  at.in_range("tcp_port", flows.tcp_port, 1, 65535);
}

void check_files(const Checks& at, const FlowsConfig& flows) {
  if (flows.distribution)
    check_loaded(at, "distribution", *flows.distribution, load_flow_sizes(*flows.distribution));
  if (flows.list && !flows.hosts.empty())
    check_loaded(at, "list", *flows.list, load_hpcc_flows(*flows.list, flows.hosts.size()));
}

}  // namespace outrider
