#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {

inline constexpr std::uint64_t kMostReplayLoops = 1ULL << 40;

/// A [[replay]]: the frames of a capture, sent with its gaps or at a rate.
struct ReplayConfig {
  std::string name{};
  std::string device{};
  std::string file{};                  ///< pcap or pcapng; relative to the working directory
  double speed = 1;                    ///< 2 halves the gaps; > 0, at most six decimals
  std::optional<StreamRate> rate{};    ///< instead of the capture's gaps
  RateLayer layer = RateLayer::kL1;    ///< of a bit rate
  std::uint64_t loops = 1;             ///< passes through the file, >= 1
  std::vector<std::string> rewrite{};  ///< "10.0.0.0/8=198.0.0.0/8": IPv4 sources, destinations
  bool pad_cut = false;
  bool skip_long = false;
  std::uint64_t max_memory_bytes = 1ULL << 30;
  Duration start{};
  std::optional<Duration> duration{};
  Duration max_lag = std::chrono::milliseconds(100);
};

/// Checks the rules that need no file.
void check(const Checks& at, const ReplayConfig& replay);

}  // namespace outrider::tg
