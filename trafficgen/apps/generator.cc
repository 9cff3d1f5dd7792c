#include "trafficgen/apps/generator.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "trafficgen/apps/generator_state.h"

namespace outrider::tg {

namespace {

/// @throws std::runtime_error if the run cannot do what the configuration asks for
void check_possible(const GeneratorConfig& config, const Generator::Options& options,
                    rte_mempool& pool) {
  const bool full_payload = options.full_payload;
  if (config.payload != Payload::kZeros && !full_payload)
    throw std::runtime_error("payload = \"pattern\" needs real frames: not in virtual time");
  const auto learns = [](const JobConfig& j) { return j.learner.model != LearnerModel::kNone; };
  if (std::ranges::any_of(config.jobs, learns) && full_payload)
    throw std::runtime_error("job.learner needs virtual time: its sums would stall the loop");
  if (config.attribution && (full_payload || !has_slots(pool)))
    throw std::runtime_error("attribution needs virtual time and a pool with room for it");
}

}  // namespace

Generator::Generator(const GeneratorConfig& config, EventLoop& loop, rte_mempool& pool,
                     Options options) {
  check_possible(config, options, pool);
  state_ = std::make_unique<State>(config, loop, pool, std::move(options));
}

Generator::~Generator() = default;

const GeneratorConfig& Generator::config() const noexcept { return state_->config; }

std::uint32_t Generator::owners() const noexcept { return owners_of(state_->config); }

bool Generator::has_host(std::uint32_t index) const noexcept {
  return state_->options.share.has_host(index);
}

Node& Generator::host(std::uint32_t index) noexcept { return *state_->hosts.all()[index]; }

void Generator::connect(std::uint32_t index, Link& out, const Backpressure* backpressure) noexcept {
  state_->hosts.all()[index]->nic().connect(out, backpressure);
}

Node& Generator::egress(std::uint32_t device, Node& edge) noexcept {
  return state_->hosts.egress(device, edge);
}

void Generator::connect_lcore(std::uint32_t lcore, Node& to) {
  state_->hosts.connect_lcore(lcore, to);
}

void Generator::expect(std::uint32_t device, std::span<Packet* const> packets) noexcept {
  state_->hosts.expect(device, packets);
}

void Generator::receive_from_device(std::uint32_t device, Packet* packet, Time now) noexcept {
  state_->hosts.receive(device, packet, now);
}

void Generator::start(Time now, std::uint64_t wall_ns) {
  const auto since_zero_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
  const State& s = *state_;
  for (const auto& host : s.hosts.all())
    if (host != nullptr)
      host->signals().set_clock(std::max(wall_ns, since_zero_ns) - since_zero_ns);
  s.background.start(now);
  s.jobs.start(now);
  if (s.sampler != nullptr) s.sampler->start(now);
}

bool Generator::finished() const noexcept {
  if (ends_with_lists(state_->config))
    return std::ranges::all_of(state_->background.flow_groups, [](const auto& one) {
      return one == nullptr || one->list_is_over();
    });
  const auto& transfers = state_->background.transfers;
  return !(state_->jobs.all().empty() && transfers.empty()) && state_->jobs.finished() &&
         std::ranges::all_of(transfers,
                             [](const auto& one) { return one == nullptr || one->finished(); });
}

}  // namespace outrider::tg
