#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/drop_reason.h"
#include "common/core/figure.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"
#include "common/net/udp_signal.h"
#include "common/regulation/prediction_counters.h"
#include "common/regulation/regulator_counters.h"
#include "common/regulation/window_counters.h"
#include "switch/report/pace_counters.h"

namespace outrider::sw {

// Plain numbers that an owner hands out as they are: the report of the end and what is
// shown of a running switch are made of the same. Behind each struct stand the rows of its
// figures, from which everything that shows them takes name, type and help: see Figure.

/// What a lane has refused of what looked like signals.
struct SignalRefusals {
  std::uint64_t signals_bad_code = 0;  ///< START with threshold code zero
  /// Messages of the UDP form that were believed to be none.
  PerReason<udp_signal::Fault> signals_bad_udp{};
  std::uint64_t signals_not_accepted = 0;  ///< looked like one, from where none is accepted
  std::uint64_t signals_over_rate = 0;     ///< beyond the source's token bucket
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, SignalRefusals>
void fields(V& v, R& r) {
  v.value(counter("signals_bad_code", "signals", "STARTs with threshold code zero"),
          r.signals_bad_code);
  v.value(counter("signals_not_accepted", "signals", "Signals from where none is accepted"),
          r.signals_not_accepted);
  v.value(counter("signals_over_rate", "signals", "Signals beyond their source's token bucket"),
          r.signals_over_rate);
  v.value(counter("signals_bad_udp", "messages", "UDP messages that were believed to be no signal"),
          r.signals_bad_udp);
}

/// What one lane has counted. Identity: received + copied == handed + sum(dropped).
struct LaneCounts : SignalRefusals {
  std::uint64_t received = 0;
  std::uint64_t copied = 0;         ///< by flooding, beyond the packet itself
  std::uint64_t handed = 0;         ///< to egress ports
  PerReason<DropReason> dropped{};  ///< before a port; class not known yet
};

/// What one egress queue has counted. Identity, per class:
/// arrived == transmitted + sum(drops) + resident.
struct QueueCounters {
  PerClass<std::uint64_t> arrived{};
  PerClass<std::uint64_t> transmitted{};
  PerClass<std::uint64_t> transmitted_bytes{};  ///< frame bytes
  PerClass<PerReason<DropReason>> drops{};
  PerClass<PerReason<MarkReason>> marks{};
  std::uint64_t hop_records = 0;          ///< written into probes that left
  std::uint64_t hop_records_no_room = 0;  ///< probes that had no room left
  /// The verdict was to mark, and the packet passed without: it is not ECN-capable.
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
  v.value(counter("hop_records", "records", "Hop records written into probes"), r.hop_records);
  v.value(counter("hop_records_no_room", "packets", "Probes that had no room for a hop record"),
          r.hop_records_no_room);
  v.value(counter("marks_not_ect", "packets", "Packets to be marked that are not ECN-capable")
              .shown_as("not ECN-capable"),
          r.marks_not_ect);
}

/// Everything counted at one egress queue, and its state.
struct QueueCounts : QueueCounters, RegulatorCounters {
  std::uint64_t drain_bits_per_second = 0;
  std::uint32_t initial_threshold_packets = 0;
  std::uint32_t background_threshold_packets = 0;  ///< from which background is marked, now
  PerClass<std::uint64_t> resident{};              ///< held packets and signals included
  std::uint64_t resident_bytes = 0;                ///< frame bytes; held packets included
  std::uint64_t held_packets = 0;                  ///< of the resident ones: before the queue
  std::uint64_t entries_left = 0;                  ///< of the regulator
  std::int64_t regulated_ns = 0;
  PredictionCounters predictor{};  ///< zeros without predictions
  WindowCounters window{};         ///< of the modes that hold windows
  PaceCounters pace{};             ///< modes that pace
};

/// The identity of QueueCounters.
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
  v.value("predictor", r.predictor);
  v.value("window", r.window);
  v.value("pace", r.pace);
}

/// What the switches of a process have counted together.
/// Identity: received + copied == transmitted + sum(drops) + resident.
struct ProcessCounts {
  std::uint64_t received = 0;  ///< packets handed to any switch, each hop counts
  std::uint64_t copied = 0;    ///< made by flooding, beyond the packet itself, or wanted
  std::uint64_t transmitted = 0;
  std::uint64_t resident = 0;  ///< waiting in queues
  std::uint64_t on_links = 0;  ///< on the wires among the switches and at the edges
  PerClass<PerReason<DropReason>> drops{};
  /// Real time only: in polls that found packets, dropped ones too; all lcores together.
  std::int64_t busy_ns = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, ProcessCounts>
void fields(V& v, R& r) {
  v.value(counter("received", "packets", "Packets handed to any switch").as("received_packets"),
          r.received);
  v.value(counter("copied", "packets", "Copies made by flooding").as("copied_packets"), r.copied);
  v.value(counter("transmitted", "packets", "Packets that devices have taken")
              .as("transmitted_packets"),
          r.transmitted);
  v.value(gauge("resident", "packets", "Packets that wait in queues").as("resident_packets"),
          r.resident);
  v.value(gauge("on_links", "packets", "Packets in service or on emulated links")
              .as("on_links_packets"),
          r.on_links);
  v.value(counter("drops", "packets", "Packets dropped, at queues or before").shown_as("dropped"),
          r.drops);
  v.value(counter("busy_ns", "ns", "Time in polls that found packets, all lcores"), r.busy_ns);
}

}  // namespace outrider::sw
