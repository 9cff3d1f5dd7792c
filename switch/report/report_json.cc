#include "switch/report/report_json.h"

#include "common/telemetry/json_fields.h"
#include "common/telemetry/poll_gap_fields.h"

namespace outrider {

// By argument-dependent lookup; in the order of the structs.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, QueueBurstRecord>
void fields(V& v, R& r) {
  v.value("identity", r.identity);
  v.value("first_at_ns", r.first_at_ns);
  v.value("last_at_ns", r.last_at_ns);
  v.value("start_packets", r.start_packets);
  v.value("start_bytes", r.start_bytes);
  v.value("max_packets", r.max_packets);
  v.value("packets", r.packets);
  v.value("sojourn_ns", r.sojourn_ns);
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

static_assert(kWindowReasons != kDropReasons && kWindowReasons != kMarkReasons,
              "arrays are told apart by their length");

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, WindowCounters>
void fields(V& v, R& r) {
  v.value("answers", r.answers);
  v.value("rewritten", r.rewritten);
  v.value("flows_added", r.flows_added);
  v.value("flows_evicted", r.flows_evicted);
  v.value("flows_refused", r.flows_refused);
  v.value("flows_without_handshake", r.flows_without_handshake);
  v.value("flows_authenticated", r.flows_authenticated);
  v.value("bursts_refused", r.bursts_refused);
  v.value("releases", r.releases);
  v.value("spared_marks", r.spared_marks);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PaceCounters>
void fields(V& v, R& r) {
  v.value("held", r.held);
  v.value("released_room", r.released_room);
  v.value("released_floor", r.released_floor);
  v.value("released_end", r.released_end);
  v.value("pushed_out", r.pushed_out);
  v.value("held_ns", r.held_ns);
  v.value("max_held", r.max_held);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PeriodPredictor::Counters>
void fields(V& v, R& r) {
  v.value("onsets", r.onsets);
  v.value("hits", r.hits);
  v.value("early", r.early);
  v.value("missed", r.missed);
  v.value("locked", r.locked);
  v.value("ended", r.ended);
  v.value("relearned", r.relearned);
  v.value("refused", r.refused);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, QueueReport>
void fields(V& v, R& r) {
  v.value("switch_name", r.switch_name);
  v.value("port_name", r.port_name);
  v.value("queue", r.queue);
  v.value("drain_bits_per_second", r.drain_bits_per_second);
  v.value("initial_threshold_packets", r.initial_threshold_packets);
  v.value("background_threshold_packets", r.background_threshold_packets);
  v.value("arrived", r.arrived);
  v.value("transmitted", r.transmitted);
  v.value("transmitted_bytes", r.transmitted_bytes);
  v.value("resident", r.resident);
  v.value("resident_bytes", r.resident_bytes);
  v.value("held_packets", r.held_packets);
  v.value("drops", r.drops);
  v.value("marks", r.marks);
  v.value("hop_records", r.hop_records);
  v.value("hop_records_no_room", r.hop_records_no_room);
  v.value("burst_sojourn_ns", r.burst_sojourn_ns);
  v.value("interval_sojourn_ns", r.interval_sojourn_ns);
  v.value("bursts", r.bursts);
  v.value("bursts_not_recorded", r.bursts_not_recorded);
  v.value("bins", r.bins);
  v.value("starts_armed", r.starts_armed);
  v.value("starts_predicted", r.starts_predicted);
  v.value("starts_repeated", r.starts_repeated);
  v.value("starts_refused_budget", r.starts_refused_budget);
  v.value("starts_refused_table", r.starts_refused_table);
  v.value("recovered_arrival", r.recovered_arrival);
  v.value("recovered_burst_end", r.recovered_burst_end);
  v.value("recovered_timer", r.recovered_timer);
  v.value("expired", r.expired);
  v.value("budget_exhausted", r.budget_exhausted);
  v.value("replaced", r.replaced);
  v.value("predictions_missed", r.predictions_missed);
  v.value("withdrawn", r.withdrawn);
  v.value("entries_left", r.entries_left);
  v.value("predictor", r.predictor);
  v.value("regulated_ns", r.regulated_ns);
  v.value("window", r.window);
  v.value("pace", r.pace);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, SwitchReport>
void fields(V& v, R& r) {
  v.value("bin_ns", r.bin_ns);
  v.value("end_ns", r.end_ns);
  v.value("received", r.received);
  v.value("copied", r.copied);
  v.value("transmitted", r.transmitted);
  v.value("resident", r.resident);
  v.value("on_links", r.on_links);
  v.value("drops", r.drops);
  v.value("signals_bad_code", r.signals_bad_code);
  v.value("signals_bad_udp", r.signals_bad_udp);
  v.value("signals_not_accepted", r.signals_not_accepted);
  v.value("signals_over_rate", r.signals_over_rate);
  v.value("device_rx_missed", r.device_rx_missed);
  v.value("device_rx_nombuf", r.device_rx_nombuf);
  v.value("longest_poll_gap_ns", r.longest_poll_gap_ns);
  v.value("busy_ns", r.busy_ns);
  v.value("poll_gaps", r.poll_gaps);
  v.value("ledger_balanced", r.ledger_balanced);
  v.value("queues", r.queues);
}

namespace {

constexpr const char* kKind = "switch_report";
constexpr int kSchemaVersion = 3;

}  // namespace

std::string to_json(const SwitchReport& report) {
  return write_report(report, kKind, kSchemaVersion);
}

SwitchReport switch_report_from_json(const std::string& text) {
  return read_report<SwitchReport>(text, kKind, kSchemaVersion);
}

}  // namespace outrider
