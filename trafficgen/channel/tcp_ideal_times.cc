#include "trafficgen/channel/tcp_ideal_times.h"

#include <algorithm>
#include <utility>

#include "common/net/headers.h"

namespace outrider::tg {

std::uint64_t wire_bytes_of_stream(std::uint64_t bytes, std::uint32_t mss_bytes) noexcept {
  constexpr std::uint64_t kHeaderBytes = sizeof(EthernetHeader) + kIpAndTcpBytes;
  const std::uint64_t full = bytes / mss_bytes, rest = bytes % mss_bytes;
  std::uint64_t wire = full * (mss_bytes + kHeaderBytes + kL1OverheadBytes);
  if (rest != 0)
    wire += std::max<std::uint64_t>(rest + kHeaderBytes, kMinFrameBytes) + kL1OverheadBytes;
  return wire;
}

TcpIdealTimes::TcpIdealTimes(ChannelHosts hosts, std::uint32_t mss_bytes)
    : hosts_(std::move(hosts)), mss_bytes_(mss_bytes), shortest_(hosts_.pairs()) {}

void TcpIdealTimes::on_handshake(HostPair pair, std::int64_t took_ns) noexcept {
  std::int64_t& shortest = shortest_[hosts_.index_of(pair)].handshake_ns;
  shortest = std::min(shortest, took_ns);
}

std::optional<std::int64_t> TcpIdealTimes::ideal_ns(const FlowTimes& flow) noexcept {
  const std::int64_t frames = frames_ns(wire_bytes_of_stream(flow.bytes, mss_bytes_),
                                        hosts_.near(flow.pair), hosts_.far(flow.pair));
  // A handshake that waited in a queue says too much of a way on which the data did not.
  Shortest& shortest = shortest_[hosts_.index_of(flow.pair)];
  const std::int64_t left = std::max<std::int64_t>(flow.took_ns - flow.handshake_ns - frames, 0);
  shortest.way_ns = std::min({shortest.way_ns, shortest.handshake_ns / 2, left});
  return shortest.handshake_ns + shortest.way_ns + frames;
}

}  // namespace outrider::tg
