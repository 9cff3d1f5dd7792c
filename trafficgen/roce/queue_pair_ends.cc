#include "trafficgen/roce/queue_pair_ends.h"

#include <utility>

#include "common/net/roce.h"
#include "trafficgen/roce/path_mtu.h"
#include "trafficgen/transport/connection/initial_sequence.h"

namespace outrider::tg {

QueuePairEnds make_queue_pair_ends(Host& near, Host& far, std::uint32_t mtu_bytes,
                                   std::uint64_t seed) noexcept {
  const auto first_psn = [seed](const FlowKey& flow) {
    return initial_sequence_of(flow, sequence_key_of(seed)) & roce::kPsnMask;
  };
  QueuePairEnds ends;
  ends.near.path_mtu = path_mtu_of(mtu_bytes);
  ends.near.own_queue_pair = near.allocate_port();
  ends.near.peer_queue_pair = far.allocate_port();
  ends.near.line = near.rate();
  // The source port spreads flows over paths; the number of the queue pair is as good as any.
  ends.near.flow = {near.address(), far.address(), ends.near.own_queue_pair, roce::kPort};
  ends.far = ends.near;
  std::swap(ends.far.own_queue_pair, ends.far.peer_queue_pair);
  ends.far.line = far.rate();
  ends.far.flow = {far.address(), near.address(), ends.far.own_queue_pair, roce::kPort};
  ends.near.first_psn = ends.far.peer_first_psn = first_psn(ends.near.flow);
  ends.far.first_psn = ends.near.peer_first_psn = first_psn(ends.far.flow);
  return ends;
}

}  // namespace outrider::tg
