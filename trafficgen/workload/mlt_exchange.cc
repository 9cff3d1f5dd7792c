#include "trafficgen/workload/mlt_exchange.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/workload/job.h"
#include "trafficgen/workload/ring_member.h"
#include "trafficgen/workload/server.h"
#include "trafficgen/workload/worker.h"

namespace outrider {

/// One end of one pair: sends bursts of one direction and receives those of the other.
struct MltExchange::End final : MltListener {
  End(MltExchange& e, std::uint32_t w, std::uint32_t s, BurstDirection r, Host& h,
      const MltEndpoint::Setup& setup)
      : exchange(e),
        worker(w),
        server(s),
        receives(r),
        host(h),
        endpoint(e.config_, e.control_, setup, *this),
        handed_over(setup.sends.tensors.size()) {}

  void on_received(MltEndpoint& from, std::uint32_t tensor, bool satisfied,
                   Time now) noexcept override {
    Job& job = exchange.job_;
    const bool push = receives == BurstDirection::kPush;
    auto& totals = push ? job.push_flow(worker, server) : job.pull_flow(worker, server);
    totals.on_delivered(from.delivered_bytes(), now);
    if (!satisfied) return;
    const bool complete = from.receiver().complete();
    std::span<const ByteRange> missing;
    if (complete) {
      BurstRecord& record = job.burst(worker, expected.iteration, receives);
      record.delivered_bytes += from.receiver().delivered_bytes();
      if (!job.is_ring()) missing = exchange.missing_of(*this);
      ++expected.iteration;
      if (push) from.begin_receive(expected);  // a pull is expected when its iteration begins
    }
    if (job.is_ring())
      return job.ring_member(job.ring_schedule().right_of(worker)).on_step(tensor, now);
    const std::uint32_t piece = exchange.pieces_of_[server][tensor];
    if (push) job.server(server).on_pushed(worker, piece, complete, missing, now);
    else job.worker(worker).on_pulled(server, piece, complete, missing, now);
  }
  void on_stopped(MltEndpoint& by, std::uint32_t, Time now) noexcept override {
    if (!exchange.job_.is_ring()) return exchange.acknowledge(*this, now);
    if (by.sender().complete()) exchange.job_.ring_member(worker).on_all_sent(now);
  }
  void on_gave_up(MltEndpoint&, Time) noexcept override { exchange.job_.on_gave_up(); }

  MltExchange& exchange;
  std::uint32_t worker;
  std::uint32_t server;
  BurstDirection receives;
  Host& host;
  MltEndpoint endpoint;
  BurstIdentity expected{};     ///< that is received
  BurstIdentity sent{};         ///< that is being sent
  bool sends = false;           ///< one was begun
  MltSender::Counters noted{};  ///< of what the records have
  /// Tensors of a burst that is sent to or by a server, as they were handed over, from the first
  /// on that the receiver has not enough of.
  Fifo<std::uint32_t> handed_over;
  std::uint64_t owed_bytes = 0;  ///< to be told as acknowledged when all ends have begun
};

struct MltExchange::Pair {
  End at_worker;
  End at_server;
};

MltExchange::MltExchange(Job& job, const Setup& setup)
    : job_(job), config_(setup.mlt), control_(setup.tcp.control), pieces_of_(job.targets()) {
  control_.mss_bytes = mlt_packet_bytes(setup.mtu_bytes);
  for (const GradientPiece& p : job.pieces()) {
    tensor_of_.push_back(static_cast<std::uint32_t>(pieces_of_[p.target].size()));
    pieces_of_[p.target].push_back(p.index);
  }
  std::size_t most = 0;  // every other packet
  for (const GradientPiece& p : job.pieces())
    most += MltLayout(p.bytes, control_.mss_bytes).packets() / 2 + 1;
  missing_.reserve(most);
  const auto workers = static_cast<std::uint32_t>(job.setup().workers.size());
  for (std::uint32_t w = 0; w < workers; ++w)
    for (std::uint32_t t = 0; t < job.targets(); ++t) make_pair(w, t, setup);
}

void MltExchange::make_pair(std::uint32_t worker, std::uint32_t server, const Setup& setup) {
  const Job::Setup& job = job_.setup();
  Host& near = *job.workers[worker];
  Host& far = job_.target(worker, server);
  const bool ring = job_.is_ring();
  const std::vector<MltTensor> pushes =
      ring ? steps_of(worker) : tensors_of(server, config_.tolerance_push);
  const FlowKey flow{near.address(), far.address(), near.allocate_port(), job.config.tcp_port};
  MltEndpoint::Setup ends{.flow = flow,
                          .sends = {.tensors = pushes,
                                    .packet_bytes = control_.mss_bytes,
                                    .ecn = setup.tcp.ecn,
                                    .obeys_marks = setup.tcp.obey_ece,
                                    .seed = job.seed},
                          .receives = {}};
  if (!ring) ends.receives = tensors_of(server, config_.tolerance_pull);
  MltEndpoint::Setup back = ends;
  back.flow = flow.reversed();
  back.sends.tensors = ends.receives;
  back.receives = pushes;
  pairs_.push_back(
      std::unique_ptr<Pair>(new Pair{{*this, worker, server, BurstDirection::kPull, near, ends},
                                     {*this, worker, server, BurstDirection::kPush, far, back}}));
  near.add_endpoint(pairs_.back()->at_worker.endpoint);
  End& end = pairs_.back()->at_server;
  far.add_endpoint(end.endpoint, job_.nic_class(server));
  end.expected = {job.id, static_cast<std::uint16_t>(worker), 0, BurstDirection::kPush};
  end.endpoint.begin_receive(end.expected);
}

MltExchange::~MltExchange() = default;

/// In the shard as its tensors lie in the flow's stream, one behind the other.
std::span<const ByteRange> MltExchange::missing_of(const End& end) noexcept {
  missing_.clear();
  std::uint64_t tensor_begin = 0;
  for (std::uint32_t t = 0; t < pieces_of_[end.server].size(); ++t) {
    end.endpoint.receiver().for_each_missing(t, [&](std::uint64_t at, std::uint64_t bytes) {
      missing_.push_back({tensor_begin + at, tensor_begin + at + bytes});
    });
    tensor_begin += job_.pieces()[pieces_of_[end.server][t]].bytes;
  }
  return missing_;
}

/// Layers in forward order are shared out among the classes, the front ones to the first.
std::vector<MltTensor> MltExchange::tensors_of(std::uint32_t server, double tolerance) const {
  std::uint32_t layers = 0;
  for (const GradientPiece& p : job_.pieces()) layers = std::max(layers, p.tensor + 1);
  const std::size_t classes = std::max<std::size_t>(config_.class_dscps.size(), 1);
  std::vector<MltTensor> tensors;
  for (const std::uint32_t index : pieces_of_[server]) {
    const GradientPiece& p = job_.pieces()[index];
    const std::size_t urgency = p.tensor * classes / layers;
    tensors.push_back({.bytes = p.bytes,
                       .urgency = static_cast<std::uint8_t>(urgency),
                       .dscp = config_.class_dscps.empty()
                                   ? std::uint8_t{0}
                                   : static_cast<std::uint8_t>(config_.class_dscps[urgency]),
                       .droppable = (p.tensor + 0.5) / layers < config_.front_share,
                       .tolerance = tolerance});
  }
  return tensors;
}

/// What is reduced are gradients, what is gathered are their sums, as good as parameters.
std::vector<MltTensor> MltExchange::steps_of(std::uint32_t worker) const {
  const RingSchedule ring = job_.ring_schedule();
  const std::vector<std::uint32_t>& dscps = config_.class_dscps;
  std::vector<MltTensor> steps;
  for (std::uint32_t k = 0; k < ring.steps(); ++k)
    steps.push_back({.bytes = ring.step_bytes(worker, k),
                     .dscp = dscps.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(dscps[0]),
                     .tolerance = k < ring.first_gather_step() ? config_.tolerance_push
                                                               : config_.tolerance_pull});
  return steps;
}

const MltExchange::Pair& MltExchange::pair(std::uint32_t worker,
                                           std::uint32_t server) const noexcept {
  return *pairs_[std::size_t{worker} * job_.targets() + server];
}

MltExchange::Pair& MltExchange::pair(std::uint32_t worker, std::uint32_t server) noexcept {
  return *pairs_[std::size_t{worker} * job_.targets() + server];
}

const MltSender& MltExchange::sender(std::uint32_t worker, std::uint32_t server,
                                     BurstDirection d) const noexcept {
  const Pair& p = pair(worker, server);
  return (d == BurstDirection::kPush ? p.at_worker : p.at_server).endpoint.sender();
}

const FlowKey& MltExchange::flow(std::uint32_t worker, std::uint32_t server) const noexcept {
  return pair(worker, server).at_worker.endpoint.flow();
}

std::uint32_t MltExchange::next_push_sequence(std::uint32_t worker,
                                              std::uint32_t server) const noexcept {
  return sender(worker, server, BurstDirection::kPush).next_burst_sequence();
}

void MltExchange::expect_pull(const BurstIdentity& pull) noexcept {
  for (std::uint32_t s = 0; s < job_.targets(); ++s) {
    End& end = pair(pull.worker, s).at_worker;
    end.expected = pull;
    end.endpoint.begin_receive(pull);
  }
}

void MltExchange::begin_push(const BurstIdentity& push, Time now) noexcept {
  for (std::uint32_t s = 0; s < job_.targets(); ++s)
    begin(pair(push.worker, s).at_worker, push, now);
  for (std::uint32_t s = 0; s < job_.targets(); ++s) {
    End& end = pair(push.worker, s).at_worker;
    tell(end, std::exchange(end.owed_bytes, 0), now);
  }
}

void MltExchange::begin_pull(const BurstIdentity& pull, std::uint32_t server, Time now) noexcept {
  End& end = pair(pull.worker, server).at_server;
  begin(end, pull, now);
  tell(end, std::exchange(end.owed_bytes, 0), now);
}

/// The receivers have enough of the last burst, or there were no next one: what they have not
/// said counts as said.
void MltExchange::begin(End& end, const BurstIdentity& burst, Time now) noexcept {
  note(end);
  while (!end.handed_over.empty()) end.owed_bytes += tensor_bytes(end, end.handed_over.pop());
  end.sent = burst;
  end.sends = true;
  end.endpoint.begin_send(burst, now);
}

std::uint64_t MltExchange::tensor_bytes(const End& end, std::uint32_t tensor) const noexcept {
  return job_.pieces()[pieces_of_[end.server][tensor]].bytes;
}

/// As a stream would be: in order, as far as there is no gap.
void MltExchange::acknowledge(End& end, Time now) noexcept {
  std::uint64_t bytes = 0;
  while (!end.handed_over.empty() && end.endpoint.sender().stopped(end.handed_over.peek()))
    bytes += tensor_bytes(end, end.handed_over.pop());
  tell(end, bytes, now);
}

void MltExchange::tell(End& end, std::uint64_t bytes, Time now) noexcept {
  if (bytes == 0) return;
  if (end.receives == BurstDirection::kPull)
    job_.worker(end.worker).on_acknowledged(end.server, bytes, now);
  else job_.server(end.server).on_acknowledged(end.worker, bytes, now);
}

void MltExchange::push(std::uint32_t worker, std::uint32_t piece, Time now) noexcept {
  End& end = pair(worker, job_.pieces()[piece].target).at_worker;
  end.handed_over.push(tensor_of_[piece]);
  hand_over(end, tensor_of_[piece], now);
}

void MltExchange::push_step(std::uint32_t worker, std::uint32_t step, Time now) noexcept {
  hand_over(pair(worker, 0).at_worker, step, now);
}

bool MltExchange::sending(std::uint32_t worker) const noexcept {
  const End& end = pair(worker, 0).at_worker;
  return end.sends && !end.endpoint.sender().complete();
}

void MltExchange::pull(std::uint32_t worker, std::uint32_t piece, Time now) noexcept {
  End& end = pair(worker, job_.pieces()[piece].target).at_server;
  end.handed_over.push(tensor_of_[piece]);
  hand_over(end, tensor_of_[piece], now);
}

void MltExchange::pull_all(std::uint32_t worker, std::uint32_t server, Time now) noexcept {
  for (const std::uint32_t piece : pieces_of_[server]) pull(worker, piece, now);
}

void MltExchange::hand_over(End& end, std::uint32_t tensor, Time now) noexcept {
  end.endpoint.hand_over(tensor, now);
  end.host.changed(end.endpoint, now);
}

std::optional<Time> MltExchange::first_sent_at(std::uint32_t worker, std::uint32_t server,
                                               BurstDirection d) const noexcept {
  return sender(worker, server, d).first_sent_at();
}

void MltExchange::fill(FlowReport& report, std::uint32_t worker, std::uint32_t server,
                       BurstDirection d) const noexcept {
  const MltSender::Counters& c = sender(worker, server, d).counters();
  report.retransmitted += c.retransmitted;
  report.rtos_data += c.timeouts;
  report.ece_reductions += c.reductions;
}

void MltExchange::note_last() noexcept {
  for (auto& p : pairs_) {
    note(p->at_worker);
    note(p->at_server);
  }
}

/// What the sender did since the last call is of the burst that it is sending.
void MltExchange::note(End& end) noexcept {
  if (!end.sends) return;
  const MltSender::Counters& c = end.endpoint.sender().counters();
  BurstRecord& record = job_.burst(end.worker, end.sent.iteration, end.sent.direction);
  record.rtos += static_cast<std::uint32_t>(c.timeouts - end.noted.timeouts);
  record.retransmitted += static_cast<std::uint32_t>(c.retransmitted - end.noted.retransmitted);
  record.lost_bytes += c.lost - end.noted.lost;
  record.unsent_bytes += c.unsent - end.noted.unsent;
  end.noted = c;
}

}  // namespace outrider
