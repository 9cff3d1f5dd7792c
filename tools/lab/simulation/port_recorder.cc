#include "tools/lab/simulation/port_recorder.h"

#include <algorithm>
#include <bit>
#include <span>

#include "switch/control/capture_file.h"
#include "switch/control/pcapng.h"
#include "switch/runtime/switch.h"

namespace outrider::lab {

namespace {
/// A buffer of a virtual run has the headers alone.
constexpr std::uint16_t kSnap_bytes = 128;
/// A packet in a file: its bytes, the block around them, and a comment.
constexpr std::uint64_t kInFile_bytes = kSnap_bytes + 200;
}  // namespace

std::uint64_t capture_memory_bytes(const Observed& observed) noexcept {
  const std::uint64_t kept = std::bit_ceil(observed.capture_packets);
  const std::uint64_t each =
      kept * (sizeof(sw::CaptureNote) + kSnap_bytes) + 2 * observed.capture_packets * kInFile_bytes;
  return observed.captures.size() * each;
}

PortRecorder::PortRecorder(const Observed& observed)
    : most_(observed.capture_packets), ports_(observed.captures) {
  for (std::size_t i = 0; i < ports_.size(); ++i)
    packets_.push_back(
        std::make_unique<sw::PortCapture>(kSnap_bytes, most_, Time{} + observed.capture_from));
}

void PortRecorder::attach(const sw::SwitchNetwork& network) {
  if (ports_.empty()) return;
  for (sw::Switch* one : network.switches())
    for (std::uint32_t p = 0; p < one->ports(); ++p) {
      const auto port = std::ranges::find(ports_, one->name() + '.' + one->port(p).name());
      if (port != ports_.end())
        one->port(p).capture(*packets_[static_cast<std::size_t>(port - ports_.begin())]);
    }
}

std::vector<PortPackets> PortRecorder::take() {
  std::vector<PortPackets> all;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    PortPackets& one = all.emplace_back(PortPackets{.port = ports_[i], .pcapng = {}});
    pcapng::Bytes bytes;
    pcapng::section_header(bytes, "outrider-lab");
    pcapng::interface_description(bytes, ports_[i], kSnap_bytes);
    one.missed = packets_[i]->missed();
    packets_[i]->drain([&](const sw::CaptureNote& note, const std::uint8_t* data) {
      if (one.packets == most_) return void(++one.missed);  // the ring has a power of two
      ++one.packets;
      const std::string comment = comment_of(note);
      pcapng::enhanced_packet(
          bytes, {.at_ns = static_cast<std::uint64_t>(note.at.time_since_epoch().count()),
                  .frame_bytes = note.frame_bytes,
                  .captured = std::span(data, note.captured_bytes),
                  .comment = comment});
    });
    one.pcapng.assign(bytes.begin(), bytes.end());
  }
  return all;
}

}  // namespace outrider::lab
