#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

struct Preview {
  std::string csv{};             ///< a line each after a line of names, in the order of time
  std::uint64_t events = 0;      ///< lines without the first
  bool ends_before_run = false;  ///< more than kMaxPreviewEvents
};

inline constexpr std::uint64_t kMaxPreviewEvents = 5'000'000;

/// What a configuration will start and when, up to `until`, without sending:
/// arrivals of flow groups with the draws of the run itself, starts of long flows,
/// due times of jobs with a fixed schedule before their jitter, starts of jobs in a
/// closed loop (what follows depends on the network). Needs no EAL.
/// @param limit  lines at most
/// @param config valid
/// @throws std::runtime_error if a file of a flow group cannot be read
Preview preview(const GeneratorConfig& config, Duration until,
                std::uint64_t limit = kMaxPreviewEvents);

struct PreviewFrames {
  std::uint64_t frames = 0;
  std::uint64_t without_frame = 0;  ///< bursts and jobs: what they send depends on the run
  bool ends_before_run = false;     ///< more than `limit`
};

/// The same as a pcap file: every frame of streams at its due time, and for each flow
/// its first frame, the SYN, as it will stand on the wire when it starts; what follows
/// depends on the network. Source ports are those of the run unless jobs or requests
/// open connections from the same host. Writes nothing unless it writes all.
/// @throws std::runtime_error that names the file
PreviewFrames preview_pcap(const GeneratorConfig& config, Duration until, std::uint64_t limit,
                           const std::string& path);

/// Frames that a pcap may hold: `wanted`, or a million.
/// @throws UsageError if frames of that length could take more than kMaxPreviewBytes
std::uint64_t preview_limit(std::optional<std::uint64_t> wanted, std::uint32_t longest_frame_bytes);

inline constexpr std::uint64_t kMaxPreviewFrames = 1'000'000;
inline constexpr std::uint64_t kMaxPreviewBytes = 8ULL << 30;

}  // namespace outrider::tg
