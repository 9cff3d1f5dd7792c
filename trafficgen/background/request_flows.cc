#include "trafficgen/background/request_flows.h"

#include <algorithm>

#include "trafficgen/background/reopen.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kOpenTag = ~std::uint32_t{0};
}  // namespace

RequestFlows::RequestFlows(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup),
      goodput_(goodput),
      clients_(setup.config.connections),
      think_(setup.seed, setup.index, RandomPurpose::kThinkTime) {
  for (auto& client : clients_) client.flows = this;
  counts_.name = setup.name;
  counts_.samples.reserve(setup.config.latency_samples);
}

void RequestFlows::schedule() {
  for (std::uint16_t p = 0; p < setup_.config.server_ports; ++p)
    setup_.to->connections().listen(static_cast<std::uint16_t>(setup_.config.tcp_port + p), *this);
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
  if (client.connection == nullptr) open(tag, now);
  else ask(client, now);
}

void RequestFlows::open_due(Time now) noexcept {
  while (started_ < clients_.size() && opens_at(started_) <= now) open(started_++, now);
  if (started_ < clients_.size()) setup_.from->set_timer(*this, kOpenTag, opens_at(started_));
}

void RequestFlows::open(std::uint32_t index, Time now) noexcept {
  const auto& config = setup_.config;
  const auto to_port = static_cast<std::uint16_t>(config.tcp_port + index % config.server_ports);
  const auto port = setup_.from->connections().free_port(setup_.from->ports(), setup_.to->address(),
                                                         to_port, now);
  if (!port) {
    ++counts_.out_of_ports;
    return wake(clients_[index], now + kReopenAfter);
  }
  const FlowKey flow{setup_.from->address(), setup_.to->address(), *port, to_port};
  clients_[index].connection = &setup_.from->open(flow, setup_.tcp, 0, clients_[index], now);
}

void RequestFlows::ask(Client& client, Time now) noexcept {
  client.asked = now;
  setup_.from->send(*client.connection, setup_.config.request_bytes, now);
}

void RequestFlows::wake(Client& client, Time at) noexcept {
  client.due = at;
  setup_.from->set_timer(*this, index_of(client), at);
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

void RequestFlows::Client::on_established(TcpConnection&, Time now) noexcept {
  ++flows->counts_.opened;
  ++flows->counts_.open;
  flows->ask(*this, now);
}

void RequestFlows::Client::on_delivered(TcpConnection& c, Time now) noexcept {
  const auto& config = flows->setup_.config;
  const std::uint64_t requests = c.stream().written_bytes() / config.request_bytes;
  if (c.delivered_bytes() == requests * config.response_bytes) flows->answered(*this, now);
}

void RequestFlows::Client::on_closed(TcpConnection& c, Time now) noexcept {
  if (c.delivered_bytes() + c.stream().written_bytes() != 0) --flows->counts_.open;
  else ++flows->counts_.opened;  // it was never established
  ++flows->counts_.closed;
  connection = nullptr;
  flows->wake(*this, now + kReopenAfter);
}

/// Answers every complete request. It is stateless, because both streams are counted.
void RequestFlows::Server::on_delivered(TcpConnection& c, Time now) noexcept {
  const auto& config = flows.setup_.config;
  const std::uint64_t requests = c.delivered_bytes() / config.request_bytes;
  const std::uint64_t answers = c.stream().written_bytes() / config.response_bytes;
  if (requests > answers)
    flows.setup_.to->send(c, (requests - answers) * config.response_bytes, now);
}

RequestReport RequestFlows::report() const { return counts_; }

}  // namespace outrider::tg
