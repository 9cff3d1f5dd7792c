#include "tools/lab/simulation/drive.h"

#include <variant>

namespace outrider::lab {
namespace {

constexpr int kSlice_rtts = 10;
constexpr int kDrain_rtts = 20;

Time earliest_end(const Case& c) {
  Time end{};
  for (const auto& job : c.traffic.jobs)
    if (job.schedule == tg::Schedule::kFixed)
      end = std::max(end, Time{job.start + job.first_due + job.iterations * job.period});
  return end;
}

Time latest_end(const Case& c) {
  const auto limit =
      std::ranges::find(c.parameters, "limit_seconds", &Parameters::value_type::first);
  if (limit == c.parameters.end()) return kNever;
  return Time{from_seconds(std::get<double>(limit->second))};
}

}  // namespace

RunSpan span_of(const Case& c) {
  return {.slice = kSlice_rtts * std::max(c.base_rtt, Duration{std::chrono::microseconds(1)}),
          .drain = kDrain_rtts * c.base_rtt,
          .earliest = earliest_end(c),
          .limit = latest_end(c)};
}

sw::SwitchProcessConfig with_keys(sw::SwitchProcessConfig switches,
                                  const std::map<std::string, SignalKey>& keys) {
  for (auto& each : switches.switches)
    for (auto& signer : each.signals.signers) {
      signer.read_keys.clear();
      for (const auto& file : signer.keys) signer.read_keys.push_back({.key = keys.at(file)});
    }
  return switches;
}

std::uint32_t leaked_since(rte_mempool& pool, unsigned in_use_before) {
  const auto in_use = rte_mempool_in_use_count(&pool);
  return in_use > in_use_before ? in_use - in_use_before : 0;
}

}  // namespace outrider::lab
