#include "trafficgen/workload/collective/parameter_server/parameter_server.h"

namespace outrider::tg {

ParameterServer::ParameterServer(const CollectiveSetup& setup, JobRecords& records, Owner& owner)
    : context_{.setup = setup, .records = records, .owner = owner} {
  context_.pieces_of.resize(setup.servers.size());
  for (const GradientPiece& p : setup.pieces) {
    auto& parts = context_.pieces_of[p.target];
    context_.part_of.push_back(static_cast<std::uint32_t>(parts.size()));
    parts.push_back(p.index);
  }
  context_.begins_message.resize(setup.workers.size(),
                                 std::vector<std::uint8_t>(setup.pieces.size(), 0));
  for (std::uint32_t w = 0; w < setup.workers.size(); ++w)
    pushers_.push_back(std::make_unique<Pusher>(context_, w, *setup.workers[w]));
  for (std::uint32_t s = 0; s < setup.servers.size(); ++s)
    servers_.push_back(std::make_unique<Server>(context_, s, *setup.servers[s]));
}

void ParameterServer::plan(ExchangeSetup& setup) const {
  const CollectiveSetup& own = context_.setup;
  setup.targets = static_cast<std::uint32_t>(own.servers.size());
  setup.parts_told = own.by_tensor;
  setup.pushes_acknowledged = pushers_.front()->needs_acknowledgments();
  setup.pulls_acknowledged = servers_.front()->needs_acknowledgments();
  for (std::size_t w = 0; w < own.workers.size(); ++w) {
    for (std::uint32_t s = 0; s < setup.targets; ++s) {
      setup.ends.push_back(own.servers[s]);
      auto& pushes = setup.pushes.emplace_back();
      auto& pulls = setup.pulls.emplace_back();
      for (const std::uint32_t piece : context_.pieces_of[s]) {
        const GradientPiece& p = own.pieces[piece];
        pushes.push_back({.bytes = p.bytes, .layer = p.tensor});
        pulls.push_back({.bytes = p.bytes, .layer = p.tensor, .parameters = true});
      }
    }
  }
}

void ParameterServer::admit(std::uint32_t worker, Time now) noexcept {
  for (auto& server : servers_) server->admit(worker, now);
}

void ParameterServer::add_starts(StartCounts& starts, std::uint64_t& ack_timeouts) const {
  for (const auto& server : servers_) server->add_starts(starts, ack_timeouts);
}

/// Bounded loss reports parts in any case; they matter only if they are answered separately.
void ParameterServer::on_part(const Lane& lane, std::uint32_t part, Time now) noexcept {
  if (!context_.setup.by_tensor) return;
  const std::uint32_t piece = context_.pieces_of[lane.target][part];
  if (lane.direction == BurstDirection::kPush)
    servers_[lane.target]->on_piece(lane.worker, piece, now);
  else context_.owner.on_parameters(lane.worker, context_.setup.pieces[piece].tensor, now);
}

void ParameterServer::on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept {
  if (lane.direction == BurstDirection::kPush) servers_[lane.target]->on_pushed(lane, arrival, now);
  else pushers_[lane.worker]->on_pulled(lane, arrival, now);
}

void ParameterServer::on_acknowledged(const Lane& lane, std::uint64_t bytes, Time now) noexcept {
  if (lane.direction == BurstDirection::kPush)
    pushers_[lane.worker]->on_acknowledged(lane.target, bytes, now);
  else servers_[lane.target]->on_acknowledged(lane.worker, bytes, now);
}

}  // namespace outrider::tg
