#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/drop_reason.h"
#include "common/core/figure.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"
#include "common/net/udp_signal.h"
#include "switch/regulation/grants/grant_counters.h"
#include "switch/regulation/regulator/prediction_counters.h"
#include "switch/regulation/regulator/regulator_counters.h"
#include "switch/regulation/windows/window_counters.h"
#include "switch/report/demotion_counters.h"
#include "switch/report/flowlet_counters.h"
#include "switch/report/pace_counters.h"
#include "switch/report/pause_counters.h"
#include "switch/report/remote_counts.h"
#include "switch/report/steer_counters.h"

namespace outrider::sw {

// Plain numbers that an owner copies out unchanged. The final report and every view of a
// running switch are made of them. The rows of a struct's figures follow it; everything that
// shows a figure takes its name, type and help from there, see Figure.

/// Counts what a lane made of packets that looked like signals. All but the last of these counters
/// are of packets that armed nothing; each such packet is in one of them.
struct SignalCounts {
  std::uint64_t signals_bad_code = 0;  ///< START with threshold code zero
  /// Messages to the signals' UDP port that were no valid signal.
  PerReason<udp_signal::Fault> signals_bad_udp{};
  std::uint64_t signals_not_accepted = 0;    ///< from a source or port that is not listed
  std::uint64_t signals_unsigned = 0;        ///< where a signature is required
  std::uint64_t signals_unknown_key = 0;     ///< signed, by no key of the switch
  std::uint64_t signals_over_rate = 0;       ///< the source's token bucket was empty
  std::uint64_t signals_bad_tag = 0;         ///< forged or altered
  std::uint64_t signals_replayed = 0;        ///< seen before, or older than what is remembered
  std::uint64_t signals_no_window = 0;       ///< the key has too many sources at a time
  std::uint64_t signals_over_key_rate = 0;   ///< the signer's token bucket was empty
  std::uint64_t signals_not_authorised = 0;  ///< more than the signer may announce
  std::uint64_t signals_signed = 0;          ///< accepted for their signature
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, SignalCounts>
void fields(V& v, R& r) {
  v.value(counter("signals_bad_code", "signals", "STARTs with threshold code zero"),
          r.signals_bad_code);
  v.value(counter("signals_not_accepted", "signals", "Signals from where none is accepted"),
          r.signals_not_accepted);
  v.value(counter("signals_over_rate", "signals", "Signals beyond their source's token bucket"),
          r.signals_over_rate);
  v.value(counter("signals_bad_udp", "messages", "UDP messages that were believed to be no signal"),
          r.signals_bad_udp);
  v.value(counter("signals_unsigned", "messages", "Unsigned messages where all must be signed"),
          r.signals_unsigned);
  v.value(counter("signals_unknown_key", "messages", "Messages signed by a key that is not here"),
          r.signals_unknown_key);
  v.value(counter("signals_bad_tag", "messages", "Messages whose tag their key does not give"),
          r.signals_bad_tag);
  v.value(counter("signals_replayed", "messages", "Signed STARTs that were seen before"),
          r.signals_replayed);
  v.value(counter("signals_no_window", "messages", "Signed STARTs of more sources than remembered"),
          r.signals_no_window);
  v.value(counter("signals_over_key_rate", "messages", "STARTs beyond their signer's token bucket"),
          r.signals_over_key_rate);
  v.value(counter("signals_not_authorised", "messages", "STARTs beyond what their signer may do"),
          r.signals_not_authorised);
  v.value(counter("signals_signed", "messages", "STARTs and ACKs accepted for their signature"),
          r.signals_signed);
}

/// The counters of one lane. Identity: received + copied == handed + sum(dropped) + pauses_taken.
struct LaneCounts : SignalCounts, FlowletCounters {
  std::uint64_t received = 0;
  std::uint64_t copied = 0;         ///< copies made or attempted by flooding, without the original
  std::uint64_t handed = 0;         ///< handed to egress ports
  PerReason<DropReason> dropped{};  ///< dropped before a port, where the class is not known yet
  std::uint64_t pauses_taken = 0;   ///< pause frames that arrived for this switch
};

/// The counters of one egress queue. Identity, per class:
/// arrived == transmitted + sum(drops) + resident.
struct QueueCounters {
  PerClass<std::uint64_t> arrived{};
  PerClass<std::uint64_t> transmitted{};
  PerClass<std::uint64_t> transmitted_bytes{};  ///< frame bytes
  PerClass<PerReason<DropReason>> drops{};
  PerClass<PerReason<MarkReason>> marks{};
  std::uint64_t hop_records = 0;          ///< written into probes and telemetry that left
  std::uint64_t hop_records_no_room = 0;  ///< such packets without room for a record
  /// Packets that were to be marked but passed unmarked, because they are not ECN-capable.
  PerClass<std::uint64_t> marks_not_ect{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, QueueCounters>
void fields(V& v, R& r) {
  v.value(counter("arrived", "packets", "Packets that came to the queue")
              .as("arrived_packets")
              .outlined(),
          r.arrived);
  v.value(counter("transmitted", "packets", "Packets transmitted").as("packets").outlined(),
          r.transmitted);
  v.value(counter("transmitted_bytes", "bytes", "Bytes of frames transmitted, without FCS")
              .as("bytes")
              .outlined(),
          r.transmitted_bytes);
  v.value(
      counter("marks", "packets", "Packets given CE at the queue").shown_as("marked").outlined(),
      r.marks);
  v.value(
      counter("drops", "packets", "Packets dropped at the queue").shown_as("dropped").outlined(),
      r.drops);
  v.value(counter("hop_records", "records", "Hop records written into probes and telemetry"),
          r.hop_records);
  v.value(counter("hop_records_no_room", "packets", "Packets that had no room for a hop record"),
          r.hop_records_no_room);
  v.value(counter("marks_not_ect", "packets", "Packets to be marked that are not ECN-capable")
              .shown_as("not ECN-capable"),
          r.marks_not_ect);
}

/// The figures of parts as one record: their members have different names.
template <class... Parts>
struct Joined : Parts... {};

/// The figures of a queue's parts, in the order of the report. A part names its struct here, and
/// the report, telemetry and Prometheus show it; for other views see Figure.
struct PartFigures : Joined<PredictionFigures, WindowFigures, RemoteFigures, PaceFigures,
                            SteerFigures, DemotionFigures, GrantFigures, PauseFigures> {};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PartFigures>
void fields(V& v, R& r) {
  [&]<class... Parts>(const Joined<Parts...>&) { (fields(v, base_of<Parts>(r)), ...); }(r);
}

/// All counters of one egress queue, and its state.
struct QueueCounts : QueueCounters, RegulatorCounters, PartFigures {
  std::uint64_t drain_bits_per_second = 0;
  std::uint32_t initial_threshold_packets = 0;
  std::uint32_t background_threshold_packets = 0;  ///< occupancy that marks background now
  PerClass<std::uint64_t> resident{};              ///< held packets and signals included
  std::uint64_t resident_bytes = 0;                ///< frame bytes; held packets included
  std::uint64_t held_packets = 0;                  ///< resident packets held before the queue
  std::uint64_t entries_left = 0;                  ///< live entries of the regulator
  std::int64_t regulated_ns = 0;
};

/// Returns whether the identity of QueueCounters holds.
[[nodiscard]] constexpr bool balanced(const QueueCounts& n) noexcept {
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    if (n.arrived.values[c] !=
        n.transmitted.values[c] + sum(n.drops.values[c]) + n.resident.values[c])
      return false;
  return true;
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, QueueCounts>
void fields(V& v, R& r) {
  v.value(gauge("drain_bits_per_second", "bit/s", "Rate of the port"), r.drain_bits_per_second);
  v.value(gauge("initial_threshold_packets", "packets", "The marker's threshold"),
          r.initial_threshold_packets);
  v.value(gauge("background_threshold_packets", "packets",
                "Occupancy from which background is marked now")
              .outlined(),
          r.background_threshold_packets);
  v.value(gauge("resident", "packets", "Packets that wait, held ones included")
              .as("resident_packets")
              .outlined(),
          r.resident);
  v.value(gauge("resident_bytes", "bytes", "Bytes that wait").outlined(), r.resident_bytes);
  v.value(gauge("held_packets", "packets", "Packets that pacing holds before the queue").outlined(),
          r.held_packets);
  fields(v, base_of<QueueCounters>(r));
  fields(v, base_of<RegulatorCounters>(r));
  v.value(gauge("entries_left", "entries", "Announcements that are live").as("entries").outlined(),
          r.entries_left);
  v.value(counter("regulated_ns", "ns", "Time with regulation in force"), r.regulated_ns);
  fields(v, base_of<PartFigures>(r));
}

/// The summed counters of all switches of a process.
/// Identity: received + copied + pause_frames == transmitted + sum(drops) + pauses_taken +
/// resident.
struct ProcessCounts {
  std::uint64_t received = 0;     ///< packets handed to any switch; each hop counts
  std::uint64_t copied = 0;       ///< copies made or attempted by flooding, without the original
  std::uint64_t transmitted = 0;  ///< taken by devices, which did not report failing to send them
  std::uint64_t resident = 0;     ///< waiting in queues
  std::uint64_t on_links = 0;     ///< on links or in service, among switches and at the edges
  PerClass<PerReason<DropReason>> drops{};
  std::uint64_t pause_frames = 0;  ///< made by switches, for neighbours of lossless queues
  std::uint64_t pauses_taken = 0;  ///< that came from such neighbours
  /// Time in polls that found packets, including dropped ones; summed over all lcores. Zero in
  /// virtual time.
  std::int64_t busy_ns = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, ProcessCounts>
void fields(V& v, R& r) {
  v.value(counter("received", "packets", "Packets handed to any switch").as("received_packets"),
          r.received);
  v.value(counter("copied", "packets", "Copies made by flooding").as("copied_packets"), r.copied);
  v.value(counter("transmitted", "packets", "Packets that devices have taken and sent")
              .as("transmitted_packets"),
          r.transmitted);
  v.value(gauge("resident", "packets", "Packets that wait in queues").as("resident_packets"),
          r.resident);
  v.value(gauge("on_links", "packets", "Packets in service or on emulated links")
              .as("on_links_packets"),
          r.on_links);
  v.value(counter("drops", "packets", "Packets dropped, at queues or before").shown_as("dropped"),
          r.drops);
  v.value(counter("pause_frames", "packets", "Pause frames that switches made"), r.pause_frames);
  v.value(counter("pauses_taken", "packets", "Pause frames that switches heard"), r.pauses_taken);
  v.value(counter("busy_ns", "ns", "Time in polls that found packets, all lcores"), r.busy_ns);
}

}  // namespace outrider::sw
