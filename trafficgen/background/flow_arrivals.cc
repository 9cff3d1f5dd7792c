#include "trafficgen/background/flow_arrivals.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "common/config/config_result.h"
#include "common/net/headers.h"

namespace outrider::tg {
namespace {

std::uint32_t pick(RandomStream& random, std::size_t size) noexcept {
  const auto n = static_cast<std::uint32_t>(random.uniform() * static_cast<double>(size));
  return std::min(n, static_cast<std::uint32_t>(size - 1));
}

}  // namespace

DrawnArrivals::DrawnArrivals(Setup setup, FlowSizes sizes)
    : setup_(std::move(setup)),
      sizes_(std::move(sizes)),
      gaps_(setup_.seed, setup_.group, RandomPurpose::kFlowArrival),
      draws_(setup_.seed, setup_.group, RandomPurpose::kFlowSize),
      hosts_(setup_.seed, setup_.group, RandomPurpose::kFlowHosts) {
  assert(setup_.mean_gap_s > 0 && !setup_.from.empty() && !setup_.to.empty());
  // So that the arrivals of groups of one rate do not coincide.
  if (setup_.process == ArrivalProcess::kFixed) at_s_ = -gaps_.uniform() * setup_.mean_gap_s;
}

std::optional<FlowArrival> DrawnArrivals::next() noexcept {
  if (flows_ == setup_.max_flows) return std::nullopt;
  at_s_ += setup_.process == ArrivalProcess::kPoisson ? gaps_.exponential(setup_.mean_gap_s)
                                                      : setup_.mean_gap_s;
  FlowArrival a{.at = setup_.begin + from_seconds(at_s_)};
  if (a.at >= setup_.end) return std::nullopt;
  ++flows_;
  a.bytes = sizes_.at(draws_.uniform());
  a.from = pick(hosts_, setup_.from.size());
  do a.to = pick(hosts_, setup_.to.size());
  while (setup_.to[a.to] == setup_.from[a.from]);
  return a;
}

ListedArrivals::ListedArrivals(std::vector<ListedFlow> flows, Time begin, Time end,
                               std::uint64_t max_flows)
    : flows_(std::move(flows)), begin_(begin), end_(end), max_flows_(max_flows) {}

std::optional<FlowArrival> ListedArrivals::next() noexcept {
  if (next_ == flows_.size() || next_ == max_flows_) return std::nullopt;
  const ListedFlow& f = flows_[next_];
  if (begin_ + f.at >= end_) return std::nullopt;
  ++next_;
  return FlowArrival{begin_ + f.at, f.from, f.to, f.bytes};
}

std::uint64_t FlowArrivals::listed_flows_left(bool /*waits*/) const noexcept { return 0; }

std::uint64_t ListedArrivals::listed_flows_left(bool waits) const noexcept {
  const std::uint64_t most = std::min<std::uint64_t>(flows_.size(), max_flows_);
  const auto first = flows_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto last = flows_.begin() + static_cast<std::ptrdiff_t>(std::max(most, next_));
  const auto end = std::partition_point(
      first, last, [this](const ListedFlow& f) { return begin_ + f.at < end_; });
  return static_cast<std::uint64_t>(end - first) + (waits ? 1 : 0);
}

FullPacket full_segment(std::uint32_t mss_bytes) noexcept {
  const auto frame_bytes = static_cast<std::uint32_t>(mss_bytes + sizeof(EthernetHeader) +
                                                      sizeof(Ipv4Header) + sizeof(TcpHeader));
  return {mss_bytes, static_cast<std::uint32_t>(wire_bytes(frame_bytes))};
}

BitRate offered_rate(const FlowsConfig& flows, const std::vector<FlowHost>& to,
                     const FullPacket& packet) noexcept {
  if (flows.rate) return *flows.rate;
  double nics = 0;
  for (const FlowHost& h : to) nics += static_cast<double>(h.rate.bits_per_second);
  return {static_cast<std::uint64_t>(flows.load.value_or(0) * nics * packet.payload_bytes /
                                     packet.wire_bytes)};
}

std::unique_ptr<FlowArrivals> make_arrivals(const FlowsConfig& flows,
                                            const std::vector<FlowHost>& from,
                                            const std::vector<FlowHost>& to,
                                            const FullPacket& packet, std::uint64_t seed,
                                            std::uint32_t group) {
  const Time begin = Time{} + flows.start;
  const Time end = flows.duration ? begin + *flows.duration : kNever;
  const std::uint64_t max_flows = flows.max_flows.value_or(UINT64_MAX);
  if (flows.list) {
    auto list = load_flow_list(*flows.list, from.size());
    if (!list) throw std::runtime_error(format_issues(*flows.list, list.issues));
    return std::make_unique<ListedArrivals>(std::move(*list.config), begin, end, max_flows);
  }
  auto sizes = load_flow_sizes(*flows.distribution);
  if (!sizes) throw std::runtime_error(format_issues(*flows.distribution, sizes.issues));
  const double bytes_per_s =
      static_cast<double>(offered_rate(flows, to, packet).bits_per_second) / 8;
  DrawnArrivals::Setup setup{.seed = seed,
                             .group = group,
                             .mean_gap_s = sizes.config->mean_bytes() / bytes_per_s,
                             .process = flows.arrivals,
                             .begin = begin,
                             .end = end,
                             .max_flows = max_flows};
  for (const FlowHost& h : from) setup.from.push_back(h.address);
  for (const FlowHost& h : to) setup.to.push_back(h.address);
  return std::make_unique<DrawnArrivals>(std::move(setup), std::move(*sizes.config));
}

}  // namespace outrider::tg
