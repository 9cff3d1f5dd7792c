#include "trafficgen/measure/stream_report.h"

#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace outrider::tg {
namespace {

__attribute__((format(printf, 1, 2))) std::string print(const char* format, ...) {
  std::array<char, 512> text{};
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return length < 0 ? std::string() : std::string(text.data());
}

std::uint64_t at(const Histogram& h, double q) { return h.count() == 0 ? 0 : h.quantile(q); }

std::string quantile_columns(const Histogram& h) {
  std::string text = h.count() == 0 ? ",0" : print(",%" PRIu64, h.min());
  for (const double q : {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999})
    text += print(",%" PRIu64, at(h, q));
  return text + print(",%" PRIu64, h.count() == 0 ? 0 : h.max());
}

std::string quantile_names(const std::string& name) {
  std::string text;
  for (const char* q :
       {"min", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999", "max"})
    text += "," + name + "_" + q + "_ns";
  return text;
}

std::string sent_lines(const StreamReport& s) {
  std::string text =
      print("    requested %.6g Mpps, %.6g Gbit/s at %s; achieved %.6g Mpps, %.6g Gbit/s\n",
            s.requested_packets_per_second / 1e6, s.requested_bits_per_second / 1e9,
            s.layer.c_str(), s.achieved_packets_per_second / 1e6, s.achieved_bits_per_second / 1e9);
  text += print("    sent %" PRIu64 " packets, %" PRIu64 " bytes; not taken at the end %" PRIu64
                "; polls with a full ring %" PRIu64 ", without buffers %" PRIu64 "\n",
                s.sent, s.sent_frame_bytes, s.abandoned, s.ring_full, s.buffer_waits);
  if (s.slips != 0)
    text += print("    fell behind %" PRIu64 " times; the schedule was moved by %.3f ms in all\n",
                  s.slips, static_cast<double>(s.slipped_ns) / 1e6);
  if (s.stops + s.starts + s.rate_changes != 0)
    text += print("    stopped %" PRIu64 " times, started %" PRIu64 ", rate changed %" PRIu64
                  ": requested is the last rate, achieved the mean of all, stops included\n",
                  s.stops, s.starts, s.rate_changes);
  text += print("    departure late by p50 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64
                " ns; gap error p50 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64 " ns\n",
                at(s.lateness_ns, 0.5), at(s.lateness_ns, 0.99), at(s.lateness_ns, 1),
                at(s.gap_error_ns, 0.5), at(s.gap_error_ns, 0.99), at(s.gap_error_ns, 1));
  return text;
}

std::string hop_lines(const HopsReport& r) {
  if (r.probes == 0) return {};
  std::string text = print(
      "    probes %" PRIu64 ", without room for a hop %" PRIu64
      ", records of further queues %" PRIu64 "; latency less sojourns: min %" PRIu64
      ", p50 %" PRIu64 ", max %" PRIu64 " ns\n",
      r.probes, r.incomplete, r.elsewhere, at(r.rest_ns, 0), at(r.rest_ns, 0.5), at(r.rest_ns, 1));
  for (const HopReport& h : r.hops)
    text +=
        print("      switch %u port %u queue %u: %" PRIu64 " probes, sojourn p50 %" PRIu64
              ", p99 %" PRIu64 ", max %" PRIu64 " ns, left behind at most %u packets, %u bytes\n",
              h.switch_id, h.port, h.queue, h.probes, at(h.sojourn_ns, 0.5), at(h.sojourn_ns, 0.99),
              at(h.sojourn_ns, 1), h.max_left_packets, h.max_left_bytes);
  return text;
}

std::string received_lines(const StreamReport& s) {
  std::string text =
      print("    received %" PRIu64 ", lost %" PRIu64 ", reordered %" PRIu64 " (by up to %" PRIu64
            "), duplicated %" PRIu64 ", too late to judge %" PRIu64 ", with CE %" PRIu64 "\n",
            s.received, s.lost, s.reordered, s.max_reorder_extent, s.duplicated, s.beyond_window,
            s.ce_marked);
  if (s.latency_ns.count() == 0) return text;
  const Histogram& l = s.latency_ns;
  text += print(
      "    latency min %" PRIu64 ", p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
      ", p99.99 %" PRIu64 ", p99.9999 %" PRIu64 ", max %" PRIu64 " ns (software stamps)\n",
      l.min(), at(l, 0.5), at(l, 0.99), at(l, 0.999), at(l, 0.9999), at(l, 0.999999), l.max());
  if (s.samples_kept != 0)
    text += print("    raw latencies: kept %" PRIu64 ", not kept %" PRIu64 "\n", s.samples_kept,
                  s.samples_not_kept);
  return text + hop_lines(s.hops);
}

std::string csv_line(const StreamReport& s) {
  std::string text = s.name + print(",%u,%s,%u,%.3f,%.3f,%.3f,%.3f", s.id, s.layer.c_str(), s.flows,
                                    s.requested_packets_per_second, s.requested_bits_per_second,
                                    s.achieved_packets_per_second, s.achieved_bits_per_second);
  for (const std::uint64_t v :
       {s.scheduled, s.sent, s.sent_frame_bytes, s.abandoned, s.ring_full, s.buffer_waits, s.slips,
        static_cast<std::uint64_t>(s.slipped_ns), s.received, s.distinct, s.lost, s.reordered,
        s.duplicated, s.beyond_window, s.max_reorder_extent, s.ce_marked})
    text += print(",%" PRIu64, v);
  return text + quantile_columns(s.lateness_ns) + quantile_columns(s.gap_error_ns) +
         quantile_columns(s.latency_ns) + "\n";
}

std::string ends_line(const StreamEndsReport& e) {
  return print("  arrived %" PRIu64 ": taken %" PRIu64 ", foreign %" PRIu64 ", truncated %" PRIu64
               ", bad checksum %" PRIu64 ", unknown flow %" PRIu64 ", wrong flow %" PRIu64
               ", bad stamp %" PRIu64 "\n",
               e.arrived, e.taken, e.foreign, e.truncated, e.bad_checksum, e.unknown_flow,
               e.wrong_flow, e.bad_stamp);
}

}  // namespace

bool balanced(const StreamsReport& r) {
  std::uint64_t received = 0;
  bool holds = true;
  for (const auto& s : r.streams) {
    received += s.received;
    holds &= s.scheduled == s.sent + s.abandoned;
    holds &= s.received == s.distinct + s.duplicated + s.beyond_window;
    holds &= s.received == s.latency_ns.count();
    holds &= s.hops.probes == s.hops.rest_ns.count() + s.hops.incomplete;
    holds &= !s.sends || !s.receives || s.distinct + s.lost == s.sent;
  }
  const StreamEndsReport& e = r.ends;
  return holds && received == e.taken &&
         e.arrived == e.taken + e.foreign + e.truncated + e.bad_checksum + e.unknown_flow +
                          e.wrong_flow + e.bad_stamp;
}

std::string to_csv(const StreamsReport& report) {
  std::string text =
      "name,id,layer,flows,requested_pps,requested_bps,achieved_pps,achieved_bps,scheduled,sent,"
      "sent_frame_bytes,abandoned,ring_full,buffer_waits,slips,slipped_ns,received,distinct,lost,"
      "reordered,duplicated,beyond_window,max_reorder_extent,ce_marked";
  text += quantile_names("lateness") + quantile_names("gap_error") + quantile_names("latency");
  text += "\n";
  for (const auto& s : report.streams) text += csv_line(s);
  return text;
}

std::string to_text(const StreamsReport& report) {
  std::string text;
  bool receives = false;
  for (const auto& s : report.streams) {
    text += print("  stream %s: %u flows\n", s.name.c_str(), s.flows);
    if (s.sends) text += sent_lines(s);
    if (s.receives) text += received_lines(s);
    receives |= s.receives;
  }
  if (receives) text += ends_line(report.ends);
  if (report.loop_bias_ns.count() != 0)
    text += print("  the loop itself adds p50 %" PRIu64 ", p99 %" PRIu64
                  " ns to a latency (not subtracted)\n",
                  at(report.loop_bias_ns, 0.5), at(report.loop_bias_ns, 0.99));
  return text;
}

}  // namespace outrider::tg
