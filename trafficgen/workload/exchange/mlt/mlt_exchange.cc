#include "trafficgen/workload/exchange/mlt/mlt_exchange.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "trafficgen/core/fifo.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/exchange/gradient_magnitudes.h"
#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {

/// One end of one pair. It sends the bursts of one lane and receives those of the other.
struct MltExchange::End final : MltListener {
  End(MltExchange& e, const Lane& s, Host& h, const MltEndpoint::Setup& setup)
      : exchange(e),
        sends(s),
        receives{
            s.worker, s.target,
            s.direction == BurstDirection::kPush ? BurstDirection::kPull : BurstDirection::kPush},
        host(h),
        endpoint(e.config_, e.setup_.tcp.control, setup, *this),
        handed_over(setup.sends.tensors.size()) {}

  void on_received(MltEndpoint& from, std::uint32_t tensor, bool satisfied,
                   Time now) noexcept override {
    exchange.records_.flow(receives).on_delivered(from.delivered_bytes(), now);
    if (!satisfied) return;
    const bool complete = from.receiver().complete();
    BurstArrival arrival;
    if (complete) {
      arrival = {from.receiver().delivered_bytes(), exchange.missing_of(*this)};
      ++expected.iteration;
      // A pull is expected when its iteration begins.
      if (receives.direction == BurstDirection::kPush) from.begin_receive(expected);
    }
    exchange.listener_.on_part(receives, tensor, now);
    if (complete) exchange.listener_.on_burst(receives, arrival, now);
  }
  void on_stopped(MltEndpoint& by, std::uint32_t, Time now) noexcept override {
    exchange.acknowledge(*this, now);
    if (by.sender().complete()) exchange.listener_.on_idle(sends, now);
  }
  void on_gave_up(MltEndpoint&, Time now) noexcept override { exchange.listener_.on_gave_up(now); }

  MltExchange& exchange;
  Lane sends;
  Lane receives;
  Host& host;
  MltEndpoint endpoint;
  BurstIdentity expected{};             ///< the burst that is being received
  std::optional<BurstIdentity> sent{};  ///< the burst that is being sent
  MltSender::Counters noted{};          ///< counters that the records already contain
  /// Parts of the burst in the order of their hand-over, from the first part of which the receiver
  /// does not have enough yet.
  Fifo<std::uint32_t> handed_over;
  std::uint64_t owed_bytes = 0;  ///< to be reported as acknowledged when all ends have begun
};

struct MltExchange::Pair {
  End at_worker;
  End at_target;
};

MltExchange::MltExchange(const ExchangeSetup& setup, const MltConfig& mlt, JobRecords& records,
                         Listener& listener)
    : setup_(setup), config_(mlt), records_(records), listener_(listener) {
  const std::uint32_t packet_bytes = mlt_packet_bytes(setup.mtu_bytes);
  std::size_t most = 0;  // most ranges missing from a burst: every other packet
  for (const auto& lists : {std::cref(setup_.pushes), std::cref(setup_.pulls)}) {
    for (const auto& parts : lists.get()) {
      std::size_t ranges = 0;
      for (const BurstPart& part : parts) {
        ranges += MltLayout(part.bytes, packet_bytes).packets() / 2 + 1;
        if (part.layer) layers_ = std::max(layers_, *part.layer + 1);
      }
      most = std::max(most, ranges);
    }
  }
  missing_.reserve(most);
  pairs_.resize(setup_.workers.size() * setup_.targets);
  for (std::uint32_t w = 0; w < setup_.workers.size(); ++w) {
    targets_.push_back(setup_.targets_of(w));
    for (std::uint32_t t = 0; t < targets_[w]; ++t) make_pair(w, t);
  }
}

void MltExchange::make_pair(std::uint32_t worker, std::uint32_t target) {
  const Lane push{worker, target, BurstDirection::kPush};
  const Lane pull{worker, target, BurstDirection::kPull};
  Host& near = *setup_.workers[worker];
  Host& far = *setup_.ends[setup_.index_of(worker, target)];
  const FlowKey flow{near.address(), far.address(), near.ports().next(), setup_.port};
  MltEndpoint::Setup ends;
  ends.flow = flow;
  ends.sends.tensors = tensors_of(setup_.parts(push));
  ends.sends.packet_bytes = mlt_packet_bytes(setup_.mtu_bytes);
  ends.sends.ecn = setup_.tcp.ecn;
  ends.sends.obeys_marks = setup_.tcp.obey_ece;
  ends.sends.seed = setup_.seed;
  ends.sends.restarts = setup_.tcp.reuse != ConnectionReuse::kKeep;
  ends.receives = tensors_of(setup_.parts(pull));
  MltEndpoint::Setup back = ends;
  back.flow = flow.reversed();
  std::swap(back.sends.tensors, back.receives);
  ends.sends.ranks_computed = config_.magnitudes == Magnitudes::kGradient;
  auto& pair = pairs_[setup_.index_of(worker, target)];
  pair.reset(new Pair{{*this, push, near, ends}, {*this, pull, far, back}});
  near.add_endpoint(pair->at_worker.endpoint, 0, setup_.tcp.priority);
  End& end = pair->at_target;
  far.add_endpoint(end.endpoint, setup_.nic_class(target), setup_.tcp.priority);
  end.expected = {setup_.job, static_cast<std::uint16_t>(worker), 0, BurstDirection::kPush};
  end.endpoint.begin_receive(end.expected);
}

MltExchange::~MltExchange() = default;

/// Assigns the layers, in forward order, to the classes in equal shares; the first layers go to the
/// first class.
std::vector<MltTensor> MltExchange::tensors_of(std::span<const BurstPart> parts) const {
  const std::vector<std::uint32_t>& dscps = config_.class_dscps;
  const std::size_t classes = std::max<std::size_t>(dscps.size(), 1);
  std::vector<MltTensor> tensors;
  for (const BurstPart& part : parts) {
    const std::size_t urgency = part.layer ? *part.layer * classes / layers_ : 0;
    tensors.push_back(
        {.bytes = part.bytes,
         .urgency = static_cast<std::uint8_t>(urgency),
         .dscp = dscps.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(dscps[urgency]),
         .droppable = part.layer && (*part.layer + 0.5) / layers_ < config_.front_share,
         .tolerance = part.parameters ? config_.tolerance_pull : config_.tolerance_push});
  }
  return tensors;
}

/// Returns ranges within the burst, whose tensors follow each other in the flow's stream.
std::span<const ByteRange> MltExchange::missing_of(const End& end) noexcept {
  missing_.clear();
  std::uint64_t tensor_begin = 0;
  const auto& received = setup_.parts(end.receives);
  for (std::uint32_t t = 0; t < received.size(); ++t) {
    end.endpoint.receiver().for_each_missing(t, [&](std::uint64_t at, std::uint64_t bytes) {
      missing_.push_back({tensor_begin + at, tensor_begin + at + bytes});
    });
    tensor_begin += received[t].bytes;
  }
  return missing_;
}

MltExchange::End& MltExchange::sender(const Lane& lane) noexcept {
  Pair& p = *pairs_[setup_.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

const MltExchange::End& MltExchange::sender(const Lane& lane) const noexcept {
  const Pair& p = *pairs_[setup_.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

FlowKey MltExchange::flow(const Lane& lane) const noexcept { return sender(lane).endpoint.flow(); }

BurstPlace MltExchange::next_place(const Lane& lane) noexcept {
  const MltEndpoint& endpoint = sender(lane).endpoint;
  return {endpoint.flow(), endpoint.sender().next_burst_sequence()};
}

/// Prepares the receivers for the pulls of the worker's iteration.
void MltExchange::begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept {
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) {
    if (setup_.parts({worker, t, BurstDirection::kPull}).empty()) continue;
    End& end = sender({worker, t, BurstDirection::kPush});
    end.expected = {setup_.job, static_cast<std::uint16_t>(worker), iteration,
                    BurstDirection::kPull};
    end.endpoint.begin_receive(end.expected);
  }
}

void MltExchange::begin_push(const BurstLedger& burst, BurstTime, Time now) noexcept {
  const std::uint32_t worker = burst.burst().worker;
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) {
    End& end = sender({worker, t, BurstDirection::kPush});
    begin(end, burst.burst(), now);
    if (config_.magnitudes == Magnitudes::kGradient) rank(end);
  }
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) {
    End& end = sender({worker, t, BurstDirection::kPush});
    tell(end, std::exchange(end.owed_bytes, 0), now);
  }
}

void MltExchange::begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept {
  End& end = sender({burst.burst().worker, target, BurstDirection::kPull});
  begin(end, burst.burst(), now);
  tell(end, std::exchange(end.owed_bytes, 0), now);
}

/// A next burst begins only when the receivers have enough of the last one, so parts of it that
/// were not acknowledged yet count as acknowledged.
void MltExchange::begin(End& end, const BurstIdentity& burst, Time now) noexcept {
  note(end);
  while (!end.handed_over.empty())
    end.owed_bytes += setup_.parts(end.sends)[end.handed_over.pop()].bytes;
  end.sent = burst;
  end.endpoint.begin_send(burst, now);
}

/// Ranks the packets of the push that has begun by the worker's gradients.
void MltExchange::rank(End& end) noexcept {
  end.endpoint.rank_by([&](const ByteRange& bytes) {
    return setup_.magnitudes->mean_magnitude(end.sends.worker, end.sends.target, bytes);
  });
}

/// Acknowledges as a stream would: in order, up to the first gap.
void MltExchange::acknowledge(End& end, Time now) noexcept {
  std::uint64_t bytes = 0;
  while (!end.handed_over.empty() && end.endpoint.sender().stopped(end.handed_over.peek()))
    bytes += setup_.parts(end.sends)[end.handed_over.pop()].bytes;
  tell(end, bytes, now);
}

void MltExchange::tell(End& end, std::uint64_t bytes, Time now) noexcept {
  const bool wanted = end.sends.direction == BurstDirection::kPush ? setup_.pushes_acknowledged
                                                                   : setup_.pulls_acknowledged;
  if (wanted && bytes > 0) listener_.on_acknowledged(end.sends, bytes, now);
}

void MltExchange::hand_over(const Lane& lane, std::uint32_t part, std::uint64_t,
                            Time now) noexcept {
  End& end = sender(lane);
  end.handed_over.push(part);
  end.endpoint.hand_over(part, now);
  end.host.changed(end.endpoint, now);
}

void MltExchange::hand_over_all(const Lane& lane, Time now) noexcept {
  const auto& sent = setup_.parts(lane);
  for (std::uint32_t part = 0; part < sent.size(); ++part)
    hand_over(lane, part, sent[part].bytes, now);
}

bool MltExchange::idle(const Lane& lane) const noexcept {
  const End& end = sender(lane);
  return !end.sent || end.endpoint.sender().complete();
}

std::optional<Time> MltExchange::first_sent_at(const Lane& lane) const noexcept {
  return sender(lane).endpoint.sender().first_sent_at();
}

FlowReport MltExchange::report(const Lane& lane) const {
  FlowReport report = records_.flow(lane).report(nullptr);
  const MltSender::Counters& c = sender(lane).endpoint.sender().counters();
  report.retransmitted += c.retransmitted;
  report.rtos_data += c.timeouts;
  report.ece_reductions += c.reductions;
  return report;
}

void MltExchange::note_last() noexcept {
  for (auto& p : pairs_) {
    if (p == nullptr) continue;
    note(p->at_worker);
    note(p->at_target);
  }
}

/// Adds the sender's counts since the last call to the record of the burst that it is sending.
void MltExchange::note(End& end) noexcept {
  if (!end.sent) return;
  const MltSender::Counters& c = end.endpoint.sender().counters();
  BurstRecord& record = records_.burst(*end.sent);
  record.rtos += static_cast<std::uint32_t>(c.timeouts - end.noted.timeouts);
  record.retransmitted += static_cast<std::uint32_t>(c.retransmitted - end.noted.retransmitted);
  record.lost_bytes += c.lost - end.noted.lost;
  record.unsent_bytes += c.unsent - end.noted.unsent;
  end.noted = c;
}

}  // namespace outrider::tg
