#pragma once

#include <tuple>

#include "switch/config/config_toml.h"

namespace outrider {

using namespace std::chrono_literals;

using namespace std::chrono_literals;

// The structured bindings below stop compiling when a struct gains a field, so
// that the round trip cannot forget one.
inline auto fields(const DeviceConfig& c) {
  const auto& [name, device, rx, tx, rx_queues, mtu] = c;
  return std::tuple(name, device, rx, tx, rx_queues, mtu);
}
inline auto fields(const QueueConfig& c) {
  const auto& [packets, bytes, weight, floor, depth, alpha, reserved] = c;
  return std::tuple(packets, bytes, weight, floor, depth, alpha, reserved);
}
inline auto fields(const RedConfig& c) {
  const auto& [kmin, kmax, pmax, weight, spacing] = c;
  return std::tuple(kmin, kmax, pmax, weight, spacing);
}
inline auto fields(const PieConfig& c) {
  const auto& [target, update, alpha, beta, allowance, ecnth] = c;
  return std::tuple(target, update, alpha, beta, allowance, ecnth);
}
inline auto fields(const CodelConfig& c) {
  const auto& [target, interval] = c;
  return std::tuple(target, interval);
}
inline auto fields(const MarkerConfig& c) {
  const auto& [kind, at, not_ect, threshold, ddl, red, pie, codel] = c;
  return std::tuple_cat(std::tuple(kind, at, not_ect, threshold, ddl), fields(red), fields(pie),
                        fields(codel));
}
inline auto fields(const WindowPolicy& c) {
  const auto& [rule, floor, gain, standing, release, spare, rtt, flows] = c;
  return std::tuple(rule, floor, gain, standing, release, spare, rtt, flows);
}
inline auto fields(const PredictPolicy& c) {
  const auto& [from, threshold, gap, period, tolerance, missed, jobs] = c;
  return std::tuple(from, threshold, gap, period, tolerance, missed, jobs);
}
inline auto fields(const RegulationPolicy& c) {
  const auto& [mode, recovery, spare, hold, idle, expiry, share, budget_window, floor, entries,
               window, lead, predict, composition] = c;
  return std::tuple_cat(std::tuple(mode, recovery, spare, hold, idle, expiry, share, budget_window,
                                   floor, entries, lead, composition),
                        fields(window), fields(predict));
}
inline auto fields(const SignalConfig& c) {
  const auto& [tos, udp, from, tokens, burst, port, due_limit] = c;
  return std::tuple(tos, udp, from, tokens, burst, port, due_limit);
}
inline auto fields(const PortQueueConfig& c) {
  const auto& [queue, marker, regulation] = c;
  return std::tuple_cat(fields(queue), fields(marker), fields(regulation));
}
inline auto fields(const SwitchPortConfig& c) {
  const auto& [name, rate, layer, delay, device, queue, marker, regulation, scheduler, queues, loss,
               record] = c;
  return std::tuple_cat(
      std::tuple(name, rate, layer, delay, device, scheduler, queues.size(), loss, record),
      fields(queue), fields(marker), fields(regulation));
}
/// What forwards and classifies is in forwarding_config_test.cc.
inline auto fields(const SwitchConfig& c) {
  return std::tuple_cat(
      std::tuple(c.name, c.ports.size(), c.routes.size(), c.mac_routes.size(), c.ddl_ports.first,
                 c.ddl_ports.last, c.buffer.total_bytes, c.hop_records.udp_port, c.hop_records.id),
      fields(c.signals));
}
inline auto fields(const RouteConfig& c) { return std::tuple(c.prefix, c.port); }
inline auto fields(const MacRouteConfig& c) { return std::tuple(c.mac, c.port); }
inline auto fields(const SwitchLinkConfig& c) {
  const auto& [a, b, delay] = c;
  return std::tuple(a, b, delay);
}
inline auto fields(const SwitchProcessConfig& c) {
  const auto& [devices, switches, links, seed, lcore, more_lcores, mbufs, bin, records, bins,
               telemetry] = c;
  static_cast<void>(more_lcores);  // not with two switches: WhatSeveralLcoresCannotShareIsRefused
  const auto& [prometheus, remote] = telemetry;
  return std::tuple(devices.size(), switches.size(), links.size(), seed, lcore, mbufs, bin, records,
                    bins, prometheus, remote);
}

/// Two switches; every scalar differs from its default.
inline SwitchProcessConfig full_config() {
  const RegulationPolicy policy{.mode = RegulationMode::kMark,
                                .recovery = Recovery::kTimer,
                                .spare_ddl = true,
                                .hold = 3ms,
                                .idle_end = 4ms,
                                .expiry = 50ms,
                                .budget_share = 0.3,
                                .budget_window = 5s,
                                .pace_floor = 0.25,
                                .max_entries = 12,
                                .window = {.rule = WindowRule::kStrict,
                                           .floor = 0.21,
                                           .gain = 3,
                                           .standing_clamp = 2,
                                           .release_rtts = 1.5,
                                           .spare_marks = false,
                                           .base_rtt = 70us,
                                           .max_flows = 99},
                                .lead = 6ms,
                                .predict = {.from = PredictFrom::kSignals,
                                            .threshold_packets = 11,
                                            .idle_gap = 70ms,
                                            .max_period = 8s,
                                            .tolerance = 0.125,
                                            .missed_limit = 4,
                                            .max_jobs = 5},
                                .composition = Composition::kDemand};
  const SwitchPortConfig down{
      .name = "down",
      .drain_rate = {9'500'000'000},
      .rate_layer = RateLayer::kL2,
      .delay = 1500ns,
      .device = "nic",
      .queue = {.limit_packets = 300,
                .limit_bytes = 400'000,
                .weight = 3,
                .floor_rate = BitRate{1'000'000},
                .floor_depth_bytes = 30'000,
                .alpha = 0.5,
                .reserved_bytes = 10'000},
      .marker = {.kind = MarkerKind::kTailDrop,
                 .at = MarkAt::kDequeue,
                 .not_ect = NotEct::kPass,
                 .threshold_packets = 50,
                 .ddl_threshold_packets = 90,
                 .red = {.kmin_packets = 5,
                         .kmax_packets = 9,
                         .pmax = 0.7,
                         .weight = 0.25,
                         .spacing = RedSpacing::kUniform},
                 .pie = {.target = 1ms,
                         .update_interval = 2ms,
                         .alpha = 2,
                         .beta = 20,
                         .burst_allowance = 3ms,
                         .mark_ecnth = 0.5},
                 .codel = {.target = 2ms, .interval = 30ms}},
      .regulation = policy,
      .scheduler = SchedulerKind::kDwrr,
      .queues = {{.queue = {.limit_packets = 10,
                            .limit_bytes = 20'000,
                            .weight = 7,
                            .floor_rate = BitRate{2'000'000}},
                  .marker = {.not_ect = NotEct::kDrop,
                             .threshold_packets = 7,
                             .ddl_threshold_packets = 8},
                  .regulation = policy},
                 {.queue = {.limit_bytes = 50'000, .floor_rate = BitRate{3'000'000}},
                  .marker = {.not_ect = NotEct::kDrop, .ddl_threshold_packets = 50},
                  .regulation = {.lead = 7ms}}},
      .loss = 0.25,
      .record = true};
  const SwitchPortConfig up{.name = "up", .drain_rate = {200'000'000}};
  const SwitchConfig leaf{.name = "leaf",
                          .ports = {down, up},
                          .routes = {{"10.0.1.0/24", "down"}, {"0.0.0.0/0", "up"}},
                          .mac_routes = {{"02:00:00:00:00:01", "up"}},
                          .ddl_ports = {6000, 6010},
                          .signals = {.accept_tos = true,
                                      .accept_udp = true,
                                      .accept_from = {"10.0.1.0/24", "10.0.2.0/24"},
                                      .tokens_per_second = 12.5,
                                      .token_burst = 3,
                                      .udp_port = 5901,
                                      .due_limit = 3s},
                          .buffer = {.total_bytes = 1'000'000},
                          .hop_records = {.udp_port = 5902, .id = 3}};
  const SwitchConfig root{
      .name = "root", .ports = {{.name = "p0"}}, .routes = {}, .mac_routes = {}};
  return {.devices = {{"nic", "0000:3b:00.0", 2048, 512, 1, 9000}},
          .switches = {leaf, root},
          .links = {{"leaf.up", "root.p0", 100us}},
          .seed = 7,
          .lcore = 3,
          .mbufs = 65'536,
          .bin = 2ms,
          .max_burst_records = 99,
          .max_bins = 77,
          .telemetry = {.prometheus = "192.0.2.1:9464", .prometheus_remote = true}};
}

}  // namespace outrider
