#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/simulation/run_result.h"

namespace outrider::lab_test {

// Reports made by hand. Times are whole milliseconds; a bin lasts one millisecond.

inline constexpr std::int64_t kMs = 1'000'000;  // [ns]
inline constexpr const char* kSwitch = "leaf";
inline constexpr const char* kPort = "up";

/// Returns a case with one job of `workers` and one server, a base RTT of 1 ms and a
/// bottleneck of 8 Mbit/s, which is 1000 bytes per bin.
inline lab::Case make_case(std::string label, std::uint32_t workers = 2,
                           tg::Schedule schedule = tg::Schedule::kFixed) {
  lab::Case c;
  c.label = std::move(label);
  c.role = c.label.starts_with("off") ? lab::ArmRole::kBaseline : lab::ArmRole::kRemedy;
  c.measured_queue = std::string(kSwitch) + "." + kPort;
  c.base_rtt = std::chrono::milliseconds(1);
  c.bottleneck = {8'000'000};
  c.background_flows = 2;
  c.workers = workers;
  c.parameters = {{"tcp", std::string("dctcp")}, {"workers", std::int64_t{workers}}};
  c.traffic.jobs.emplace_back();
  tg::JobConfig& job = c.traffic.jobs.back();
  for (std::uint32_t w = 0; w < workers; ++w) job.workers.push_back("w" + std::to_string(w));
  job.servers = {"s"};
  job.schedule = schedule;
  for (const auto& name : job.workers)
    c.traffic.hosts.push_back({.name = name, .address = {}, .device = {}});
  sw::SwitchPortConfig port;
  port.name = kPort;
  port.drain_rate = c.bottleneck;
  c.switches.switches.push_back({.name = kSwitch, .ports = {port}, .routes = {}, .mac_routes = {}});
  return c;
}

/// Returns the result of a run of `end_ms` in which nothing happened.
inline lab::RunResult make_result(std::int64_t end_ms) {
  lab::RunResult r;
  r.switches.bin_ns = r.traffic.bin_ns = kMs;
  r.switches.end_ns = r.traffic.end_ns = end_ms * kMs;
  r.switches.ledger_balanced = r.traffic.ledger_balanced = true;
  r.traffic.bins.resize(static_cast<std::size_t>(end_ms));
  sw::QueueReport queue;
  queue.switch_name = kSwitch;
  queue.port_name = kPort;
  queue.drain_bits_per_second = 8'000'000;
  queue.bins.resize(static_cast<std::size_t>(end_ms));
  r.switches.queues.push_back(std::move(queue));
  return r;
}

inline sw::QueueReport& queue_of(lab::RunResult& r) { return r.switches.queues.front(); }

inline std::int64_t at_ms(double ms) {
  return ms < 0 ? tg::kNotYet_ns : static_cast<std::int64_t>(ms * static_cast<double>(kMs));
}

struct BurstTimes {  // [ms], negative: never
  double due = -1;
  double start = -1;
  double first = -1;
  double delivered = -1;
};

inline tg::BurstRecord& add_burst(lab::RunResult& r, std::uint16_t worker, std::uint32_t iteration,
                                  BurstTimes t, BurstDirection direction = BurstDirection::kPush,
                                  std::uint16_t job = 0) {
  tg::BurstRecord b;
  b.identity = {job, worker, iteration, direction};
  b.bytes = 100'000;
  b.due_ns = at_ms(t.due);
  b.start_sent_ns = at_ms(t.start);
  b.first_sent_ns = at_ms(t.first);
  b.delivered_ns = at_ms(t.delivered);
  r.traffic.bursts.push_back(b);
  return r.traffic.bursts.back();
}

inline sw::QueueBurstRecord& add_queue_burst(lab::RunResult& r, std::uint16_t worker,
                                             std::uint32_t iteration, double first_ms,
                                             std::uint32_t background, std::uint32_t max_packets,
                                             BurstDirection direction = BurstDirection::kPush) {
  sw::QueueBurstRecord q;
  q.identity = {0, worker, iteration, direction};
  q.first_at_ns = at_ms(first_ms);
  q.start_packets[TrafficClass::kBackground] = background;
  q.max_packets = max_packets;
  queue_of(r).bursts.push_back(q);
  return queue_of(r).bursts.back();
}

/// Sets the bytes delivered in every bin of [from, to).
inline void deliver(lab::RunResult& r, TrafficClass c, int from_ms, int to_ms,
                    std::uint64_t bytes) {
  for (int i = from_ms; i < to_ms; ++i)
    r.traffic.bins.at(static_cast<std::size_t>(i)).delivered_bytes[c] = bytes;
}

/// Sets the frame bytes that leave the measured queue in every bin of [from, to).
inline void carry(lab::RunResult& r, TrafficClass c, int from_ms, int to_ms, std::uint64_t bytes) {
  for (int i = from_ms; i < to_ms; ++i)
    queue_of(r).bins.at(static_cast<std::size_t>(i)).bytes[c] = bytes;
}

/// Sets the share of every bin of [from, to) in which the measured transmitter was busy.
inline void occupy(lab::RunResult& r, int from_ms, int to_ms, double share) {
  for (int i = from_ms; i < to_ms; ++i)
    queue_of(r).bins.at(static_cast<std::size_t>(i)).busy_ns =
        static_cast<std::uint64_t>(share * static_cast<double>(kMs));
}

}  // namespace outrider::lab_test
