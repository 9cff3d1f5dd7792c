#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

struct Preview {
  std::string csv{};             ///< one event per line after a line of names, in the order of time
  std::uint64_t events = 0;      ///< number of lines without the first
  bool ends_before_run = false;  ///< there were more than kMaxPreviewEvents
};

inline constexpr std::uint64_t kMaxPreviewEvents = 5'000'000;

/// Lists what a configuration will start, and when, up to `until`, without sending. Listed are
/// arrivals of flow groups with the draws of the run itself, starts of long flows, due times of
/// jobs with a fixed schedule before their jitter, and starts of jobs in a closed loop (the rest
/// depends on the network). Needs no EAL.
/// @param limit  largest number of lines
/// @param config valid
/// @throws std::runtime_error if a file of a flow group cannot be read
Preview preview(const GeneratorConfig& config, Duration until,
                std::uint64_t limit = kMaxPreviewEvents);

struct PreviewFrames {
  std::uint64_t frames = 0;
  std::uint64_t without_frame = 0;  ///< bursts and jobs, whose packets depend on the run
  bool ends_before_run = false;     ///< there were more than `limit`
};

/// Writes the same as a pcap file: every frame of streams at its due time, and for each flow its
/// first frame, the SYN, as on the wire when it starts; the rest depends on the network. Source
/// ports are those of the run, unless jobs or requests open connections from the same host. Writes
/// the file completely or not at all.
/// @throws std::runtime_error that names the file
PreviewFrames preview_pcap(const GeneratorConfig& config, Duration until, std::uint64_t limit,
                           const std::string& path);

/// Returns how many frames a pcap may hold: `wanted`, or a million.
/// @throws UsageError if frames of that length could take more than kMaxPreviewBytes
std::uint64_t preview_limit(std::optional<std::uint64_t> wanted, std::uint32_t longest_frame_bytes);

inline constexpr std::uint64_t kMaxPreviewFrames = 1'000'000;
inline constexpr std::uint64_t kMaxPreviewBytes = 8ULL << 30;

}  // namespace outrider::tg
