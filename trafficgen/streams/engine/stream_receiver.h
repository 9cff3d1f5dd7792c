#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/core/histogram.h"
#include "trafficgen/streams/engine/hop_tracker.h"
#include "trafficgen/streams/engine/sequence_tracker.h"
#include "trafficgen/streams/engine/stream_config.h"
#include "trafficgen/streams/engine/stream_flows.h"

namespace outrider::tg {

/// How a packet that reached the receiver ended.
enum class StreamEnd : std::uint8_t {
  kTaken,        ///< counted for the stream in its stamp
  kForeign,      ///< not IPv4 and UDP, or without our stamp
  kTruncated,    ///< shorter than its own headers state
  kBadChecksum,  ///< IPv4 header, or UDP where there is one
  kUnknownFlow,  ///< our stamp, but a stream or flow that is not received here
  kWrongFlow,    ///< addresses or ports are not those of the flow in its stamp
  kBadStamp,     ///< departs in the future, or has an impossible number
};
inline constexpr std::size_t kStreamEnds = 7;
static_assert(static_cast<std::size_t>(StreamEnd::kBadStamp) + 1 == kStreamEnds);

/// Counters of one stream. Identity: taken == distinct + duplicated + beyond_window.
struct StreamReceiveCounters {
  std::uint64_t taken = 0;
  std::uint64_t distinct = 0;
  std::uint64_t reordered = 0;  ///< of the distinct ones
  std::uint64_t duplicated = 0;
  std::uint64_t beyond_window = 0;
  std::uint64_t skipped = 0;     ///< numbers skipped when a later one arrived
  std::uint32_t max_extent = 0;  ///< of reordering [packets of the flow]
  std::uint64_t ce_marked = 0;
  std::uint64_t frame_bytes = 0;  ///< FCS included
  std::uint64_t samples_not_kept = 0;

  /// Returns the losses according to the gaps, without a flow's lost tail.
  [[nodiscard]] std::uint64_t missing() const noexcept { return skipped - reordered; }
};

/// One packet of a stream. There may be millions.
struct StreamSample {
  std::uint64_t latency_ns : 63 = 0;
  std::uint64_t ce : 1 = 0;  ///< it arrived with CE
  bool operator==(const StreamSample&) const = default;
};
static_assert(sizeof(StreamSample) == 8);

/// Converts ticks of the stamps' counter to nanoseconds.
class TickScale {
 public:
  /// @pre ticks_per_second >= 1 MHz
  explicit TickScale(std::uint64_t ticks_per_second) noexcept
      : q40_ns_per_tick_(
            static_cast<std::uint64_t>((Wide{1'000'000'000} << 40) / ticks_per_second)) {}
  [[nodiscard]] std::uint64_t ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>((Wide{ticks} * q40_ns_per_tick_) >> 40);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t q40_ns_per_tick_;
};

/// Reads packets of streams: it counts them, tracks their numbers, and measures the latency from
/// the departure stamp to the given instant. Software reads both, so the cost of the two readings
/// is included (see measure_loop_bias()).
///
/// Identity: arrived == sum(ends), ends[kTaken] == sum over streams of taken.
/// Memory: 16 bytes per flow, 60 kB per stream, 8 bytes per raw sample (for probes 96 more, and 60
/// kB per queue on their way), all allocated at construction. Not thread-safe (one lcore owns it).
class StreamReceiver {
 public:
  struct Expected {
    std::uint32_t id = 0;
    std::shared_ptr<const StreamFlows> flows{};
    bool from_zero = true;              ///< the sender began together with this receiver
    std::uint32_t latency_samples = 0;  ///< raw samples kept
    bool probes = false;                ///< packets carry hop records
  };
  StreamReceiver(const std::vector<Expected>& streams, std::uint64_t ticks_per_second);

  /// @param bytes of the buffer. @param frame_bytes on the wire, without FCS: in virtual time more
  ///   than the buffer holds, else equal
  StreamEnd receive(std::span<const std::uint8_t> bytes, std::uint32_t frame_bytes,
                    std::uint64_t ticks) noexcept;

  /// Returns true for an IPv4 UDP packet with our stamp. Cheap, for devices that streams share.
  [[nodiscard]] static bool is_stamped(std::span<const std::uint8_t> bytes) noexcept;

  [[nodiscard]] std::uint64_t arrived() const noexcept { return arrived_; }
  [[nodiscard]] std::uint64_t ended(StreamEnd end) const noexcept {
    return ends_[static_cast<std::size_t>(end)];
  }
  /// @param stream position in the constructor's list
  [[nodiscard]] const StreamReceiveCounters& counters(std::size_t stream) const noexcept {
    return streams_[stream].counters;
  }
  [[nodiscard]] const Histogram& latency(std::size_t stream) const noexcept {  ///< [ns]
    return streams_[stream].latency;
  }
  /// Returns nullptr if the stream's packets are no probes.
  [[nodiscard]] const HopTracker* hops(std::size_t stream) const noexcept {
    return streams_[stream].hops.get();
  }
  /// Returns the first packets that arrived, in their order.
  [[nodiscard]] const std::vector<StreamSample>& samples(std::size_t stream) const noexcept {
    return streams_[stream].samples;
  }

 private:
  struct Stream {
    explicit Stream(const Expected& e)
        : flows(e.flows), tracker(e.flows->size(), e.from_zero), max_samples(e.latency_samples) {
      samples.reserve(max_samples);
      if (e.probes) hops = std::make_unique<HopTracker>(e.latency_samples);
    }
    std::shared_ptr<const StreamFlows> flows;
    SequenceTracker tracker;
    StreamReceiveCounters counters{};
    Histogram latency{};
    std::uint32_t max_samples;
    std::vector<StreamSample> samples{};
    std::unique_ptr<HopTracker> hops{};
  };

  StreamEnd judge(std::span<const std::uint8_t> bytes, std::uint32_t frame_bytes,
                  std::uint64_t ticks) noexcept;
  static bool count(Stream& stream, SequenceTracker::Verdict verdict) noexcept;
  static void note(Stream& stream, StreamSample sample) noexcept;

  static constexpr std::uint16_t kNone = 0xFFFF;
  std::array<std::uint16_t, kMaxStreams> by_id_{};  ///< index into streams_, or kNone
  std::vector<Stream> streams_;
  TickScale scale_;
  std::uint64_t arrived_ = 0;
  std::array<std::uint64_t, kStreamEnds> ends_{};
};

}  // namespace outrider::tg
