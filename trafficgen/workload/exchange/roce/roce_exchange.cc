#include "trafficgen/workload/exchange/roce/roce_exchange.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/core/mltcp.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/roce/path_mtu.h"
#include "trafficgen/roce/queue_pair_ends.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/exchange/piece_stream.h"

namespace outrider::tg {

/// One end of one queue pair of a lane and the lane back.
struct RoceExchange::Way final : QueuePairListener {
  Way(End& e, const RoceConfig& config, const QueuePair::Setup& setup, std::uint32_t n,
      std::size_t parts)
      : end(e), number(n), pair(config, setup, *this), pieces(parts) {}

  void on_received(QueuePair& by, Time now) noexcept override;
  void on_acknowledged(QueuePair& by, Time now) noexcept override;
  void on_gave_up(QueuePair& by, Time now) noexcept override;

  End& end;
  std::uint32_t number;  ///< among those of the end
  QueuePair pair;
  PieceStream pieces;                 ///< messages of parts that it sends
  std::uint64_t delivered_bytes = 0;  ///< to this end, of which it knows
  std::uint64_t told_bytes = 0;       ///< acknowledged, of which the end knows
  RoceCounters noted{};               ///< counts that the records already contain
};

/// One end of one pair of lanes. It sends the bursts of one lane and receives those of the other.
struct RoceExchange::End {
  End(RoceExchange& e, const Lane& s, Host& h)
      : exchange(e),
        sends(s),
        receives{
            s.worker, s.target,
            s.direction == BurstDirection::kPush ? BurstDirection::kPull : BurstDirection::kPush},
        host(h),
        burst_bytes(bytes_of(e.setup_.parts(s))),
        messages(e.setup_.parts_told ? e.setup_.parts(s).size() : 0) {}

  /// @param way  number of the queue pair  @param total  bytes that it has delivered
  void on_received(std::uint32_t way, std::uint64_t total, std::uint64_t fresh, Time now) noexcept {
    received_bytes += fresh;
    exchange.records_.flow(receives).on_delivered(received_bytes, now);
    End& from = exchange.sender(receives);
    if (exchange.setup_.parts_told)
      from.ways[way]->pieces.deliver(total, [&](std::uint32_t part) {
        if (--from.messages[part] == 0) exchange.listener_.on_part(receives, part, now);
      });
    if (received_bytes - complete_bytes < from.burst_bytes) return;
    complete_bytes = received_bytes;
    exchange.listener_.on_burst(receives, {.bytes = from.burst_bytes}, now);
  }
  void on_acknowledged(std::uint64_t fresh, Time now) noexcept {
    if (exchange.setup_.acknowledged(sends.direction) && fresh > 0)
      exchange.listener_.on_acknowledged(sends, fresh, now);
    if (exchange.idle(sends)) exchange.listener_.on_idle(sends, now);
  }
  [[nodiscard]] Way& first() const noexcept { return *ways.front(); }

  RoceExchange& exchange;
  Lane sends;
  Lane receives;
  Host& host;
  std::vector<std::unique_ptr<Way>> ways{};
  std::size_t next_way = 0;             ///< that takes the next message
  std::uint64_t burst_bytes;            ///< of each burst that it sends
  std::uint64_t left_bytes = 0;         ///< of the current one, to be handed over
  std::optional<BurstIdentity> sent{};  ///< the burst that is being sent
  BurstExtent extent{};                 ///< of it
  std::vector<std::uint32_t> messages;  ///< [part] that have not arrived, of those handed over
  std::uint64_t handed_bytes = 0;       ///< handed over in total
  std::uint64_t acknowledged_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t complete_bytes = 0;  ///< received in complete bursts
};

void RoceExchange::Way::on_received(QueuePair& by, Time now) noexcept {
  const std::uint64_t total = by.responder().delivered_bytes();
  end.on_received(number, total, total - std::exchange(delivered_bytes, total), now);
}

void RoceExchange::Way::on_acknowledged(QueuePair& by, Time now) noexcept {
  const std::uint64_t total = by.requester().requests().acknowledged_bytes();
  end.acknowledged_bytes += total - told_bytes;
  if (end.exchange.setup_.tcp.mltcp)
    by.requester().control().note_share(end.extent.share(end.acknowledged_bytes), now);
  end.on_acknowledged(total - std::exchange(told_bytes, total), now);
}

void RoceExchange::Way::on_gave_up(QueuePair&, Time now) noexcept {
  end.exchange.listener_.on_gave_up(now);
}

struct RoceExchange::Pair {
  End at_worker;
  End at_target;
};

RoceExchange::RoceExchange(const ExchangeSetup& setup, const RoceConfig& roce, JobRecords& records,
                           Listener& listener)
    : setup_(setup),
      config_(roce),
      records_(records),
      listener_(listener),
      path_mtu_(path_mtu_of(setup.mtu_bytes)) {
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
  auto& pair = pairs_[setup_.index_of(worker, target)];
  pair.reset(new Pair{{*this, push, near}, {*this, pull, far}});
  const auto add = [this](End& end, const QueuePair::Setup& setup, std::uint32_t n,
                          std::uint8_t nic_class) {
    const std::size_t parts = setup_.parts(end.sends).size();
    end.ways.push_back(std::make_unique<Way>(end, config_, setup, n, parts));
    end.host.add_endpoint(end.ways.back()->pair, nic_class, setup_.tcp.priority);
  };
  for (std::uint32_t n = 0; n < setup_.queue_pairs; ++n) {
    const QueuePairEnds ends = make_queue_pair_ends(near, far, setup_.mtu_bytes, setup_.seed);
    add(pair->at_worker, ends.near, n, 0);
    add(pair->at_target, ends.far, n, setup_.nic_class(target));
  }
}

RoceExchange::End& RoceExchange::sender(const Lane& lane) noexcept {
  Pair& p = *pairs_[setup_.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

const RoceExchange::End& RoceExchange::sender(const Lane& lane) const noexcept {
  const Pair& p = *pairs_[setup_.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

FlowKey RoceExchange::flow(const Lane& lane) const noexcept {
  return sender(lane).first().pair.flow();
}

BurstPlace RoceExchange::next_place(const Lane& lane) noexcept {
  const QueuePair& pair = sender(lane).first().pair;
  return {pair.flow(), roce::sequence_of(pair.requester().next_psn())};
}

void RoceExchange::begin_push(const BurstLedger& burst, BurstTime, Time now) noexcept {
  const std::uint32_t worker = burst.burst().worker;
  for (std::uint32_t t = 0; t < targets_[worker]; ++t)
    begin(sender({worker, t, BurstDirection::kPush}), burst.burst(), now);
}

void RoceExchange::begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept {
  begin(sender({burst.burst().worker, target, BurstDirection::kPull}), burst.burst(), now);
}

void RoceExchange::begin(End& end, const BurstIdentity& burst, Time now) noexcept {
  note(end);
  end.sent = burst;
  end.left_bytes = end.burst_bytes;
  end.next_way = 0;
  end.extent = {end.handed_bytes, end.burst_bytes};
  for (const auto& way : end.ways) {
    way->pair.requester().note_burst();
    if (setup_.tcp.mltcp) way->pair.requester().control().note_share(0, now);
  }
}

void RoceExchange::hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                             Time now) noexcept {
  End& end = sender(lane);
  assert(bytes <= end.left_bytes);
  const std::uint64_t message = message_bytes(bytes, end.ways.size());
  while (bytes > 0) {
    const std::uint64_t taken = std::min(bytes, message);
    Way& way = *end.ways[end.next_way];
    if (++end.next_way == end.ways.size()) end.next_way = 0;
    bytes -= taken;
    end.left_bytes -= taken;
    end.handed_bytes += taken;
    if (setup_.parts_told) {
      way.pieces.append(part, taken);
      ++end.messages[part];
    }
    std::optional<std::uint32_t> immediate;
    if (end.left_bytes == 0) immediate = end.sent->iteration;
    way.pair.requester().append(taken, immediate, now);
    end.host.changed(way.pair, now);
  }
}

/// Returns the length of the messages into which bytes are cut for some queue pairs: whole packets,
/// as evenly as these allow.
std::uint64_t RoceExchange::message_bytes(std::uint64_t bytes, std::size_t ways) const noexcept {
  if (ways == 1) return bytes;
  const std::uint64_t each = (bytes + ways - 1) / ways;
  return (each + path_mtu_ - 1) / path_mtu_ * path_mtu_;
}

void RoceExchange::hand_over_all(const Lane& lane, Time now) noexcept {
  const auto& sent = setup_.parts(lane);
  for (std::uint32_t part = 0; part < sent.size(); ++part)
    hand_over(lane, part, sent[part].bytes, now);
}

bool RoceExchange::idle(const Lane& lane) const noexcept {
  const End& end = sender(lane);
  return end.left_bytes == 0 && end.acknowledged_bytes == end.handed_bytes;
}

std::optional<Time> RoceExchange::first_sent_at(const Lane& lane) const noexcept {
  std::optional<Time> first;
  for (const auto& way : sender(lane).ways) {
    const auto own = way->pair.requester().first_sent_at();
    if (own && (!first || *own < *first)) first = own;
  }
  return first;
}

FlowReport RoceExchange::report(const Lane& lane) const {
  FlowReport report = records_.flow(lane).report(nullptr);
  for (const auto& way : sender(lane).ways) {
    const RoceCounters& c = way->pair.counters();
    report.retransmitted += c.retransmitted;
    report.rtos_data += c.timeouts;
    report.fast_recoveries += c.recoveries;
    report.cnps_received += c.cnps_received;
  }
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
  BurstRecord& record = records_.burst(*end.sent);
  for (const auto& way : end.ways) {
    const RoceCounters& c = way->pair.counters();
    record.rtos += static_cast<std::uint32_t>(c.timeouts - way->noted.timeouts);
    record.retransmitted += static_cast<std::uint32_t>(c.retransmitted - way->noted.retransmitted);
    way->noted = c;
  }
}

RoceCounters RoceExchange::roce() const {
  RoceCounters sum;
  for (const auto& p : pairs_) {
    if (p == nullptr) continue;
    sum.queue_pairs += p->at_worker.ways.size();
    for (const End* end : {&p->at_worker, &p->at_target})
      for (const auto& way : end->ways) sum += way->pair.counters();
  }
  return sum;
}

}  // namespace outrider::tg
