#pragma once

#include <cstring>
#include <memory>
#include <string>

#include "trafficgen/import/pcap_trace.h"
#include "trafficgen/streams/engine/batch_sender.h"
#include "trafficgen/streams/replay/replay_config.h"
#include "trafficgen/streams/replay/replay_schedule.h"

namespace outrider::tg {

/// Copies a trace's frames unchanged; their addresses were rewritten when it was loaded.
class ReplayFrames {
 public:
  explicit ReplayFrames(std::shared_ptr<const PcapTrace> trace) : trace_(std::move(trace)) {}

  void write(std::uint8_t* frame, const Departure& d, std::uint64_t) const noexcept {
    const auto bytes = trace_->frame(d.size);
    std::memcpy(frame, bytes.data(), bytes.size());
  }
  void restamp(std::uint8_t*, std::uint64_t) const noexcept {}
  [[nodiscard]] std::uint16_t buffer_bytes(std::uint32_t index) const noexcept {
    return static_cast<std::uint16_t>(trace_->packets[index].size);
  }

 private:
  std::shared_ptr<const PcapTrace> trace_;
};

using ReplaySender = BatchSender<ReplaySchedule, ReplayFrames>;

/// Counts a trace's packets by the effect of rewriting.
struct RewriteCounts {
  std::uint64_t rewritten = 0;
  std::uint64_t not_ipv4 = 0;   ///< left unchanged, e.g. with VLAN tags, or IPv6
  std::uint64_t untouched = 0;  ///< IPv4, but no prefix holds its addresses
};

/// Replaces prefixes of IPv4 sources and destinations and updates the IPv4, TCP and UDP checksums
/// (RFC 1624). The first rule whose prefix contains an address applies.
/// @pre rules were checked
RewriteCounts rewrite_addresses(PcapTrace& trace, const std::vector<std::string>& rules);

/// A trace, loaded and rewritten according to `replay`.
struct LoadedReplay {
  std::shared_ptr<const PcapTrace> trace;
  RewriteCounts rewrites;
};

/// @throws std::runtime_error naming the file and its fault
LoadedReplay load_replay(const ReplayConfig& replay);

}  // namespace outrider::tg
