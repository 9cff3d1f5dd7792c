#include "tools/lab/ranks/rank_simulation.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/lab/ranks/packet_record.h"

namespace outrider::lab {

RankSimulation::RankSimulation(const sw::SwitchProcessConfig& switches,
                               const tg::GeneratorConfig& traffic, const Partition& partition,
                               std::uint32_t rank, rte_mempool& pool,
                               const std::map<std::string, SignalKey>& signal_keys)
    : pool_(pool),
      simulation_(switches, traffic, pool, signal_keys, {&partition, rank}),
      batches_(partition.ranks),
      neighbours_(partition.ranks) {
  std::map<std::uint32_t, CutLine> lines;
  for (const CutLine& line : partition.cuts) {
    lines[line.number] = line;
    if (line.from == rank) neighbours_[line.to] = true;
    if (line.to == rank) neighbours_[line.from] = true;
  }
  for (const sw::CutWire& wire : simulation_.network().leaving())
    departures_.push_back({wire, lines.at(wire.number).to});
  for (const sw::CutWire& wire : simulation_.network().coming())
    arrivals_[wire.number] = {lines.at(wire.number).from, wire.link};
}

Time RankSimulation::next() const noexcept { return std::min(simulation_.next(), next_sent_); }

void RankSimulation::run_window(Time end) {
  events_ += simulation_.run_until(end - Duration{1});
  for (auto& batch : batches_) batch.clear();
  next_sent_ = kNever;
  for (const Departure& d : departures_) {
    const std::uint64_t before = d.wire.link->crossed();
    Packet* packet = d.wire.link->cross();
    if (d.wire.link->delivered() != 0 || (packet != nullptr && meta(*packet).due < end)) {
      for (Packet* next; packet != nullptr; release(std::exchange(packet, next)))
        next = meta(*packet).next;
      throw std::runtime_error("a packet left on wire " + std::to_string(d.wire.number) +
                               " to another rank within the window in which it is due");
    }
    if (packet == nullptr) continue;
    next_sent_ = std::min(next_sent_, meta(*packet).due);
    std::string& batch = batches_[d.to];
    append_number(batch, d.wire.number);
    append_number(batch, static_cast<std::uint32_t>(d.wire.link->crossed() - before));
    append_number(batch, before);
    for (Packet* next; packet != nullptr; release(std::exchange(packet, next))) {
      next = meta(*packet).next;
      append_packet(batch, *packet);
    }
  }
}

void RankSimulation::receive(std::uint32_t from, std::string_view batch) {
  PacketRecords records(batch);
  while (!records.empty()) {
    const auto number = records.number<std::uint32_t>();
    auto packets = records.number<std::uint32_t>();
    const auto sequence = records.number<std::uint64_t>();
    const auto arrival = arrivals_.find(number);
    if (arrival == arrivals_.end() || arrival->second.from != from ||
        arrival->second.link->pushed() != sequence)
      throw std::runtime_error("rank " + std::to_string(from) + " has sent packets on wire " +
                               std::to_string(number) + " that do not follow those before");
    Link& link = *arrival->second.link;
    for (; packets > 0; --packets) {
      Packet* packet = records.next(pool_);
      link.push(packet, meta(*packet).due - link.delay());
    }
  }
}

RankResult RankSimulation::result() {
  RankResult r{.result = simulation_.result(),
               .flows_of_jobs = simulation_.generator().flows_of_jobs()};
  for (const Departure& d : departures_) r.sent[d.wire.number] = d.wire.link->crossed();
  for (const auto& [number, arrival] : arrivals_) r.received[number] = arrival.link->pushed();
  r.events = events_;
  return r;
}

}  // namespace outrider::lab
