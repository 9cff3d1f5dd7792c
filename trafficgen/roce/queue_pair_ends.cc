#include "trafficgen/roce/queue_pair_ends.h"

#include "common/net/roce.h"
#include "trafficgen/frames/roce_key.h"
#include "trafficgen/roce/path_mtu.h"
#include "trafficgen/transport/connection/initial_sequence.h"

namespace outrider::tg {

namespace {

/// The source port spreads flows over paths; the number of the queue pair is as good as any.
FlowKey flow_of(const Host& host, std::uint32_t peer_address, std::uint16_t queue_pair) noexcept {
  return {host.address(), peer_address, queue_pair, roce::kPort};
}

/// Returns the host's next number that no queue pair to that peer has: numbers repeat, and
/// connections of TCP take some of them. @pre the host has fewer queue pairs than numbers
std::uint16_t next_number(Host& host, std::uint32_t peer_address) noexcept {
  std::uint16_t number = host.ports().next();
  while (host.datagrams().has(roce_key(host.address(), peer_address, number)))
    number = host.ports().next();
  return number;
}

}  // namespace

QueuePair::Setup queue_pair_end(const Host& host, std::uint32_t peer_address,
                                const QueuePairNumbers& numbers) noexcept {
  QueuePair::Setup setup;
  setup.flow = flow_of(host, peer_address, numbers.own);
  setup.path_mtu = path_mtu_of(host.setup().mtu_bytes);
  setup.own_queue_pair = numbers.own;
  setup.peer_queue_pair = numbers.peer;
  setup.first_psn = numbers.own_first_psn;
  setup.peer_first_psn = numbers.peer_first_psn;
  setup.peer_key = numbers.peer_key;
  setup.peer_address = numbers.peer_address;
  setup.line = host.setup().rate;
  return setup;
}

QueuePairEnds make_queue_pair_ends(Host& near, Host& far, std::uint32_t mtu_bytes,
                                   std::uint64_t seed) noexcept {
  const auto first_psn = [seed](const FlowKey& flow) {
    return initial_sequence_of(flow, sequence_key_of(seed)) & roce::kPsnMask;
  };
  QueuePairEnds ends;
  ends.near.path_mtu = ends.far.path_mtu = path_mtu_of(mtu_bytes);
  ends.near.own_queue_pair = next_number(near, far.address());
  ends.far.own_queue_pair = next_number(far, near.address());
  ends.near.peer_queue_pair = ends.far.own_queue_pair;
  ends.far.peer_queue_pair = ends.near.own_queue_pair;
  ends.near.line = near.setup().rate;
  ends.far.line = far.setup().rate;
  ends.near.flow = flow_of(near, far.address(), ends.near.own_queue_pair);
  ends.far.flow = flow_of(far, near.address(), ends.far.own_queue_pair);
  ends.near.first_psn = ends.far.peer_first_psn = first_psn(ends.near.flow);
  ends.far.first_psn = ends.near.peer_first_psn = first_psn(ends.far.flow);
  return ends;
}

}  // namespace outrider::tg
