#include "trafficgen/workload/worker.h"

#include <algorithm>
#include <cassert>

#include "common/net/burst_option.h"
#include "trafficgen/policy/make_send_policy.h"
#include "trafficgen/workload/mlt_exchange.h"
#include "trafficgen/workload/ring_member.h"

namespace outrider {

/// The connection to one target: a server, or the right neighbour.
struct Worker::Shard final : ConnectionListener {
  Shard(Worker& w, std::uint32_t s) : worker(w), server(s) {}

  void on_established(TcpConnection&, Time) noexcept override {}
  void on_delivered(TcpConnection& c, Time now) noexcept override {
    if (&c == connection) worker.pulled(*this, now);
  }
  void on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept override {
    if (&c == connection) worker.on_acknowledged(server, bytes, now);
  }
  /// A connection of an earlier burst may close long after a new one has opened.
  void on_closed(TcpConnection& c, Time) noexcept override {
    worker.job_.push_flow(worker.index_, server).on_sender_closed(c.counters());
    if (&c != connection) return;
    note_counters(c);
    connection = nullptr;
    flow = {};
  }

  /// Adds what the connection has done since the last call to the burst's record.
  void note_counters(const TcpConnection& c) noexcept {
    const std::uint64_t rtos = c.counters().rtos_data + c.counters().rtos_handshake;
    BurstRecord& record = worker.record();
    record.rtos += static_cast<std::uint32_t>(rtos - rtos_noted);
    record.retransmitted +=
        static_cast<std::uint32_t>(c.counters().retransmitted - retransmitted_noted);
    rtos_noted = rtos;
    retransmitted_noted = c.counters().retransmitted;
  }

  Worker& worker;
  std::uint32_t server;
  FlowKey flow{};
  TcpConnection* connection = nullptr;
  std::uint64_t pull_base = 0;  ///< bytes delivered on this connection before this iteration's pull
  bool answered = true;         ///< the ACK of the START is here, or none is awaited
  FlowKey pushed_flow{};        ///< of the last burst, and its first byte: for STARTs that
  std::uint32_t pushed_sequence = 0;  ///< leave behind it
  UdpStart start{};                   ///< the last one, for its copies
  std::uint64_t rtos_noted = 0;
  std::uint64_t retransmitted_noted = 0;
};

Worker::Worker(Job& job, std::uint32_t index, Host& host)
    : job_(job),
      index_(index),
      host_(host),
      policy_(make_send_policy(job.setup().config.send_policy, job.send_policy(), job.targets(),
                               job.pieces())) {
  if (job.by_tensor()) forward_.emplace(job.forward_pass());
  shards_.reserve(job.targets());
  for (std::uint32_t s = 0; s < job.targets(); ++s) shards_.emplace_back(*this, s);
  const AnnounceConfig& announce = job.setup().config.announce;
  if (announce.signal_form == SignalForm::kTos) return;
  host.take_signals_at(announce.signal_port);
  for (std::uint32_t s = 0; s < job.targets(); ++s)
    job.target(index, s).take_signals_at(announce.signal_port);
}

Worker::~Worker() = default;

bool Worker::connection_per_burst() const noexcept {
  return job_.tcp().reuse == ConnectionReuse::kNew;
}

BurstRecord& Worker::record() noexcept {
  return job_.burst(index_, iteration_, BurstDirection::kPush);
}

const TcpConnection* Worker::connection(std::uint32_t server) const noexcept {
  return shards_[server].connection;
}

void Worker::start(Time now) {
  if (job_.start_at() > now) return set_timer(kJobStarts, job_.start_at());
  begin_job(now);
}

void Worker::begin_job(Time now) noexcept {
  for (auto& shard : shards_)
    if (!connection_per_burst() && job_.mlt() == nullptr) open(shard, now);
  begin_iteration(0, now);
  if (job_.faults().forges()) set_timer(kForgeryDue, now + job_.faults().forged_gap(index_, 0));
}

/// Chooses the flow if none is chosen yet (a START may have named it before).
void Worker::open(Shard& shard, Time now) noexcept {
  const Job::Setup& setup = job_.setup();
  if (shard.flow == FlowKey{})
    shard.flow = {host_.address(), job_.target(index_, shard.server).address(),
                  host_.allocate_port(), setup.config.tcp_port};
  shard.pull_base = 0;
  shard.rtos_noted = 0;
  shard.retransmitted_noted = 0;
  job_.pull_flow(index_, shard.server).on_new_receiver();
  shard.connection =
      &host_.open(shard.flow, job_.tcp(), kBurstOptionBytes, shard, now, job_.owner(index_));
  if (policy_->needs_acknowledgments()) shard.connection->tell_acknowledged();
}

/// By tensor: when all parameters are there. Its forward pass may have begun before, as
/// soon as those of the first layer were; nothing on the wire depends on it until now.
void Worker::begin_iteration(std::uint32_t iteration, Time now) noexcept {
  const bool overlaps = forward_ && iteration > 0;
  const auto plan = job_.begin(index_, iteration, overlaps ? forward_->first() : now,
                               overlaps ? &*forward_ : nullptr);
  if (!plan) return;
  if (forward_) forward_->begin();
  iteration_ = iteration;
  plan_ = *plan;
  next_piece_ = 0;
  policy_->begin(now);
  policy_wakes_at_ = kNever;
  ready_ = announced_ = answered_ = released_ = false;
  pulls_missing_ = static_cast<std::uint32_t>(shards_.size());
  const auto& config = job_.setup().config;
  BurstRecord& r = record();
  r.identity = {job_.setup().id, static_cast<std::uint16_t>(index_), iteration,
                BurstDirection::kPush};
  r.bytes = job_.push_bytes(index_);
  if (MltExchange* mlt = job_.mlt(); mlt != nullptr && !job_.is_ring()) {
    BurstIdentity pull = r.identity;
    pull.direction = BurstDirection::kPull;
    mlt->expect_pull(pull);
  }
  fault_ = job_.faults().of(index_, iteration);
  if (config.announce.lead_source == LeadSource::kOverlap)
    set_timer(kStartDue,
              std::max(now, job_.ready_at(plan_, 0) - config.announce.lead + fault_.shift));
  set_timer(kGradientsReady, job_.ready_at(plan_, 0));
}

/// Timers carry their iteration: one that was set for an earlier one is stale, but for
/// those of STARTs that are late, copied or forged.
void Worker::set_timer(Tag tag, Time at) noexcept {
  host_.set_timer(*this, iteration_ * kTags + tag, at);
}

void Worker::on_timer(std::uint32_t tag, Time now) noexcept {
  const auto what = static_cast<Tag>(tag % kTags);
  if (what == kStartDue) return on_start_due(tag / kTags, now);
  if (what == kForgeryDue) return forge(now);
  if (what == kCopyDue) return on_copy_due(tag / kTags, now);
  if (tag / kTags != iteration_) return;
  switch (what) {
    case kGradientsReady:
      take_ready(now);
      break;
    case kLeadOver:
      release_if_ready(now);
      break;
    case kAckTimeout:
      if (answered_) break;
      answered_ = true;
      record().ack_timed_out = true;
      job_.on_ack_timeout();
      release_if_ready(now);
      break;
    case kJobStarts:
      begin_job(now);
      break;
    case kPolicyWakes:
      hand_out(now);
      break;
    case kStartDue:
    case kCopyDue:
    case kForgeryDue:
    case kTags:
      break;
  }
}

/// The first gradients make the burst due; those that follow leave behind it.
void Worker::take_ready(Time now) noexcept {
  const auto& pieces = job_.pieces();
  while (next_piece_ < pieces.size() && job_.ready_at(plan_, next_piece_) <= now) {
    const GradientPiece& piece = pieces[next_piece_++];
    policy_->on_ready(piece, next_piece_ == pieces.size(), now);
  }
  if (next_piece_ < pieces.size()) set_timer(kGradientsReady, job_.ready_at(plan_, next_piece_));
  if (released_) return hand_out(now);
  if (!ready_) {
    ready_ = true;
    record().due_ns = now.time_since_epoch().count();
    if (job_.setup().config.announce.lead_source == LeadSource::kWait) {
      if (fault_.shift > Duration::zero()) set_timer(kStartDue, now + fault_.shift);
      else announce(now);
    }
  }
  release_if_ready(now);
}

/// A START that is late may find its burst gone, or even its iteration over.
void Worker::on_start_due(std::uint32_t iteration, Time now) noexcept {
  if (iteration == iteration_ && !released_) announce(now);
  else announce_afterwards(iteration, now);
}

/// START to every server, each naming the first byte of its shard. A connection
/// that does not exist yet has a known flow and initial sequence number.
void Worker::announce(Time now) noexcept {
  const AnnounceConfig& config = job_.setup().config.announce;
  announced_ = true;
  acks_missing_ = static_cast<std::uint32_t>(shards_.size());
  lead_over_at_ = now + config.lead;
  if (!fault_.lost) record().start_sent_ns = now.time_since_epoch().count();
  // A time that was predicted wrongly is told wrongly.
  const Time due_at = fault_.shift == Duration::zero()
                          ? std::max(lead_over_at_, job_.ready_at(plan_, 0))
                          : lead_over_at_;
  for (auto& shard : shards_) {
    const std::uint32_t sequence = name_flow(shard);
    shard.answered = false;
    host_.hear_acks(shard.flow, *this);
    shard.start = start_of(shard.flow, shard.server, record().identity, sequence, due_at);
    send_meant(shard.start, fault_, now);
  }
  begin_copies(iteration_, fault_, now);
  set_timer(kLeadOver, lead_over_at_);
  set_timer(kAckTimeout, now + config.ack_timeout);
}

/// Chooses the flow of the next burst if there is none yet. @return its first byte's place
std::uint32_t Worker::name_flow(Shard& shard) noexcept {
  if (const MltExchange* mlt = job_.mlt()) {
    shard.flow = shard.pushed_flow = mlt->flow(index_, shard.server);
    return shard.pushed_sequence = mlt->next_push_sequence(index_, shard.server);
  }
  if (shard.connection != nullptr) return shard.connection->next_sequence();
  shard.flow = {host_.address(), job_.target(index_, shard.server).address(), host_.allocate_port(),
                job_.setup().config.tcp_port};
  return Host::initial_sequence(shard.flow) + 1;
}

/// The burst has left, and nobody waits for the answers any more.
void Worker::announce_afterwards(std::uint32_t iteration, Time now) noexcept {
  BurstRecord& burst = job_.burst(index_, iteration, BurstDirection::kPush);
  burst.start_sent_ns = now.time_since_epoch().count();
  const SignalFault fault = job_.faults().of(index_, iteration);
  for (auto& shard : shards_) {
    shard.start = start_of(shard.pushed_flow, shard.server, burst.identity, shard.pushed_sequence,
                           now + job_.setup().config.announce.lead);
    send_meant(shard.start, fault, now);
  }
  begin_copies(iteration, fault, now);
}

/// One more START to every server.
void Worker::send_copies(Time now) noexcept {
  for (const auto& shard : shards_) {
    send_start(shard.start, now);
    ++job_.starts().duplicated;
  }
  --copies_left_;
}

void Worker::on_signal_ack(const FlowKey& flow, Time now) noexcept {
  const auto shard = std::ranges::find(shards_, flow, &Shard::flow);
  if (shard == shards_.end() || shard->answered) return;  // late, or a copy
  shard->answered = true;
  host_.forget_acks(flow);
  if (--acks_missing_ > 0) return;
  record().ack_received_ns = now.time_since_epoch().count();
  if (answered_) return;  // timed out before
  answered_ = true;
  release_if_ready(now);
}

void Worker::release_if_ready(Time now) noexcept {
  if (!ready_ || released_ || waits_for_start(now)) return;
  released_ = true;
  push(now);
}

void Worker::push(Time now) noexcept {
  record().released_ns = now.time_since_epoch().count();
  if (MltExchange* mlt = job_.mlt()) {
    for (auto& shard : shards_) (void)name_flow(shard);  // for STARTs that leave behind it
    if (!job_.is_ring()) mlt->begin_push(record().identity, now);
  } else {
    begin_tcp_burst(now);
  }
  if (job_.is_ring()) return job_.ring_member(index_).on_released(now);
  hand_out(now);
}

void Worker::begin_tcp_burst(Time now) noexcept {
  const BurstRecord& r = record();
  BurstLedger ledger(r.identity, Time{Duration{r.due_ns}});
  ledger.advance(now, BurstTime::kSignal);
  const BurstTime idle = job_.is_ring() ? BurstTime::kOthers : BurstTime::kCompute;
  for (auto& shard : shards_) {
    if (shard.connection == nullptr) open(shard, now);
    TcpConnection& connection = *shard.connection;
    shard.rtos_noted = connection.counters().rtos_data + connection.counters().rtos_handshake;
    shard.retransmitted_noted = connection.counters().retransmitted;
    shard.pushed_flow = shard.flow;
    shard.pushed_sequence = connection.next_sequence();
    // A ring's last burst may still be on its way, and its first byte is forgotten from now on.
    if (job_.is_ring() && iteration_ > 0)
      Job::note_first_sent(job_.burst(index_, iteration_ - 1, BurstDirection::kPush),
                           connection.watched_sent_at());
    connection.set_identity(r.identity);
    connection.watch_offset(connection.written_bytes());
    host_.begin_burst(connection, ledger, idle, now);
  }
}

void Worker::hand_out(Time now) noexcept {
  while (const auto segment = policy_->next(now)) {
    if (MltExchange* mlt = job_.mlt()) {
      mlt->push(index_, segment->piece, now);
      continue;
    }
    TcpConnection* connection = shards_[segment->target].connection;
    if (connection == nullptr) continue;
    if (forward_)
      job_.stream(index_, segment->target, BurstDirection::kPush)
          .append(segment->piece, segment->bytes);
    host_.send(*connection, segment->bytes, now);
  }
  if (const Time wake = policy_->wake_at(); wake != kNever && wake != policy_wakes_at_) {
    policy_wakes_at_ = wake;
    set_timer(kPolicyWakes, wake);
  }
  if (next_piece_ < job_.pieces().size() || !connection_per_burst()) return;
  for (auto& shard : shards_)
    if (shard.connection != nullptr) host_.close(*shard.connection, now);
}

void Worker::on_acknowledged(std::uint32_t server, std::uint64_t bytes, Time now) noexcept {
  if (!policy_->needs_acknowledgments()) return;
  policy_->on_acknowledged(server, bytes, now);
  if (released_) hand_out(now);
}

void Worker::send_chunk(std::uint64_t bytes, Time now) noexcept {
  TcpConnection* connection = shards_.front().connection;
  if (connection != nullptr) host_.send(*connection, bytes, now);  // else reset: it never ends
}

void Worker::pulled(Shard& shard, Time now) noexcept {
  TcpConnection& connection = *shard.connection;
  job_.pull_flow(index_, shard.server).on_delivered(connection.delivered_bytes(), now);
  const std::uint64_t bytes = job_.shard_bytes(shard.server);
  if (forward_)
    job_.stream(index_, shard.server, BurstDirection::kPull)
        .deliver(connection.delivered_bytes(), [&](std::uint32_t piece) {
          forward_->on_piece(job_.pieces()[piece].tensor, now);
        });
  if (!released_ || connection.delivered_bytes() - shard.pull_base < bytes) return;
  shard.pull_base += bytes;
  on_shard_pulled(shard.server, now);
}

void Worker::on_pulled(std::uint32_t server, std::uint32_t piece, bool complete,
                       std::span<const ByteRange> missing, Time now) noexcept {
  if (forward_) forward_->on_piece(job_.pieces()[piece].tensor, now);
  if (complete) on_shard_pulled(server, now, missing);
}

void Worker::on_shard_pulled(std::uint32_t server, Time now,
                             std::span<const ByteRange> missing) noexcept {
  job_.on_pull_shard(index_, server, iteration_, now, missing);
  if (--pulls_missing_ == 0) end_iteration(now);
}

void Worker::on_barrier(std::uint32_t iteration, Time now) noexcept {
  assert(iteration == iteration_);
  if (iteration == iteration_) end_iteration(now);
}

void Worker::end_iteration(Time now) noexcept {
  for (auto& shard : shards_) {
    if (shard.connection != nullptr) shard.note_counters(*shard.connection);
    if (connection_per_burst()) {
      shard.connection = nullptr;  // it finishes its FINs without us
      shard.flow = {};
    }
  }
  job_.on_iteration_end(index_, iteration_, forward_ ? forward_->first() : now, now);
  note_nic(job_.iteration(index_, iteration_));
  begin_iteration(iteration_ + 1, now);
}

}  // namespace outrider
