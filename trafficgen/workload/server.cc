#include "trafficgen/workload/server.h"

#include <algorithm>
#include <cassert>

#include "common/net/burst_option.h"
#include "trafficgen/policy/make_send_policy.h"
#include "trafficgen/workload/mlt_exchange.h"

namespace outrider {

/// The connection from one worker.
struct Server::Peer final : ConnectionListener {
  Peer(Server& s, std::uint32_t w) : server(s), worker(w) {}

  void on_established(TcpConnection&, Time) noexcept override {}
  void on_delivered(TcpConnection& c, Time now) noexcept override {
    if (&c != connection) return;
    server.job_.push_flow(worker, server.index_).on_delivered(c.delivered_bytes(), now);
    server.pushed(*this, now);
  }
  void on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept override {
    if (&c == connection) server.on_acknowledged(worker, bytes, now);
  }
  void on_closed(TcpConnection& c, Time) noexcept override {
    server.job_.pull_flow(worker, server.index_).on_sender_closed(c.counters());
    if (&c == connection) connection = nullptr;
  }

  Server& server;
  std::uint32_t worker;
  TcpConnection* connection = nullptr;
  std::uint64_t push_base = 0;  ///< bytes delivered on this connection before the current push
  std::uint32_t iteration = 0;  ///< of the current push
  std::unique_ptr<SendPolicy> answers{};  ///< by tensor
};

Server::Server(Job& job, std::uint32_t index, Host& host)
    : job_(job), index_(index), host_(host), gate_(job.gate()) {
  const auto workers = static_cast<std::uint32_t>(job.setup().workers.size());
  peers_.reserve(workers);
  for (std::uint32_t w = 0; w < workers; ++w) peers_.emplace_back(*this, w);
  if (!job.by_tensor()) return;
  arrived_.assign(job.pieces().size(), 0);
  for (const auto& p : job.pieces()) own_pieces_ += p.target == index ? 1 : 0;
  const JobConfig& config = job.setup().config;
  for (auto& peer : peers_)
    peer.answers = make_answer_policy(config.send_policy, config.policy, own_pieces_);
}

Server::~Server() = default;

void Server::start() { host_.listen(job_.setup().config.tcp_port, *this); }

const TcpConnection* Server::connection(std::uint32_t worker) const noexcept {
  return peers_[worker].connection;
}

Server::Peer* Server::peer_of(std::uint32_t address) noexcept {
  const auto& workers = job_.setup().workers;
  const auto it = std::ranges::find(workers, address, [](const Host* h) { return h->address(); });
  return it == workers.end() ? nullptr : &peers_[static_cast<std::size_t>(it - workers.begin())];
}

Acceptor::Offer Server::accept(const FlowKey& flow) noexcept {
  Peer* peer = peer_of(flow.source_address);
  if (peer == nullptr) return {};
  return {.config = &job_.tcp(),
          .listener = peer,
          .option_bytes = kBurstOptionBytes,
          .owner = job_.owner(peer->worker),
          .nic_class = job_.nic_class(index_)};
}

void Server::on_accepted(TcpConnection& connection) noexcept {
  Peer* peer = peer_of(connection.flow().destination_address);
  peer->connection = &connection;
  peer->push_base = 0;
  if (peer->answers && peer->answers->needs_acknowledgments()) connection.tell_acknowledged();
  job_.push_flow(peer->worker, index_).on_new_receiver();
}

void Server::pushed(Peer& peer, Time now) noexcept {
  if (job_.by_tensor()) take_pieces(peer, now);
  const std::uint64_t bytes = job_.shard_bytes(index_);
  if (peer.connection->delivered_bytes() - peer.push_base < bytes) return;
  peer.push_base += bytes;
  on_shard_pushed(peer, now);
}

void Server::on_pushed(std::uint32_t worker, std::uint32_t piece, bool complete,
                       std::span<const ByteRange> missing, Time now) noexcept {
  if (job_.by_tensor()) on_piece(piece, now);
  if (complete) on_shard_pushed(peers_[worker], now, missing);
}

void Server::on_shard_pushed(Peer& peer, Time now, std::span<const ByteRange> missing) noexcept {
  const std::uint32_t iteration = peer.iteration++;
  TcpConnection* connection = peer.connection;
  job_.on_push_shard(peer.worker, index_, iteration, now, missing);
  const auto& config = job_.setup().config;
  if (!config.pull && job_.tcp().reuse == ConnectionReuse::kNew && connection != nullptr)
    host_.close(*connection, now);
  if (!config.pull) return;  // the job clears workers when all shards are there
  job_.on_staleness(peer.worker, iteration, gate_.on_push(peer.worker));
  if (job_.in_turn()) return gate_.clear([](std::uint32_t) {});
  gate_.clear([&](std::uint32_t worker) {
    job_.on_cleared(worker, peers_[worker].iteration - 1, now);
    if (job_.by_tensor()) return gate_.on_read(worker);  // its pieces are answered already
    host_.set_timer(*this, worker, now + config.aggregate);
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

void Server::take_pieces(Peer& peer, Time now) noexcept {
  job_.stream(peer.worker, index_, BurstDirection::kPush)
      .deliver(peer.connection->delivered_bytes(),
               [&](std::uint32_t piece) { on_piece(piece, now); });
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
    if (peer.connection == nullptr && job_.mlt() == nullptr) continue;  // the worker is gone
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
  while (const auto segment = peer.answers->next(now)) {
    if (MltExchange* mlt = job_.mlt()) {
      mlt->pull(peer.worker, segment->piece, now);
      continue;
    }
    job_.stream(peer.worker, index_, BurstDirection::kPull).append(segment->piece, segment->bytes);
    host_.send(*peer.connection, segment->bytes, now);
  }
}

void Server::answer(Peer& peer, Time now) noexcept {
  gate_.on_read(peer.worker);
  job_.on_answered(peer.worker, index_);
  begin_pull(peer, peer.iteration - 1, now);  // its next push waits for this answer
  if (MltExchange* mlt = job_.mlt()) return mlt->pull_all(peer.worker, index_, now);
  if (peer.connection == nullptr) return;  // the worker is gone: its burst stays incomplete
  host_.send(*peer.connection, job_.shard_bytes(index_), now);
  if (job_.tcp().reuse == ConnectionReuse::kNew) host_.close(*peer.connection, now);
}

/// The first bytes of the pull are about to be handed out.
void Server::begin_pull(Peer& peer, std::uint32_t iteration, Time now) noexcept {
  const auto now_ns = now.time_since_epoch().count();
  BurstRecord& r = job_.burst(peer.worker, iteration, BurstDirection::kPull);
  r.identity = {job_.setup().id, static_cast<std::uint16_t>(peer.worker), iteration,
                BurstDirection::kPull};
  r.bytes = job_.setup().burst_bytes;
  if (r.due_ns == kNotYet_ns) r.due_ns = r.released_ns = now_ns;
  if (MltExchange* mlt = job_.mlt()) return mlt->begin_pull(r.identity, index_, now);
  if (peer.connection == nullptr) return;  // the worker is gone: its burst stays incomplete
  peer.connection->set_identity(r.identity);
  peer.connection->watch_offset(peer.connection->written_bytes());
  // The first server to answer makes the pull due; later ones waited for others' pushes.
  BurstLedger ledger(r.identity, Time{Duration{r.due_ns}});
  ledger.advance(now, BurstTime::kOthers);
  host_.begin_burst(*peer.connection, ledger, BurstTime::kOthers, now);
}

}  // namespace outrider
