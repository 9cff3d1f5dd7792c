#include "trafficgen/workload/exchange/tcp/tcp_exchange.h"

#include <algorithm>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/exchange/tcp/tcp_pair.h"

namespace outrider::tg {

/// Accepts the connections of the workers that push to one host. Each has one lane to it at most.
struct TcpExchange::Gate final : Acceptor {
  explicit Gate(Host& h) : host(h) {}

  Offer accept(const FlowKey& flow) noexcept override {
    const auto it = std::ranges::find(pairs, flow.source_address,
                                      [](const TcpPair* p) { return p->at_worker.host.address(); });
    return it == pairs.end() ? Offer{} : (*it)->at_target.offer();
  }
  void on_accepted(TcpConnection&) noexcept override {}

  Host& host;
  std::vector<TcpPair*> pairs{};  ///< in the order of workers
};

TcpExchange::TcpExchange(const ExchangeSetup& setup, JobRecords& records, Listener& listener)
    : context_{setup, records, listener} {
  for (std::uint32_t w = 0; w < setup.workers.size(); ++w) {
    targets_.push_back(setup.targets_of(w));
    for (std::uint32_t t = 0; t < setup.targets; ++t) {
      auto& pair = pairs_.emplace_back();
      if (t < targets_[w]) pair = std::make_unique<TcpPair>(context_, w, t);
    }
  }
  make_gates();
}

TcpExchange::~TcpExchange() = default;

void TcpExchange::make_gates() {
  for (const auto& pair : pairs_) {
    if (pair == nullptr) continue;
    Host& host = pair->at_target.host;
    auto it = std::ranges::find_if(
        gates_, [&](const std::unique_ptr<Gate>& gate) { return &gate->host == &host; });
    if (it == gates_.end()) it = gates_.insert(it, std::make_unique<Gate>(host));
    (*it)->pairs.push_back(pair.get());
  }
}

void TcpExchange::start() {
  for (const auto& gate : gates_) gate->host.connections().listen(context_.setup.port, *gate);
}

void TcpExchange::open(std::uint32_t worker, Time now) noexcept {
  if (connection_per_burst(context_.setup)) return;
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) pair(worker, t).open(now);
}

void TcpExchange::begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept {
  for (std::uint32_t t = 0; t < targets_[worker]; ++t)
    pair(worker, t).at_worker.iteration = iteration;
}

void TcpExchange::end_iteration(std::uint32_t worker) noexcept {
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) pair(worker, t).at_worker.end_iteration();
}

BurstPlace TcpExchange::next_place(const Lane& lane) noexcept {
  return pair(lane.worker, lane.target).next_place(lane.direction);
}

FlowKey TcpExchange::flow(const Lane& lane) const noexcept {
  return pair(lane).flow(lane.direction);
}

void TcpExchange::begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept {
  const std::uint32_t worker = burst.burst().worker;
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) pair(worker, t).begin_push(burst, idle, now);
}

void TcpExchange::begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept {
  pair(burst.burst().worker, target).at_target.begin_pull(burst, now);
}

void TcpExchange::hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                            Time now) noexcept {
  pair(lane.worker, lane.target).hand_over(lane.direction, part, bytes, now);
}

void TcpExchange::hand_over_all(const Lane& lane, Time now) noexcept {
  const auto& parts = context_.setup.parts(lane);
  if (!context_.setup.parts_told) return hand_over(lane, 0, bytes_of(parts), now);
  for (std::uint32_t part = 0; part < parts.size(); ++part)
    hand_over(lane, part, parts[part].bytes, now);
}

void TcpExchange::end(const Lane& lane, Time now) noexcept {
  pair(lane.worker, lane.target).end(lane.direction, now);
}

bool TcpExchange::connected(const Lane& lane) const noexcept {
  return pair(lane).sender(lane.direction) != nullptr;
}

std::optional<Time> TcpExchange::first_sent_at(const Lane& lane) const noexcept {
  const TcpConnection* connection = pair(lane).sender(lane.direction);
  return connection == nullptr ? std::nullopt : connection->stream().watched_sent_at();
}

FlowReport TcpExchange::report(const Lane& lane) const {
  const TcpConnection* connection = pair(lane).sender(lane.direction);
  return context_.records.flow(lane).report(connection == nullptr ? nullptr
                                                                  : &connection->counters());
}

}  // namespace outrider::tg
