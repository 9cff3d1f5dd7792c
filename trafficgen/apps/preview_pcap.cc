#include <algorithm>
#include <array>
#include <map>
#include <new>

#include "common/config/addresses.h"
#include "common/net/headers.h"
#include "common/runtime/poll_program.h"
#include "trafficgen/apps/preview.h"
#include "trafficgen/apps/timetable.h"
#include "trafficgen/frames/frame.h"
#include "trafficgen/hosts/ephemeral_ports.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/streams/replay/pcap_writer.h"
#include "trafficgen/streams/run/stream_preview.h"

namespace outrider::tg {
namespace {

struct Silent final : ConnectionListener {
  void on_established(TcpConnection&, Time) noexcept override {}
  void on_delivered(TcpConnection&, Time) noexcept override {}
  void on_closed(TcpConnection&, Time) noexcept override {}
};

/// A buffer that needs no EAL: an mbuf with its private area and its bytes, without a pool.
class LooseFrame {
 public:
  LooseFrame() : packet_(new (storage_.data()) Packet{}) {
    new (rte_mbuf_to_priv(packet_)) PacketMeta{};
    packet_->buf_addr = storage_.data() + kFrameOffset;
  }
  [[nodiscard]] Packet& operator*() noexcept { return *packet_; }

 private:
  static constexpr std::size_t kFrameOffset = sizeof(Packet) + sizeof(PacketMeta);
  alignas(RTE_CACHE_LINE_SIZE) std::array<std::uint8_t, kFrameOffset + 256> storage_{};
  Packet* packet_;
};

/// Makes the SYNs that the hosts of a configuration send.
class Openings {
 public:
  explicit Openings(const GeneratorConfig& config) : config_(config) {}

  /// @return valid until the next call
  std::span<const std::uint8_t> syn(const TimetableEvent& e) {
    const HostConfig& from = host(*e.from);
    const HostConfig& to = host(*e.to);
    std::uint16_t& port = ports_.try_emplace(from.name, kFirstEphemeralPort).first->second;
    const FlowKey flow{*parse_ipv4(from.address).value, *parse_ipv4(to.address).value, port,
                       e.port};
    port = port == 65535 ? kFirstEphemeralPort : static_cast<std::uint16_t>(port + 1);
    TcpConfig tcp = *e.transport;
    if (e.full_mtu) tcp.mss_bytes = std::min(from.mtu_bytes, to.mtu_bytes) - kIpAndTcpBytes;
    const std::uint32_t sequence = initial_sequence_of(flow, sequence_key_of(config_.seed));
    TcpConnection connection(tcp, {flow, TcpConnection::Role::kClient, sequence}, memory_, silent_);
    connection.open(e.at);
    const TcpSegment segment = next_segment(connection, e.at);
    write_frame(*frame_, flow, static_cast<std::uint8_t>(segment.ecn), segment, true);
    return buffer(*frame_);
  }

 private:
  const HostConfig& host(const std::string& name) const {
    return *std::ranges::find(config_.hosts, name, &HostConfig::name);
  }

  const GeneratorConfig& config_;
  std::map<std::string, std::uint16_t> ports_;
  TransportMemory memory_{{.flights = 1, .segments = 16, .disorders = 1}};
  Silent silent_;
  LooseFrame frame_;
};

StreamEngine::Setup streams_of(const GeneratorConfig& config, Duration until) {
  StreamEngine::Setup setup{.streams = config.streams, .devices = {}, .seed = config.seed};
  // If there are hosts, streams end earlier, see stream_setup().
  setup.duration =
      config.hosts.empty() ? until : std::max(until - config.stream_drain, Duration::zero());
  for (const auto& d : config.devices)
    setup.devices.push_back({d.name, d.line_rate.value_or(BitRate{})});
  return setup;
}

}  // namespace

std::uint64_t preview_limit(std::optional<std::uint64_t> wanted,
                            std::uint32_t longest_frame_bytes) {
  constexpr std::uint64_t kRecordBytes = 16;  // pcap's header before each frame
  const std::uint64_t limit = wanted.value_or(kMaxPreviewFrames);
  const std::uint64_t most = kMaxPreviewBytes / (longest_frame_bytes + kRecordBytes);
  if (limit == 0 || limit > most)
    throw UsageError("--preview-limit " + std::to_string(limit) + ": must be 1 to " +
                     std::to_string(most) + " with frames of up to " +
                     std::to_string(longest_frame_bytes) + " bytes (8 GiB in all)");
  return limit;
}

PreviewFrames preview_pcap(const GeneratorConfig& config, Duration until, std::uint64_t limit,
                           const std::string& path) {
  const Timetable table = timetable_of(config, Time{} + until, limit);
  PreviewFrames result{.ends_before_run = table.ends_before_run};
  StreamPreview streams(streams_of(config, until));
  Openings openings(config);
  PcapWriter file(path);
  auto event = table.events.begin();
  while (true) {
    const Time event_at = event == table.events.end() ? kNever : event->at;
    const Time stream_at = streams.next();
    if (event_at == kNever && stream_at == kNever) break;
    if (event_at <= stream_at && event->transport == nullptr) {
      ++result.without_frame;
      ++event;
      continue;
    }
    if (file.frames() == limit) {
      result.ends_before_run = true;
      break;
    }
    if (event_at <= stream_at) file.write(event_at, openings.syn(*event++));
    else file.write(stream_at, streams.take());
  }
  file.close();
  result.frames = file.frames();
  return result;
}

}  // namespace outrider::tg
