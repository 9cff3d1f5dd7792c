#include "trafficgen/workload/worker.h"

#include <algorithm>
#include <cassert>

#include "common/net/burst_option.h"
#include "trafficgen/policy/make_send_policy.h"
#include "trafficgen/workload/mlt_exchange.h"
#include "trafficgen/workload/ring_member.h"

namespace outrider {

namespace {

BurstAnnouncer::Setup announcer_setup(const Job& job, std::uint32_t worker) {
  const JobConfig& config = job.setup().config;
  BurstAnnouncer::Setup setup{
      .config = config.announce, .worker = worker, .tcp_port = config.tcp_port};
  for (std::uint32_t t = 0; t < job.targets(); ++t)
    setup.targets.push_back(
        {&job.target(worker, t), job.is_ring() ? job.push_bytes(worker) : job.shard_bytes(t)});
  return setup;
}

}  // namespace

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
    forget_flow();
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

  void forget_flow() noexcept {
    flow = {};
    worker.announcer_.forget(server);
  }

  Worker& worker;
  std::uint32_t server;
  FlowKey flow{};
  TcpConnection* connection = nullptr;
  std::uint64_t pull_base = 0;  ///< bytes delivered on this connection before this iteration's pull
  std::uint64_t rtos_noted = 0;
  std::uint64_t retransmitted_noted = 0;
};

Worker::Worker(Job& job, std::uint32_t index, Host& host)
    : job_(job),
      index_(index),
      host_(host),
      announcer_(announcer_setup(job, index), job.faults(), host, *this),
      policy_(make_send_policy(job.setup().config.send_policy, job.send_policy(), job.targets(),
                               job.pieces())) {
  if (job.by_tensor()) forward_.emplace(job.forward_pass());
  shards_.reserve(job.targets());
  for (std::uint32_t s = 0; s < job.targets(); ++s) shards_.emplace_back(*this, s);
}

Worker::~Worker() = default;

bool Worker::connection_per_burst() const noexcept {
  return job_.tcp().reuse == ConnectionReuse::kNew;
}

BurstRecord& Worker::burst(std::uint32_t iteration) noexcept {
  return job_.burst(index_, iteration, BurstDirection::kPush);
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
  announcer_.start(now);
}

void Worker::open(Shard& shard, Time now) noexcept {
  (void)next_place(shard.server);  // a START may have named its flow before
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
  ready_ = released_ = false;
  pulls_missing_ = static_cast<std::uint32_t>(shards_.size());
  BurstRecord& r = record();
  r.identity = {job_.setup().id, static_cast<std::uint16_t>(index_), iteration,
                BurstDirection::kPush};
  r.bytes = job_.push_bytes(index_);
  if (MltExchange* mlt = job_.mlt(); mlt != nullptr && !job_.is_ring()) {
    BurstIdentity pull = r.identity;
    pull.direction = BurstDirection::kPull;
    mlt->expect_pull(pull);
  }
  announcer_.begin(iteration, job_.ready_at(plan_, 0), now);
  set_timer(kGradientsReady, job_.ready_at(plan_, 0));
}

/// Timers carry their iteration: one that was set for an earlier one is stale.
void Worker::set_timer(Tag tag, Time at) noexcept {
  host_.set_timer(*this, iteration_ * kTags + tag, at);
}

void Worker::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag / kTags != iteration_) return;
  switch (static_cast<Tag>(tag % kTags)) {
    case kGradientsReady:
      take_ready(now);
      break;
    case kJobStarts:
      begin_job(now);
      break;
    case kPolicyWakes:
      hand_out(now);
      break;
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
    announcer_.on_ready(now);
  }
  release_if_ready(now);
}

/// A connection that does not exist yet has a known flow and initial sequence number.
BurstPlace Worker::next_place(std::uint32_t target) noexcept {
  if (const MltExchange* mlt = job_.mlt())
    return {mlt->flow(index_, target), mlt->next_push_sequence(index_, target)};
  Shard& shard = shards_[target];
  if (shard.connection != nullptr) return {shard.flow, shard.connection->next_sequence()};
  if (shard.flow == FlowKey{})
    shard.flow = {host_.address(), job_.target(index_, target).address(), host_.allocate_port(),
                  job_.setup().config.tcp_port};
  return {shard.flow, Host::initial_sequence(shard.flow) + 1};
}

void Worker::release_if_ready(Time now) noexcept {
  if (!ready_ || released_ || announcer_.holds(now)) return;
  released_ = true;
  push(now);
}

void Worker::push(Time now) noexcept {
  record().released_ns = now.time_since_epoch().count();
  announcer_.on_released();
  if (MltExchange* mlt = job_.mlt()) {
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
      shard.forget_flow();
    }
  }
  job_.on_iteration_end(index_, iteration_, forward_ ? forward_->first() : now, now);
  note_nic(job_.iteration(index_, iteration_));
  begin_iteration(iteration_ + 1, now);
}

}  // namespace outrider
