#include "trafficgen/workload/server.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/policy/make_send_policy.h"

namespace outrider {

Server::Server(Job& job, std::uint32_t index, Host& host)
    : job_(job), index_(index), host_(host), gate_(job.gate()) {
  const auto workers = static_cast<std::uint32_t>(job.setup().workers.size());
  peers_.reserve(workers);
  for (std::uint32_t w = 0; w < workers; ++w) peers_.push_back({.worker = w});
  if (!job.by_tensor()) return;
  arrived_.assign(job.pieces().size(), 0);
  for (const auto& p : job.pieces()) own_pieces_ += p.target == index ? 1 : 0;
  const JobConfig& config = job.setup().config;
  for (auto& peer : peers_)
    peer.answers = make_answer_policy(config.send_policy, config.policy, own_pieces_);
}

Server::~Server() = default;

void Server::on_pushed(std::uint32_t worker, const BurstArrival& arrival, Time now) noexcept {
  Peer& peer = peers_[worker];
  const std::uint32_t iteration = peer.iteration++;
  job_.on_push_shard(worker, index_, iteration, arrival, now);
  const auto& config = job_.setup().config;
  // Without pulls the job clears workers when all shards are there.
  if (!config.pull) return job_.exchange().end(pull_of(peer), now);
  job_.on_staleness(worker, iteration, gate_.on_push(worker));
  if (job_.in_turn()) return gate_.clear([](std::uint32_t) {});
  gate_.clear([&](std::uint32_t cleared) {
    job_.on_cleared(cleared, peers_[cleared].iteration - 1, now);
    if (job_.by_tensor()) return gate_.on_read(cleared);  // its pieces are answered already
    host_.set_timer(*this, cleared, now + config.aggregate);
  });
}

void Server::admit(std::uint32_t worker, Time now) noexcept {
  host_.set_timer(*this, worker, now + job_.setup().config.aggregate);
}

/// @param tag the worker, or behind these the piece
void Server::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag < peers_.size()) return answer(peers_[tag], now);
  answer_piece(tag - static_cast<std::uint32_t>(peers_.size()), now);
}

/// One more worker's gradients of the piece are there.
void Server::on_piece(std::uint32_t piece, Time now) noexcept {
  const auto workers = static_cast<std::uint32_t>(peers_.size());
  if (++arrived_[piece] < workers) return;
  arrived_[piece] = 0;
  host_.set_timer(*this, workers + piece, now + job_.setup().config.aggregate);
}

/// All workers' gradients of the piece are applied. Before the first piece of an
/// iteration each worker has all answers of the last: it could not have pushed else.
void Server::answer_piece(std::uint32_t piece, Time now) noexcept {
  const GradientPiece& p = job_.pieces()[piece];
  const bool first = answered_pieces_ == 0, last = ++answered_pieces_ == own_pieces_;
  for (auto& peer : peers_) {
    if (!job_.exchange().connected(pull_of(peer))) continue;  // the worker is gone
    if (first) {
      begin_pull(peer, answered_, now);
      peer.answers->begin(now);
    }
    peer.answers->on_ready({p.tensor, 0, p.bytes, piece}, last, now);
    hand_out(peer, now);
  }
  if (!last) return;
  for (const auto& peer : peers_) job_.on_answered(peer.worker, index_);
  answered_pieces_ = 0;
  ++answered_;
}

void Server::on_acknowledged(std::uint32_t worker, std::uint64_t bytes, Time now) noexcept {
  Peer& peer = peers_[worker];
  if (peer.answers == nullptr || !peer.answers->needs_acknowledgments()) return;
  peer.answers->on_acknowledged(0, bytes, now);
  hand_out(peer, now);
}

void Server::hand_out(Peer& peer, Time now) noexcept {
  while (const auto segment = peer.answers->next(now))
    job_.exchange().hand_over(pull_of(peer), job_.part_of(segment->piece), segment->bytes, now);
}

void Server::answer(Peer& peer, Time now) noexcept {
  gate_.on_read(peer.worker);
  job_.on_answered(peer.worker, index_);
  begin_pull(peer, peer.iteration - 1, now);  // its next push waits for this answer
  job_.exchange().hand_over_all(pull_of(peer), now);
  job_.exchange().end(pull_of(peer), now);
}

/// The first bytes of the pull are about to be handed out.
void Server::begin_pull(const Peer& peer, std::uint32_t iteration, Time now) noexcept {
  const auto now_ns = now.time_since_epoch().count();
  BurstRecord& r = job_.records().burst(peer.worker, iteration, BurstDirection::kPull);
  r.identity = {job_.setup().id, static_cast<std::uint16_t>(peer.worker), iteration,
                BurstDirection::kPull};
  r.bytes = job_.setup().burst_bytes;
  if (r.due_ns == kNotYet_ns) r.due_ns = r.released_ns = now_ns;
  // The first server to answer makes the pull due; later ones waited for others' pushes.
  BurstLedger ledger(r.identity, Time{Duration{r.due_ns}});
  ledger.advance(now, BurstTime::kOthers);
  job_.exchange().begin_pull(ledger, index_, now);
}

}  // namespace outrider
