#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/core/figure.h"
#include "switch/regulation/regulator/regulator_counters.h"
#include "switch/regulation/windows/window_counters.h"

namespace outrider::sw {

/// What a queue did for bottlenecks beyond its port: sums over them all. Zeros without any.
/// Identities: as of RemoteReport, summed.
struct RemoteCounts {
  std::uint64_t starts_armed = 0;
  std::uint64_t entries_left = 0;     ///< live announcements
  std::uint64_t answers = 0;          ///< of background from the bottlenecks' destinations
  std::uint64_t held = 0;             ///< of these, with a held window
  std::uint64_t rewritten = 0;        ///< of these, whose window was changed
  std::uint64_t in_flight_bytes = 0;  ///< payload that has passed and is not acknowledged
  /// Flows that cannot be held, because their answers do not come back through the port.
  std::uint64_t flows_without_answers = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RemoteCounts>
void fields(V& v, R& r) {
  v.value(counter("starts_armed", "starts", "Announcements of bursts to a bottleneck beyond"),
          r.starts_armed);
  v.value(gauge("entries_left", "entries", "Such announcements that are live").as("entries"),
          r.entries_left);
  v.value(counter("answers", "packets", "Answers of background from beyond a bottleneck"),
          r.answers);
  v.value(counter("held", "packets", "Answers whose window was held for a bottleneck beyond"),
          r.held);
  v.value(counter("rewritten", "packets", "Answers whose window a bottleneck beyond changed"),
          r.rewritten);
  v.value(gauge("in_flight_bytes", "bytes", "Background in flight between the port and the ends"),
          r.in_flight_bytes);
  v.value(counter("flows_without_answers", "flows",
                  "Background flows that cannot be held: their answers take another path"),
          r.flows_without_answers);
}

/// The final report of one bottleneck beyond a port: its regulator and its windows.
/// Identities: those of RegulatorCounters and WindowCounters. An answer that comes from beyond
/// several bottlenecks is counted by each.
struct RemoteReport {
  std::string name;
  RegulatorCounters regulator{};
  std::uint64_t entries_left = 0;
  std::int64_t regulated_ns = 0;
  WindowCounters window{};
  std::uint64_t in_flight_bytes = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RemoteReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  fields(v, r.regulator);
  v.value("entries_left", r.entries_left);
  v.value("regulated_ns", r.regulated_ns);
  v.value("window", r.window);
  v.value("in_flight_bytes", r.in_flight_bytes);
}

/// Counters of a queue for remote bottlenecks; zeros unless some are named.
struct RemoteFigures {
  RemoteCounts beyond{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RemoteFigures>
void fields(V& v, R& r) { v.value("beyond", r.beyond); }

}  // namespace outrider::sw
