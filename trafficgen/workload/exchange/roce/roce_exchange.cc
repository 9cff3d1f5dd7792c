#include "trafficgen/workload/exchange/roce/roce_exchange.h"

#include <cassert>
#include <utility>

#include "trafficgen/hosts/host.h"
#include "trafficgen/roce/queue_pair_ends.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/exchange/piece_stream.h"

namespace outrider::tg {

/// One end of one pair. It sends the bursts of one lane and receives those of the other.
struct RoceExchange::End final : QueuePairListener {
  End(RoceExchange& e, const Lane& s, Host& h, const QueuePair::Setup& setup)
      : exchange(e),
        sends(s),
        receives{
            s.worker, s.target,
            s.direction == BurstDirection::kPush ? BurstDirection::kPull : BurstDirection::kPush},
        host(h),
        pair(e.config_, setup, *this),
        burst_bytes(bytes_of(e.setup_.parts(s))),
        pieces(e.setup_.parts(s).size()) {}

  void on_received(QueuePair& by, Time now) noexcept override {
    const std::uint64_t total = by.responder().delivered_bytes();
    exchange.records_.flow(receives).on_delivered(total, now);
    End& from = exchange.sender(receives);
    if (exchange.setup_.parts_told)
      from.pieces.deliver(
          total, [&](std::uint32_t part) { exchange.listener_.on_part(receives, part, now); });
    if (total - complete_bytes < from.burst_bytes) return;
    complete_bytes = total;
    exchange.listener_.on_burst(receives, {.bytes = from.burst_bytes}, now);
  }
  void on_acknowledged(QueuePair& by, Time now) noexcept override {
    const std::uint64_t total = by.requester().requests().acknowledged_bytes();
    const std::uint64_t fresh = total - std::exchange(told_bytes, total);
    if (exchange.setup_.acknowledged(sends.direction) && fresh > 0)
      exchange.listener_.on_acknowledged(sends, fresh, now);
    if (exchange.idle(sends)) exchange.listener_.on_idle(sends, now);
  }
  void on_gave_up(QueuePair&, Time now) noexcept override { exchange.listener_.on_gave_up(now); }

  RoceExchange& exchange;
  Lane sends;
  Lane receives;
  Host& host;
  QueuePair pair;
  std::uint64_t burst_bytes;            ///< of each burst that it sends
  std::uint64_t left_bytes = 0;         ///< of the current one, to be handed over
  std::optional<BurstIdentity> sent{};  ///< the burst that is being sent
  RoceCounters noted{};                 ///< counts that the records already contain
  PieceStream pieces;                   ///< parts that it sends
  std::uint64_t complete_bytes = 0;     ///< received in complete bursts
  std::uint64_t told_bytes = 0;         ///< acknowledged, of which the listener knows
};

struct RoceExchange::Pair {
  End at_worker;
  End at_target;
};

RoceExchange::RoceExchange(const ExchangeSetup& setup, const RoceConfig& roce, JobRecords& records,
                           Listener& listener)
    : setup_(setup), config_(roce), records_(records), listener_(listener) {
  pairs_.resize(setup_.workers.size() * setup_.targets);
  for (std::uint32_t w = 0; w < setup_.workers.size(); ++w) {
    targets_.push_back(setup_.targets_of(w));
    for (std::uint32_t t = 0; t < targets_[w]; ++t) make_pair(w, t);
  }
}

RoceExchange::~RoceExchange() = default;

void RoceExchange::make_pair(std::uint32_t worker, std::uint32_t target) {
  const Lane push{worker, target, BurstDirection::kPush};
  const Lane pull{worker, target, BurstDirection::kPull};
  Host& near = *setup_.workers[worker];
  Host& far = setup_.end(worker, target);
  const QueuePairEnds ends = make_queue_pair_ends(near, far, setup_.mtu_bytes, setup_.seed);
  auto& pair = pairs_[setup_.index_of(worker, target)];
  pair.reset(new Pair{{*this, push, near, ends.near}, {*this, pull, far, ends.far}});
  near.add_endpoint(pair->at_worker.pair, 0, setup_.tcp.priority);
  far.add_endpoint(pair->at_target.pair, setup_.nic_class(target), setup_.tcp.priority);
}

RoceExchange::End& RoceExchange::sender(const Lane& lane) noexcept {
  Pair& p = *pairs_[setup_.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

const RoceExchange::End& RoceExchange::sender(const Lane& lane) const noexcept {
  const Pair& p = *pairs_[setup_.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

FlowKey RoceExchange::flow(const Lane& lane) const noexcept { return sender(lane).pair.flow(); }

BurstPlace RoceExchange::next_place(const Lane& lane) noexcept {
  const QueuePair& pair = sender(lane).pair;
  return {pair.flow(), roce::sequence_of(pair.requester().next_psn())};
}

void RoceExchange::begin_push(const BurstLedger& burst, BurstTime, Time) noexcept {
  const std::uint32_t worker = burst.burst().worker;
  for (std::uint32_t t = 0; t < targets_[worker]; ++t)
    begin(sender({worker, t, BurstDirection::kPush}), burst.burst());
}

void RoceExchange::begin_pull(const BurstLedger& burst, std::uint32_t target, Time) noexcept {
  begin(sender({burst.burst().worker, target, BurstDirection::kPull}), burst.burst());
}

void RoceExchange::begin(End& end, const BurstIdentity& burst) noexcept {
  note(end);
  end.sent = burst;
  end.left_bytes = end.burst_bytes;
  end.pair.requester().note_burst();
}

void RoceExchange::hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                             Time now) noexcept {
  End& end = sender(lane);
  assert(bytes <= end.left_bytes);
  end.left_bytes -= bytes;
  if (setup_.parts_told) end.pieces.append(part, bytes);
  std::optional<std::uint32_t> immediate;
  if (end.left_bytes == 0) immediate = end.sent->iteration;
  end.pair.requester().append(bytes, immediate, now);
  end.host.changed(end.pair, now);
}

void RoceExchange::hand_over_all(const Lane& lane, Time now) noexcept {
  const auto& sent = setup_.parts(lane);
  for (std::uint32_t part = 0; part < sent.size(); ++part)
    hand_over(lane, part, sent[part].bytes, now);
}

bool RoceExchange::idle(const Lane& lane) const noexcept {
  const End& end = sender(lane);
  return end.left_bytes == 0 && end.pair.requester().requests().idle();
}

std::optional<Time> RoceExchange::first_sent_at(const Lane& lane) const noexcept {
  return sender(lane).pair.requester().first_sent_at();
}

FlowReport RoceExchange::report(const Lane& lane) const {
  FlowReport report = records_.flow(lane).report(nullptr);
  const RoceCounters& c = sender(lane).pair.counters();
  report.retransmitted += c.retransmitted;
  report.rtos_data += c.timeouts;
  report.fast_recoveries += c.recoveries;
  report.cnps_received += c.cnps_received;
  return report;
}

void RoceExchange::note_last() noexcept {
  for (auto& p : pairs_) {
    if (p == nullptr) continue;
    note(p->at_worker);
    note(p->at_target);
  }
}

/// Adds the sender's counts since the last call to the record of the burst that it is sending.
void RoceExchange::note(End& end) noexcept {
  if (!end.sent) return;
  const RoceCounters& c = end.pair.counters();
  BurstRecord& record = records_.burst(*end.sent);
  record.rtos += static_cast<std::uint32_t>(c.timeouts - end.noted.timeouts);
  record.retransmitted += static_cast<std::uint32_t>(c.retransmitted - end.noted.retransmitted);
  end.noted = c;
}

RoceCounters RoceExchange::roce() const {
  RoceCounters sum;
  for (const auto& p : pairs_) {
    if (p == nullptr) continue;
    ++sum.queue_pairs;
    sum += p->at_worker.pair.counters();
    sum += p->at_target.pair.counters();
  }
  return sum;
}

}  // namespace outrider::tg
