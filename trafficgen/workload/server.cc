#include "trafficgen/workload/server.h"

#include <algorithm>
#include <cassert>

#include "common/net/burst_option.h"

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
  void on_closed(TcpConnection& c, Time) noexcept override {
    server.job_.pull_flow(worker, server.index_).on_sender_closed(c.counters());
    if (&c == connection) connection = nullptr;
  }

  Server& server;
  std::uint32_t worker;
  TcpConnection* connection = nullptr;
  std::uint64_t push_base = 0;  ///< bytes delivered on this connection before the current push
  std::uint32_t iteration = 0;  ///< of the current push
};

Server::Server(Job& job, std::uint32_t index, Host& host) : job_(job), index_(index), host_(host) {
  const auto workers = static_cast<std::uint32_t>(job.setup().workers.size());
  peers_.reserve(workers);
  for (std::uint32_t w = 0; w < workers; ++w) peers_.emplace_back(*this, w);
  pushes_missing_ = workers;
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
  return {.config = &job_.tcp(), .listener = peer, .option_bytes = kBurstOptionBytes};
}

void Server::on_accepted(TcpConnection& connection) noexcept {
  Peer* peer = peer_of(connection.flow().destination_address);
  peer->connection = &connection;
  peer->push_base = 0;
  job_.push_flow(peer->worker, index_).on_new_receiver();
}

void Server::pushed(Peer& peer, Time now) noexcept {
  const std::uint64_t bytes = job_.shard_bytes(index_);
  if (peer.connection->delivered_bytes() - peer.push_base < bytes) return;
  peer.push_base += bytes;
  const std::uint32_t iteration = peer.iteration++;
  TcpConnection* connection = peer.connection;
  job_.on_push_shard(peer.worker, index_, iteration, now);
  const auto& config = job_.setup().config;
  if (!config.pull && job_.tcp().reuse == ConnectionReuse::kNew) host_.close(*connection, now);
  if (--pushes_missing_ > 0) return;
  pushes_missing_ = static_cast<std::uint32_t>(peers_.size());
  iteration_ = iteration;
  if (config.pull) host_.set_timer(*this, iteration, now + config.aggregate);
}

void Server::on_timer(std::uint32_t /*tag*/, Time now) noexcept { broadcast(now); }

void Server::broadcast(Time now) noexcept {
  const auto now_ns = now.time_since_epoch().count();
  for (auto& peer : peers_) {
    BurstRecord& r = job_.burst(peer.worker, iteration_, BurstDirection::kPull);
    r.identity = {job_.setup().id, static_cast<std::uint16_t>(peer.worker), iteration_,
                  BurstDirection::kPull};
    r.bytes = job_.setup().burst_bytes;
    if (r.due_ns == kNotYet_ns) r.due_ns = r.released_ns = now_ns;
    if (peer.connection == nullptr) continue;  // the worker is gone: its burst stays incomplete
    peer.connection->set_identity(r.identity);
    peer.connection->watch_offset(peer.connection->written_bytes());
    host_.send(*peer.connection, job_.shard_bytes(index_), now);
    if (job_.tcp().reuse == ConnectionReuse::kNew) host_.close(*peer.connection, now);
  }
}

}  // namespace outrider
