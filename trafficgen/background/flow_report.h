#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/figure.h"
#include "common/core/histogram.h"

namespace outrider::tg {

/// One flow of a group, kept on request. Instants that never came are -1.
struct FlowRecord {
  std::string from{}, to{};  ///< host names
  std::uint64_t bytes = 0;
  std::int64_t arrival_ns = -1;
  std::int64_t established_ns = -1;  ///< at the sender
  std::int64_t delivered_ns = -1;    ///< last byte, in order
  std::uint64_t slowdown_milli = 0;  ///< thousandths; 0: not delivered
  std::uint64_t retransmitted = 0;   ///< segments
  std::uint64_t rtos = 0;
};

/// Completed flows of one size class.
struct FlowClassReport {
  std::uint64_t above_bytes = 0;
  std::uint64_t up_to_bytes = 0;
  Histogram completion_ns{};
  Histogram slowdown_milli{};  ///< thousandths
};

/// What is counted of one [[flows]] table as it goes on. Identities: arrivals == refused +
/// completed + failed + open; arrivals + after_end are the flows of a list within `max_flows` and
/// `duration`; the classes' counts add up to `completed`.
struct FlowGroupCounts {
  std::uint64_t arrivals = 0;
  std::uint64_t refused = 0;           ///< never offered: no place or no port was free
  std::uint64_t refused_no_port = 0;   ///< of these: every port to the receiver was in use
  std::int64_t first_refused_ns = -1;  ///< arrival of the first of these
  std::uint64_t after_end = 0;         ///< flows of a list that would begin after the run's end
  std::uint64_t completed = 0;         ///< last byte delivered
  std::uint64_t failed = 0;            ///< the transport gave up
  std::uint64_t open = 0;
  std::uint64_t arrived_bytes = 0;  ///< of all arrivals
  std::uint64_t delivered_bytes = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, FlowGroupCounts>
void fields(V& v, R& r) {
  const auto flows = [&v](const char* name, const char* exported, const char* help, auto& count) {
    v.value(counter(name, "flows", help).as(exported), count);
  };
  flows("arrivals", "arrived_flows", "Flows that were due", r.arrivals);
  flows("refused", "refused_flows", "Flows not offered: no place or no port was free", r.refused);
  flows("refused_no_port", "refused_no_port_flows",
        "Flows of these: every port to the receiver was in use", r.refused_no_port);
  v.value("first_refused_ns", r.first_refused_ns);
  v.value("after_end", r.after_end);
  flows("completed", "completed_flows", "Flows whose last byte was delivered", r.completed);
  flows("failed", "failed_flows", "Flows that the transport gave up", r.failed);
  v.value(gauge("open", "flows", "Flows that are open").as("open_flows"), r.open);
  v.value(counter("arrived_bytes", "bytes", "Payload of all flows that were due"), r.arrived_bytes);
  v.value(counter("delivered_bytes", "bytes", "Payload that was delivered in order"),
          r.delivered_bytes);
}

/// The report of one [[flows]] table.
struct FlowGroupReport : FlowGroupCounts {
  std::string name;
  std::uint64_t offered_bps = 0;  ///< offered payload rate; 0: a list
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos_data = 0;
  std::uint64_t rtos_handshake = 0;
  std::uint64_t records_lost = 0;  ///< flows beyond `records`
  std::vector<FlowClassReport> classes;
  std::vector<FlowRecord> records;  ///< in the order of their ends
};

/// Upper ends of the size classes [bytes]; the last class has none.
inline constexpr std::array<std::uint64_t, 3> kFlowClassEnds{10'000, 100'000, 1'000'000};

/// Says how many flows of a group were not offered, from when on and why; empty if all were.
std::string not_offered_text(const FlowGroupReport& group);

void print_flow_groups(std::ostream& out, const std::vector<FlowGroupReport>& groups,
                       std::int64_t end_ns);

/// Returns all kept records as CSV, one per line after a line of names.
std::string flow_records_csv(const std::vector<FlowGroupReport>& groups);

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, FlowRecord>
void fields(V& v, R& r) {
  v.value("from", r.from);
  v.value("to", r.to);
  v.value("bytes", r.bytes);
  v.value("arrival_ns", r.arrival_ns);
  v.value("established_ns", r.established_ns);
  v.value("delivered_ns", r.delivered_ns);
  v.value("slowdown_milli", r.slowdown_milli);
  v.value("retransmitted", r.retransmitted);
  v.value("rtos", r.rtos);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, FlowClassReport>
void fields(V& v, R& r) {
  v.value("above_bytes", r.above_bytes);
  v.value("up_to_bytes", r.up_to_bytes);
  v.value("completion_ns", r.completion_ns);
  v.value("slowdown_milli", r.slowdown_milli);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, FlowGroupReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  v.value("offered_bps", r.offered_bps);
  fields(v, base_of<FlowGroupCounts>(r));
  v.value("retransmitted", r.retransmitted);
  v.value("rtos_data", r.rtos_data);
  v.value("rtos_handshake", r.rtos_handshake);
  v.value("records_lost", r.records_lost);
  v.value("classes", r.classes);
  v.value("records", r.records);
}

}  // namespace outrider::tg
