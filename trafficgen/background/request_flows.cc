#include "trafficgen/background/request_flows.h"

#include <utility>

#include "trafficgen/background/reopen.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kOpenTag = ~std::uint32_t{0};
}  // namespace

RequestFlows::RequestFlows(Setup setup, GoodputSeries& goodput)
    : setup_(std::move(setup)),
      goodput_(goodput),
      think_(setup_.seed, setup_.index, RandomPurpose::kThinkTime) {
  for (std::uint32_t i = 0; i < setup_.config.connections; ++i) clients_.emplace_back(*this, i);
  counts_.name = setup_.name;
  counts_.samples.reserve(setup_.config.latency_samples);
}

void RequestFlows::schedule() {
  setup_.channels->listen();
  setup_.from->set_timer(*this, kOpenTag, opens_at(0));
}

Time RequestFlows::opens_at(std::uint32_t index) const noexcept {
  return Time{} + setup_.config.start +
         setup_.config.open_over * static_cast<std::int64_t>(index) /
             static_cast<std::int64_t>(clients_.size());
}

void RequestFlows::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag == kOpenTag) return open_due(now);
  Client& client = clients_[tag];
  if (client.due != now) return;
  client.due = kNever;
  if (!client.opening) open(client, now);
  else ask(client, now);
}

void RequestFlows::open_due(Time now) noexcept {
  while (started_ < clients_.size() && opens_at(started_) <= now) open(clients_[started_++], now);
  if (started_ < clients_.size()) setup_.from->set_timer(*this, kOpenTag, opens_at(started_));
}

void RequestFlows::open(Client& client, Time now) noexcept {
  client.question_bytes = client.answer_bytes = 0;
  client.asking = false;
  client.opening = true;
  if (client.channel.open(now)) return;
  client.opening = false;
  ++counts_.out_of_ports;
  wake(client, now + kReopenAfter);
}

void RequestFlows::ask(Client& client, Time now) noexcept {
  client.asked = now;
  client.asking = true;
  client.channel.send(ChannelSide::kNear, setup_.config.request_bytes, now);
}

void RequestFlows::wake(Client& client, Time at) noexcept {
  client.due = at;
  setup_.from->set_timer(*this, client.index, at);
}

void RequestFlows::keep(const RequestSample& sample) noexcept {
  if (counts_.samples.size() < setup_.config.latency_samples) counts_.samples.push_back(sample);
  else ++counts_.samples_not_kept;
}

void RequestFlows::answered(Client& client, Time now) noexcept {
  const auto& config = setup_.config;
  ++counts_.completed;
  const auto latency_ns = static_cast<std::uint64_t>((now - client.asked).count());
  counts_.latency_ns.record(latency_ns);
  if (config.latency_samples != 0) keep({now.time_since_epoch().count(), latency_ns});
  goodput_.add(TrafficClass::kBackground, config.request_bytes + config.response_bytes, now);
  Duration think = config.think;
  if (think != Duration::zero() && config.think_time == ThinkTime::kExponential)
    think = from_seconds(think_.exponential(seconds(think)));
  if (think == Duration::zero()) ask(client, now);
  else wake(client, now + think);
}

void RequestFlows::Client::on_open(Channel& /*channel*/, Time now) noexcept {
  ++flows.counts_.opened;
  ++flows.counts_.open;
  open = true;
  flows.ask(*this, now);
}

/// Answers every complete request, and takes every complete answer.
void RequestFlows::Client::on_delivered(Channel& /*channel*/, ChannelSide at,
                                        std::uint64_t fresh_bytes, Time now) noexcept {
  const auto& config = flows.setup_.config;
  const bool at_client = at == ChannelSide::kNear;
  if (!open || (at_client && !asking)) return;  // a stranger's
  std::uint64_t& bytes = at_client ? answer_bytes : question_bytes;
  bytes += fresh_bytes;
  if (bytes < (at_client ? config.response_bytes : config.request_bytes)) return;
  bytes = 0;
  asking &= !at_client;
  if (at_client) flows.answered(*this, now);
  else channel.send(ChannelSide::kFar, config.response_bytes, now);
}

void RequestFlows::Client::on_ended(Channel& /*channel*/, Time now) noexcept {
  if (open) --flows.counts_.open;
  else ++flows.counts_.opened;  // it was never established
  ++flows.counts_.closed;
  open = opening = false;
  flows.wake(*this, now + kReopenAfter);
}

RequestReport RequestFlows::report() const { return counts_; }

}  // namespace outrider::tg
