#include "trafficgen/workload/collective/parameter_server/server.h"

#include <algorithm>

#include "trafficgen/policy/make_send_policy.h"
#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {

namespace {

std::uint32_t pieces_of_shard(const CollectiveSetup& setup, std::uint32_t server) {
  std::uint32_t pieces = 0;
  for (const auto& p : setup.pieces) pieces += p.target == server ? 1 : 0;
  return pieces;
}

}  // namespace

Server::Server(PsContext& context, std::uint32_t index, Host& host)
    : context_(context),
      index_(index),
      host_(host),
      gate_(context.setup.gate),
      inbox_(context.setup.message.server_time > Duration::zero()
                 ? context.setup.workers.size() * pieces_of_shard(context.setup, index)
                 : 0),
      own_pieces_(pieces_of_shard(context.setup, index)) {
  const CollectiveSetup& setup = context.setup;
  const auto workers = static_cast<std::uint32_t>(setup.workers.size());
  peers_.reserve(workers);
  for (std::uint32_t w = 0; w < workers; ++w) peers_.push_back({.worker = w});
  if (setup.pull_starts != nullptr)
    for (auto& peer : peers_)
      peer.announcer = std::make_unique<PullAnnouncer>(context, pull_of(peer), host,
                                                       static_cast<PullAnnouncer::Client&>(*this));
  if (!setup.by_tensor) return;
  arrived_.assign(setup.pieces.size(), 0);
  for (auto& peer : peers_)
    peer.answers = make_answer_policy(setup.send_policy, setup.policy, own_pieces_);
}

void Server::on_pushed(const Lane& push, const BurstArrival& arrival, Time now) noexcept {
  Peer& peer = peers_[push.worker];
  const std::uint32_t iteration = peer.iteration++;
  const CollectiveSetup& setup = context_.setup;
  context_.owner.on_pushed(push, iteration, arrival, now);
  // Without pulls the owner clears workers when all shards have arrived.
  if (!setup.pull) return context_.exchange->end(pull_of(peer), now);
  context_.owner.on_staleness(push.worker, iteration, gate_.on_push(push.worker));
  if (setup.in_turn) return gate_.clear([](std::uint32_t) {});
  gate_.clear([&](std::uint32_t cleared) {
    context_.owner.on_cleared(cleared, peers_[cleared].iteration - 1, now);
    if (setup.by_tensor) return gate_.on_read(cleared);  // its pieces have been answered already
    admit(cleared, now);
  });
}

void Server::admit(std::uint32_t worker, Time now) noexcept {
  announce(peers_[worker], peers_[worker].iteration - 1, now);
  host_.set_timer(*this, worker, now + context_.setup.aggregate);
}

/// The parameters will be there after the time of aggregation.
void Server::announce(Peer& peer, std::uint32_t iteration, Time now) noexcept {
  if (peer.announcer) peer.announcer->begin(iteration, now + context_.setup.aggregate, now);
}

/// @param tag index of the worker, number of workers + index of the piece, or kInbox
void Server::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag == kInbox) return empty_inbox(now);
  if (tag < peers_.size()) return on_due(peers_[tag], peers_[tag].iteration - 1, now);
  answer_piece(tag - static_cast<std::uint32_t>(peers_.size()), now);
}

void Server::on_piece(std::uint32_t worker, std::uint32_t piece, Time now) noexcept {
  const Duration time = context_.setup.message.server_time;
  if (time == Duration::zero()) return gather(piece, now);
  thread_free_at_ = std::max(thread_free_at_, now);
  if (context_.begins_message[worker][piece] != 0) thread_free_at_ += time;
  inbox_.push({piece, thread_free_at_});
  if (inbox_.size() == 1) set_inbox_timer();
}

/// There is one timer, of the oldest piece.
void Server::set_inbox_timer() noexcept { host_.set_timer(*this, kInbox, inbox_.peek().done); }

void Server::empty_inbox(Time now) noexcept {
  while (!inbox_.empty() && inbox_.peek().done <= now) gather(inbox_.pop().piece, now);
  if (!inbox_.empty()) set_inbox_timer();
}

/// One more worker's gradients of the piece are there.
void Server::gather(std::uint32_t piece, Time now) noexcept {
  const auto workers = static_cast<std::uint32_t>(peers_.size());
  if (++arrived_[piece] < workers) return;
  arrived_[piece] = 0;
  if (gathered_pieces_ == 0)
    for (auto& peer : peers_) announce(peer, answered_, now);
  if (++gathered_pieces_ == own_pieces_) gathered_pieces_ = 0;
  host_.set_timer(*this, workers + piece, now + context_.setup.aggregate);
}

/// Answers a piece: all workers' gradients of it are applied. Before the first piece of an
/// iteration, each worker has all answers of the last one; otherwise it could not have pushed.
void Server::answer_piece(std::uint32_t piece, Time now) noexcept {
  const GradientPiece& p = context_.setup.pieces[piece];
  const bool first = answered_pieces_ == 0, last = ++answered_pieces_ == own_pieces_;
  for (auto& peer : peers_) {
    if (!context_.exchange->connected(pull_of(peer))) continue;  // the worker is gone
    if (first) peer.answers->begin(now);
    peer.answers->on_ready({p.tensor, 0, p.bytes, piece}, last, now);
    if (first) on_due(peer, answered_, now);
    else if (!peer.held) hand_out(peer, now);
  }
  if (!last) return;
  for (const auto& peer : peers_) context_.owner.on_answered(pull_of(peer));
  answered_pieces_ = 0;
  ++answered_;
}

void Server::on_acknowledged(std::uint32_t worker, std::uint64_t bytes, Time now) noexcept {
  Peer& peer = peers_[worker];
  if (peer.answers == nullptr || !peer.answers->needs_acknowledgments()) return;
  peer.answers->on_acknowledged(0, bytes, now);
  if (!peer.held) hand_out(peer, now);
}

void Server::hand_out(Peer& peer, Time now) noexcept {
  while (const auto segment = peer.answers->next(now))
    context_.exchange->hand_over(pull_of(peer), context_.part_of[segment->piece], segment->bytes,
                                 now);
}

/// Parameters for the worker are there, all of them or by tensor the first. Its next push waits for
/// them.
void Server::on_due(Peer& peer, std::uint32_t iteration, Time now) noexcept {
  BurstRecord& r = context_.records.burst(peer.worker, iteration, BurstDirection::kPull);
  r.identity = context_.pull_identity(peer.worker, iteration);
  r.bytes = context_.setup.burst_bytes;
  if (r.due_ns == kNotYet_ns) r.due_ns = now.time_since_epoch().count();
  peer.answers_iteration = iteration;
  peer.due_at = now;
  peer.held = true;
  if (peer.announcer) peer.announcer->on_due(now);
  release_unless_held(peer, now);
}

void Server::on_pull_hold_ended(std::uint32_t worker, Time now) noexcept {
  if (peers_[worker].held) release_unless_held(peers_[worker], now);
}

/// Sends the parameters as they are now, unless their START holds them.
void Server::release_unless_held(Peer& peer, Time now) noexcept {
  if (peer.announcer && peer.announcer->holds(now)) return;
  peer.held = false;
  if (peer.announcer) peer.announcer->on_released();
  if (context_.setup.by_tensor) {
    begin_pull(peer, now);
    return hand_out(peer, now);
  }
  gate_.on_read(peer.worker);
  context_.owner.on_answered(pull_of(peer));
  begin_pull(peer, now);
  context_.exchange->hand_over_all(pull_of(peer), now);
  context_.exchange->end(pull_of(peer), now);
}

/// Begins a pull, whose first bytes are about to be handed over.
void Server::begin_pull(const Peer& peer, Time now) noexcept {
  BurstRecord& r =
      context_.records.burst(peer.worker, peer.answers_iteration, BurstDirection::kPull);
  if (r.released_ns == kNotYet_ns) r.released_ns = now.time_since_epoch().count();
  // The first server to answer makes the pull due. Later servers waited for other workers' pushes.
  BurstLedger ledger(r.identity, Time{Duration{r.due_ns}});
  ledger.advance(peer.due_at, BurstTime::kOthers);
  ledger.advance(now, BurstTime::kSignal);
  context_.exchange->begin_pull(ledger, index_, now);
}

void Server::add_starts(StartCounts& starts, std::uint64_t& ack_timeouts) const {
  for (const auto& peer : peers_) {
    if (!peer.announcer) continue;
    const BurstAnnouncer& announcer = peer.announcer->announcer();
    ack_timeouts += announcer.timeouts();
    starts += announcer.counts();
  }
}

}  // namespace outrider::tg
