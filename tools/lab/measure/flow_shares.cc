#include "tools/lab/measure/flow_shares.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

namespace outrider::lab {
namespace {

constexpr std::int64_t kShareWindow_ns = 10'000'000;
constexpr std::int64_t kShareStep_ns = 1'000'000;
constexpr double kFairWithin = 0.1;  ///< of the mean

/// What was acknowledged to a flow's sender, in the order of time.
struct AckedFlow {
  std::vector<std::int64_t> at_ns{};
  std::vector<double> bytes{};

  [[nodiscard]] double until(std::int64_t instant_ns) const {
    const auto next = std::ranges::upper_bound(at_ns, instant_ns);
    return next == at_ns.begin() ? 0 : bytes[static_cast<std::size_t>(next - at_ns.begin()) - 1];
  }
  /// Returns the first instant at which the flow had all that it got in the run.
  [[nodiscard]] std::int64_t end_ns() const {
    const auto all = std::ranges::lower_bound(bytes, bytes.back());
    return at_ns[static_cast<std::size_t>(all - bytes.begin())];
  }
};

std::vector<AckedFlow> acked_flows(const std::vector<tg::ConnectionSample>& samples) {
  std::map<std::tuple<std::string, std::string, std::uint16_t, std::uint16_t>, AckedFlow> by_ends;
  for (const tg::ConnectionSample& s : samples) {
    if (!s.acked_bytes) continue;
    AckedFlow& flow = by_ends[{s.host, s.peer, s.source_port, s.destination_port}];
    flow.at_ns.push_back(s.at_ns);
    flow.bytes.push_back(static_cast<double>(*s.acked_bytes));
  }
  std::vector<AckedFlow> flows;
  flows.reserve(by_ends.size());
  for (auto& [ends, flow] : by_ends) flows.push_back(std::move(flow));
  return flows;
}

/// Returns what each flow got between two instants.
std::vector<double> bytes_between(const std::vector<AckedFlow>& flows, std::int64_t from_ns,
                                  std::int64_t to_ns) {
  std::vector<double> bytes;
  bytes.reserve(flows.size());
  for (const AckedFlow& flow : flows) bytes.push_back(flow.until(to_ns) - flow.until(from_ns));
  return bytes;
}

bool is_fair(const std::vector<double>& bytes) {
  const double mean =
      std::accumulate(bytes.begin(), bytes.end(), 0.0) / static_cast<double>(bytes.size());
  return mean > 0 && std::ranges::all_of(bytes, [mean](double of_flow) {
           return std::abs(of_flow - mean) <= kFairWithin * mean;
         });
}

double jain_index_of(const std::vector<double>& bytes) {
  double sum = 0, squares = 0;
  for (const double of_flow : bytes) {
    sum += of_flow;
    squares += of_flow * of_flow;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(bytes.size()) * squares) : kNotDefined;
}

}  // namespace

FlowShares flow_shares(const std::vector<tg::ConnectionSample>& samples) {
  const std::vector<AckedFlow> flows = acked_flows(samples);
  if (flows.size() < 2) return {};
  std::int64_t begin_ns = 0, end_ns = std::numeric_limits<std::int64_t>::max();
  for (const AckedFlow& flow : flows) {
    begin_ns = std::max(begin_ns, flow.at_ns.front());
    end_ns = std::min(end_ns, flow.end_ns());
  }
  if (end_ns <= begin_ns) return {};
  FlowShares shares;
  shares.jain_index = jain_index_of(bytes_between(flows, (begin_ns + end_ns) / 2, end_ns));
  for (std::int64_t to = begin_ns + kShareWindow_ns; to <= end_ns; to += kShareStep_ns) {
    if (!is_fair(bytes_between(flows, to - kShareWindow_ns, to))) continue;
    shares.convergence_seconds = static_cast<double>(to - begin_ns) * 1e-9;
    break;
  }
  return shares;
}

}  // namespace outrider::lab
