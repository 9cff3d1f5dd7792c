#include "trafficgen/background/flows_config.h"

#include <algorithm>

#include "trafficgen/background/flow_sizes.h"
#include "trafficgen/channel/queue_pair_limits.h"
#include "trafficgen/import/flow_list.h"

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMaxRecords = 100'000'000;
constexpr double kMaxLoad = 10;                          ///< overload is a valid experiment
constexpr BitRate kMaxGroupRate{1'000'000'000'000'000};  ///< 2,500 NICs of the fastest kind

SettingRange rates_up_to(BitRate most) {
  SettingRange range = link_rates();
  range.high = most.bits_per_second;
  return range;
}

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
  at.faults_of_file(key, path, loaded.issues);
}

}  // namespace

void check(const Checks& at, const FlowsConfig& flows) {
  if (flows.distribution.has_value() == flows.list.has_value())
    at.fault("distribution", flows.list ? "must not be given together with list"
                                        : "one of distribution and list is required");
  else if (flows.list) check_listed(at, flows);
  else check_drawn(at, flows);
  if (flows.max_flows) at.require(*flows.max_flows > 0, "max_flows", "0", "must be at least 1");
}

void check_files(const Checks& at, const FlowsConfig& flows) {
  if (flows.distribution)
    check_loaded(at, "distribution", *flows.distribution, load_flow_sizes(*flows.distribution));
  if (flows.list && !flows.hosts.empty())
    check_loaded(at, "list", *flows.list, load_flow_list(*flows.list, flows.hosts.size()));
}

void describe(Settings& v, FlowsConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("from", c.from,
          {.accepts = "hosts; each of `from` has another host in `to`",
           .absent = "with `distribution` required",
           .help = "each flow draws its sender and its receiver"});
  v.value("to", c.to,
          {.accepts = "hosts; each of `from` has another host in `to`",
           .absent = "with `distribution` required",
           .help = "each flow draws its sender and its receiver"});
  v.value("distribution", c.distribution,
          {.accepts = "path of a size file, relative to this file",
           .help = "exactly one of `distribution` and `list`"});
  v.value("list", c.list, {.accepts = "path of a list of flows, relative to this file"});
  v.value("hosts", c.hosts,
          {.accepts = "hosts, at least 2",
           .absent = "with `list` required",
           .help = "host n of the list is the n-th, from 0"});
  v.share("load", c.load,
          {.range = reals_above(0, kMaxLoad),
           .help = "of the receivers' NICs together, counting all that full frames take on the "
                   "wire; ACKs are not counted. Exactly one of `load` and `rate`"});
  v.rate("rate", c.rate,
         {.range = rates_up_to(kMaxGroupRate), .help = "of payload, of the whole group"});
  v.choice("arrivals", c.arrivals, kArrivalProcesses,
           {.help = "exponential or equal gaps; their mean is mean size / rate"});
  v.value("transport", c.transport, {.required = true, .accepts = "name of a `[[transport]]`"});
  v.duration("start", c.start,
             {.range = durations_from(Duration::zero()),
              .help = "arrivals begin; the first flow of a list comes here"});
  v.duration(
      "duration", c.duration,
      {.range = durations_above_zero(), .absent = "to the end of the run", .help = "of arrivals"});
  v.value("max_flows", c.max_flows,
          {.accepts = "1 and above", .absent = "no end", .help = "arrivals"});
  v.value("max_open", c.max_open,
          {.range = integers(1, kMaxOpenFlows, "flows"),
           .accepts = "of all tables together",
           .absent = "as many as arrive, up to 1000000",
           .help = "flows at once; an arrival that finds no place is counted as refused"});
  v.value(
      "records", c.records,
      {.range = integers(0, kMaxRecords, "flows"),
       .help =
           "flows of which a record is kept, for `--flow-records FILE`, `--csv` and the report"});
  v.value("tcp_port", c.tcp_port,
          {.range = integers(1, 65535),
           .help = "of the receivers, this table's own; not used over RoCEv2"});
  v.value("queue_pairs", c.queue_pairs,
          {.range = integers(1, kMaxQueuePairs),
           .absent = "16, or fewer between many hosts, and more when all are in use",
           .help = "over [RoCEv2](roce.md#background): connections from each of `from` to each of "
                   "`to`, one for each open flow. If it is given, an arrival that finds none free "
                   "is counted as refused"});
}

}  // namespace outrider::tg
