#include "trafficgen/background/capture_player.h"

#include <algorithm>
#include <cassert>

#include "common/net/headers.h"

namespace outrider::tg {

namespace {

/// Headers of a datagram's frame.
constexpr std::uint32_t kDatagramHeaderBytes =
    sizeof(EthernetHeader) + sizeof(Ipv4Header) + sizeof(UdpHeader);

}  // namespace

CapturePlayer::CapturePlayer(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup),
      counts_{{.frames = setup.capture->frames.size()}, setup.name},
      sender_(*this),
      receiver_(*this, goodput) {
  setup_.from->add_endpoint(sender_);
  setup_.to->add_endpoint(receiver_);
}

CapturePlayer::Sender::Sender(CapturePlayer& player)
    : player_(player),
      flow_{player.setup_.from->address(), player.setup_.to->address(), player.setup_.udp_port,
            player.setup_.udp_port},
      due_(player.setup_.start) {
  assert(!player.setup_.capture->frames.empty());
}

void CapturePlayer::Sender::next_datagram(OutgoingDatagram& out, Time now) noexcept {
  const CaptureFrames& capture = *player_.setup_.capture;
  const CaptureFrames::Frame& frame = capture.frames[frame_];
  out.value_bytes = frame.bytes - kDatagramHeaderBytes;
  out.tos = frame.tos;
  CaptureReport& counts = player_.counts_;
  ++counts.sent;
  counts.sent_bytes += frame.bytes;
  counts.latest_ns =
      std::max(counts.latest_ns, static_cast<std::uint64_t>(Duration{now - due_}.count()));
  if (++frame_ == capture.frames.size()) {
    frame_ = 0;
    ++round_;
  }
  const std::uint64_t rounds = player_.setup_.rounds;
  due_ = rounds != 0 && round_ == rounds
             ? kNever
             : player_.setup_.start + capture.period * static_cast<std::int64_t>(round_) +
                   capture.frames[frame_].at;
  told_ = due_ <= now;
}

CapturePlayer::Receiver::Receiver(CapturePlayer& player, GoodputSeries& goodput)
    : player_(player),
      goodput_(goodput),
      flow_{player.setup_.to->address(), player.setup_.from->address(), player.setup_.udp_port,
            player.setup_.udp_port} {}

std::optional<DropReason> CapturePlayer::Receiver::on_datagram(const ReceivedDatagram& datagram,
                                                               Time now) noexcept {
  ++player_.counts_.received;
  player_.counts_.received_bytes += datagram.payload_bytes + kDatagramHeaderBytes;
  goodput_.add(TrafficClass::kBackground, datagram.payload_bytes, now);
  return std::nullopt;
}

}  // namespace outrider::tg
