#include "tools/lab/world/link_sampler.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "common/core/units.h"
#include "switch/runtime/switch.h"

namespace outrider::lab {
namespace {

std::size_t ports_of(const sw::SwitchNetwork& network) {
  std::size_t ports = 0;
  for (const sw::Switch* each : network.switches())
    if (each != nullptr) ports += each->ports();
  return ports;
}

}  // namespace

BoundedSlices::BoundedSlices(Duration slice, std::size_t columns, std::size_t most)
    : slice_(slice), end_(Time{} + slice), columns_(columns), most_(most) {
  assert(slice > Duration::zero() && most > 0 && most % 2 == 0);
  counts_.reserve(most * columns);
}

void BoundedSlices::add(std::span<const std::uint64_t> counts) {
  assert(counts.size() == columns_);
  counts_.insert(counts_.end(), counts.begin(), counts.end());
  if (++slices_ == most_) {
    // Counts are totals: the end of a pair is the end of its second slice.
    const auto row = [this](std::size_t i) {
      return counts_.begin() + static_cast<std::ptrdiff_t>(i * columns_);
    };
    for (std::size_t i = 0; i < most_ / 2; ++i)
      std::copy_n(row(2 * i + 1), static_cast<std::ptrdiff_t>(columns_), row(i));
    slices_ = most_ / 2;
    counts_.resize(slices_ * columns_);
    slice_ *= 2;
  }
  end_ = Time{} + slice_ * static_cast<std::int64_t>(slices_ + 1);
}

LinkSampler::LinkSampler(const sw::SwitchProcessConfig& config, const sw::SwitchNetwork& network,
                         Duration slice)
    : slices_(slice, ports_of(network), kMostSlices) {
  const auto switches = network.switches();
  for (std::size_t s = 0; s < switches.size(); ++s)
    for (std::uint32_t p = 0; switches[s] != nullptr && p < switches[s]->ports(); ++p)
      ports_.push_back(
          {&switches[s]->port(p), overhead_bytes(config.switches[s].ports[p].rate_layer)});
}

std::vector<std::uint64_t> LinkSampler::sent() const {
  std::vector<std::uint64_t> all;
  all.reserve(ports_.size());
  for (const Port& each : ports_) {
    std::uint64_t bytes = 0;
    for (const sw::PortQueue& queue : each.port->queues())
      for (std::size_t c = 0; c < kTrafficClasses; ++c)
        bytes += queue.outcomes().counters().transmitted_bytes.values[c] +
                 queue.outcomes().counters().transmitted.values[c] * each.overhead_bytes;
    all.push_back(bytes);
  }
  return all;
}

void LinkSampler::end_slice(Time now) {
  if (now < slices_.end()) return;
  assert(now == slices_.end());
  slices_.add(sent());
  last_ = now;
}

LinkSlices LinkSampler::slices(Time now) const {
  LinkSlices r{
      .slice_ns = slices_.slice().count(), .ports = ports_.size(), .sent = slices_.counts()};
  if (now == last_) return r;
  const auto rest = sent();
  r.sent.insert(r.sent.end(), rest.begin(), rest.end());
  return r;
}

LinkSlices joined_slices(const sw::SwitchProcessConfig& config,
                         std::span<const std::uint32_t> of_switch,
                         std::span<const LinkSlices* const> parts) {
  LinkSlices r{.slice_ns = parts.front()->slice_ns, .ports = 0, .sent = {}};
  std::uint64_t counts = 0;
  for (const LinkSlices* part : parts) {
    counts += part->sent.size();
    r.ports += part->ports;
  }
  const std::uint64_t slices = r.ports == 0 ? 0 : counts / r.ports;
  for (const LinkSlices* part : parts)
    if (part->slice_ns != r.slice_ns || part->sent.size() != slices * part->ports)
      throw std::runtime_error("parts of a run have different slices of time");
  r.sent.reserve(counts);
  for (std::uint64_t i = 0; i < slices; ++i) {
    std::vector<std::size_t> at(parts.size());  // ports of each part that have their place
    for (std::size_t s = 0; s < config.switches.size(); ++s) {
      const LinkSlices& part = *parts[of_switch[s]];
      const std::size_t ports = config.switches[s].ports.size();
      std::size_t& next = at[of_switch[s]];
      if (next + ports > part.ports)
        throw std::runtime_error("a part of a run lacks the ports of " + config.switches[s].name);
      const auto from = part.sent.begin() + static_cast<std::ptrdiff_t>(i * part.ports + next);
      r.sent.insert(r.sent.end(), from, from + static_cast<std::ptrdiff_t>(ports));
      next += ports;
    }
  }
  return r;
}

}  // namespace outrider::lab
