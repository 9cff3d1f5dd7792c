#include "trafficgen/workload/exchange/tcp/tcp_pair.h"

namespace outrider::tg {

void TcpPair::open(Time now) noexcept {
  at_target.pushes.expect_restart();
  at_worker.open(now);
}

/// The flow and initial sequence number of a connection are known before it is opened.
BurstPlace TcpPair::next_place(BurstDirection direction) noexcept {
  if (const TcpConnection* connection = sender(direction))
    return {connection->flow(), connection->stream().next_sequence()};
  if (direction == BurstDirection::kPull) return {};
  at_worker.choose_flow();
  const FlowKey& flow = at_worker.flow;
  return {flow, at_worker.host.connections().initial_sequence(flow) + 1};
}

FlowKey TcpPair::flow(BurstDirection direction) const noexcept {
  if (direction == BurstDirection::kPush) return at_worker.flow;
  return at_target.connection == nullptr ? FlowKey{} : at_target.connection->flow();
}

void TcpPair::begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept {
  if (at_worker.connection == nullptr) open(now);
  at_worker.begin_push(burst, idle, now);
}

/// Returns whether what the connection sends will be taken. A target may still have a connection
/// that its worker has given up and opened again.
bool TcpPair::heard(BurstDirection direction, const TcpConnection& sender) const noexcept {
  return direction == BurstDirection::kPush || at_worker.flow == sender.flow().reversed();
}

void TcpPair::hand_over(BurstDirection direction, std::uint32_t part, std::uint64_t bytes,
                        Time now) noexcept {
  TcpConnection* connection = sender(direction);
  if (connection == nullptr) return;
  TcpIncoming& receiver = direction == BurstDirection::kPush ? at_target.pushes : at_worker.pulls;
  if (heard(direction, *connection)) receiver.append(part, bytes);
  sending_host(direction).send(*connection, bytes, now);
}

void TcpPair::end(BurstDirection direction, Time now) noexcept {
  TcpConnection* connection = sender(direction);
  if (connection != nullptr && connection_per_burst(at_worker.context.setup))
    sending_host(direction).close(*connection, now);
}

}  // namespace outrider::tg
