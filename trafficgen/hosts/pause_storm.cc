#include "trafficgen/hosts/pause_storm.h"

#include <cassert>

#include "common/dpdk/packet/known_headers.h"
#include "common/net/pause_frame.h"
#include "trafficgen/frames/frame.h"

namespace outrider::tg {

void PauseStorm::write(Packet& packet, std::uint32_t address) noexcept {
  assert(waits_);
  waits_ = false;
  packet.data_len = kPauseFrameBytes;
  packet.pkt_len = kPauseFrameBytes;
  forget_headers(packet);
  meta(packet) = PacketMeta{};
  meta(packet).frame_bytes = kPauseFrameBytes;
  PauseFrame frame;
  frame.set(priority_, kLongestPause_quanta);
  encode(frame, mac_of(address), buffer(packet));
}

}  // namespace outrider::tg
