#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/config/quantities.h"
#include "common/core/clock.h"
#include "common/core/ecn.h"
#include "common/core/units.h"

namespace outrider::tg {

/// Ethernet's FCS: testers count it (a "64 B" frame has 60 bytes in its buffer).
inline constexpr std::uint32_t kMinStreamFrameBytes = 64;    ///< FCS included
inline constexpr std::uint32_t kMaxStreamFrameBytes = 9018;  ///< FCS included
inline constexpr std::uint32_t kMaxStreams = 1024;           ///< 10 bits of the stamp
inline constexpr std::uint32_t kMaxFlowsPerStream = 1U << 22;

/// A rate in the unit that the user chose.
struct StreamRate {
  enum class Unit : std::uint8_t {
    kPackets,  ///< packets per second
    kBits,     ///< bit/s at the stream's layer
    kShare,    ///< millionths of the device's line rate, at L1
  };
  Unit unit = Unit::kPackets;
  std::uint64_t value = 0;
  bool operator==(const StreamRate&) const = default;
};

/// "10mpps", "5gbps", "40%"; a percentage has at most four decimals.
Parsed<StreamRate> parse_stream_rate(std::string_view text);
std::string format_stream_rate(const StreamRate& rate);

/// Frame sizes, with the number of times that each occurs in a cycle.
struct SizeMix {
  struct Entry {
    std::uint32_t frame_bytes = 0;  ///< FCS included
    std::uint32_t weight = 0;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;
  bool operator==(const SizeMix&) const = default;
};

/// Returns the testers' "simple IMIX": IPv4 packets of 40 (padded to the shortest frame), 576 and
/// 1500 bytes in the ratio 7:4:1.
SizeMix simple_imix();
/// Parses "simple" or "64:7,594:4,1518:1" (size in bytes with FCS : weight).
Parsed<SizeMix> parse_size_mix(std::string_view text);
std::string format_size_mix(const SizeMix& mix);

enum class StreamPattern : std::uint8_t {
  kConstant,  ///< evenly spaced
  kPoisson,   ///< exponential gaps of the same mean
  kOnOff,     ///< bursts of exactly burst_packets at `rate`, then `gap` of silence
};

enum class UdpChecksum : std::uint8_t {
  kZero,  ///< none (RFC 768)
  kFull,  ///< over header and payload
};

/// A [[stream]]: UDP packets sent by a schedule that no feedback changes.
struct StreamConfig {
  std::string name{};
  std::optional<std::uint32_t> id{};  ///< in the stamp; absent: the position in the file
  std::string device{};               ///< sending device; empty: this process only receives it
  std::string receive_device{};       ///< device at which it arrives; empty: not received here
  std::optional<StreamRate> rate{};   ///< required with `device`
  RateLayer layer = RateLayer::kL1;   ///< of a bit rate
  StreamPattern pattern = StreamPattern::kConstant;
  std::uint32_t burst_packets = 1;             ///< kOnOff, >= 1
  Duration gap{};                              ///< kOnOff, > 0
  std::optional<std::uint32_t> frame_bytes{};  ///< FCS included; neither: 64
  std::optional<SizeMix> imix{};
  std::uint32_t flows = 1;  ///< visited in turn
  std::string source{};     ///< IPv4 address of flow 0
  std::string destination{};
  std::uint32_t source_addresses = 1;  ///< consecutive addresses, shared by the flows
  std::uint32_t destination_addresses = 1;
  std::uint16_t source_port = 1024;
  std::uint16_t destination_port = 5001;
  std::optional<std::uint32_t> source_ports{};  ///< absent: as many as flows need
  std::uint32_t destination_ports = 1;
  std::optional<std::string> source_mac{};       ///< absent: follows from the address
  std::optional<std::string> destination_mac{};  ///< of the gateway or the receiver
  std::uint16_t dscp = 0;                        ///< 0 to 63
  Ecn ecn = Ecn::kNotEct;
  UdpChecksum udp_checksum = UdpChecksum::kZero;
  /// Of the first packet. Absent: drawn by the seed within the time from a packet, or a burst, to
  /// the next one, so that streams of the same rate do not send at the same instants
  std::optional<Duration> start{};
  std::optional<Duration> duration{};      ///< absent: as long as the run
  std::optional<std::uint64_t> packets{};  ///< absent: no limit
  Duration max_lag = std::chrono::milliseconds(100);
  std::uint32_t latency_samples = 0;  ///< raw samples kept
  /// Largest number of hops that switches may record in each packet; 0: packets are no probes.
  std::uint32_t hops = 0;
};

/// Returns the number of consecutive source ports that the flows share, at least 1.
[[nodiscard]] std::uint32_t source_ports_of(const StreamConfig& stream) noexcept;

/// Checks all rules of a stream except those that refer to devices and other streams.
void check(const Checks& at, const StreamConfig& stream);

/// Checks the list of streams: names, ids and flows must be distinct.
void check_streams(const Checks& root, const std::vector<StreamConfig>& streams);

/// Returns true if all streams that are sent are bounded in time or packets, so that they end by
/// themselves; false if there are none.
[[nodiscard]] bool all_bounded(const std::vector<StreamConfig>& streams);

/// Returns the id in the stamps of stream `index`.
[[nodiscard]] inline std::uint32_t id_of(const StreamConfig& stream, std::size_t index) noexcept {
  return stream.id.value_or(static_cast<std::uint32_t>(index));
}

// Bindings, see common/config/config_binding.h.

inline constexpr auto kStreamPatterns =
    choices<StreamPattern>({{"constant", StreamPattern::kConstant},
                            {"poisson", StreamPattern::kPoisson},
                            {"on_off", StreamPattern::kOnOff}});
inline constexpr auto kStreamLayers =
    choices<RateLayer>({{"l1", RateLayer::kL1}, {"l2", RateLayer::kL2}});
inline constexpr auto kUdpChecksums =
    choices<UdpChecksum>({{"zero", UdpChecksum::kZero}, {"full", UdpChecksum::kFull}});
inline constexpr auto kStreamEcn = choices<Ecn>(
    {{"not_ect", Ecn::kNotEct}, {"ect0", Ecn::kEct0}, {"ect1", Ecn::kEct1}, {"ce", Ecn::kCe}});

void describe(Settings& v, StreamConfig& c);

}  // namespace outrider::tg
