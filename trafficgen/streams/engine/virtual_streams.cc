#include "trafficgen/streams/engine/virtual_streams.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "common/config/config_result.h"

namespace outrider::tg {
namespace {

std::uint64_t ticks_at(Time now) noexcept {
  return static_cast<std::uint64_t>(now.time_since_epoch().count());
}

/// Makes one device per stream and per pause, so that each has its own wire.
StreamEngine::Setup setup_of(std::vector<StreamConfig> streams, std::vector<PauseConfig> pauses,
                             const std::vector<StreamDevice>& devices, std::uint64_t seed,
                             std::optional<Duration> duration) {
  ConfigIssues issues;
  check_line_rates(Checks(issues), streams, devices);
  if (!issues.empty()) throw std::runtime_error(format_issues("streams", issues));
  StreamEngine::Setup setup{.streams = {}, .devices = {}, .seed = seed, .duration = duration};
  const auto add_device = [&](const std::string& like) {
    const auto device = std::ranges::find(devices, like, &StreamDevice::name);
    const std::string name = std::to_string(setup.devices.size());
    setup.devices.push_back({name, device == devices.end() ? BitRate{} : device->line_rate});
    return name;
  };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    StreamConfig& s = streams[i];
    s.id = id_of(s, i);
    const std::string name = add_device(s.device);
    if (!s.device.empty()) s.device = name;
    if (!s.receive_device.empty()) s.receive_device = name;
  }
  for (PauseConfig& pause : pauses) pause.device = add_device(pause.device);
  setup.streams = std::move(streams);
  setup.pauses = std::move(pauses);
  return setup;
}

std::vector<std::uint16_t> head_bytes_of(const std::vector<StreamConfig>& streams,
                                         std::size_t pauses) {
  std::vector<std::uint16_t> bytes;
  bytes.reserve(streams.size());
  for (const auto& s : streams)
    bytes.push_back(
        static_cast<std::uint16_t>(kStreamHeadBytes + s.hops * hop_trace::kRecordBytes));
  static_assert(kStreamHeadBytes + hop_trace::kMaxRecords * hop_trace::kRecordBytes <=
                kHeaderRoomBytes);
  bytes.resize(streams.size() + pauses, std::uint16_t{kPauseFrameBytes});
  return bytes;
}

}  // namespace

VirtualStreams::VirtualStreams(const std::vector<StreamConfig>& streams,
                               const std::vector<StreamDevice>& devices, std::uint64_t seed,
                               std::optional<Duration> duration, EventLoop& loop, rte_mempool& pool,
                               const std::vector<PauseConfig>& pauses)
    : loop_(loop),
      id_(loop.add(*this)),
      streams_(streams.size()),
      wires_{.links = std::vector<Link*>(streams.size() + pauses.size()),
             .head_bytes = head_bytes_of(streams, pauses.size())},
      engine_(setup_of(streams, pauses, devices, seed, duration), pool) {}

std::uint16_t VirtualStreams::Wire::tx(Packet** packets, std::uint16_t n) const noexcept {
  assert(link != nullptr);
  for (std::uint16_t i = 0; i < n; ++i) {
    Packet& packet = *packets[i];
    PacketMeta& m = meta(packet);
    m = PacketMeta{};
    m.frame_bytes = rte_pktmbuf_pkt_len(&packet);
    // The buffer holds only the head; the zeros of the payload are implied.
    packet.data_len = std::min(packet.data_len, head_bytes);
    packet.pkt_len = packet.data_len;
    link->push(&packet, now);
  }
  return n;
}

Time VirtualStreams::fire(Time now) noexcept {
  wires_.now = now;
  engine_.send(wires_, {now, ticks_at(now)});
  return engine_.next();
}

bool VirtualStreams::take(Packet* packet, Time now) noexcept {
  if (!StreamReceiver::is_stamped(buffer(*packet))) return false;
  engine_.receive(*packet, meta(*packet).frame_bytes, ticks_at(now));
  release(packet);
  return true;
}

void StreamTap::receive(std::uint32_t port, Packet* packet, Time now) noexcept {
  if (streams_.take(packet, now)) return;
  if (host_ != nullptr) return host_->receive(port, packet, now);
  ++foreign_;
  release(packet);
}

}  // namespace outrider::tg
