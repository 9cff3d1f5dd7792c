#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/units.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/streams/engine/stream_config.h"
#include "trafficgen/streams/engine/stream_pause.h"
#include "trafficgen/streams/engine/stream_receiver.h"
#include "trafficgen/streams/engine/stream_sender.h"

namespace outrider::tg {

/// The properties of a device that streams need.
using StreamDevice = LiveDevice;

/// What an operator asks of a stream while it is sent.
struct StreamOrder {
  enum class Kind : std::uint8_t { kStop, kStart, kRate };
  enum class Outcome : std::uint8_t { kDone, kAlready, kEnded };
  std::size_t stream = 0;  ///< its position in the file
  Kind kind = Kind::kStop;
  /// Only of kRate: made of the stream with the wanted rate; afterwards it has the old one.
  std::optional<StreamSchedule> schedule{};
  Outcome outcome = Outcome::kDone;  ///< set by the engine
};

/// All streams of one process, driven by one poll loop. Not thread-safe: one
/// lcore owns it.
class StreamEngine {
 public:
  struct Setup {
    std::vector<StreamConfig> streams;  ///< valid; devices are among `devices`
    /// Positions of the streams that the engine has, if several engines share them; empty: all.
    std::vector<std::size_t> own{};
    std::vector<StreamDevice> devices;  ///< in the loop's order
    std::vector<PauseConfig> pauses{};  ///< valid, of devices with a line rate
    std::uint64_t seed = 1;
    std::optional<Duration> duration{};              ///< no packet is due at or after it
    std::uint64_t ticks_per_second = 1'000'000'000;  ///< frequency of StreamInstant::ticks
  };

  /// @param pool for whole frames, see StreamSender; must outlive the engine
  StreamEngine(const Setup& setup, rte_mempool& pool);

  /// Sends what is due, up to 32 packets a stream.
  /// @param devices has `port(std::size_t)`: an object with `tx()`
  /// @return packets sent
  template <class Devices>
  std::uint32_t send(const Devices& devices, StreamInstant at) noexcept {
    std::uint32_t sent = 0;
    for (Pausing& p : pausing_) sent += p.sender->poll(devices.port(p.device), at);
    for (Sending& s : sending_) sent += s.sender->poll(devices.port(s.device), at);
    return sent;
  }

  /// Returns the devices at which streams are received.
  [[nodiscard]] const std::vector<std::size_t>& receive_devices() const noexcept {
    return receive_devices_;
  }
  /// Processes a packet that arrived; the caller keeps it.
  /// @param ticks  of its arrival, by the counter of the stamps
  StreamEnd receive(Packet& packet, std::uint64_t ticks) noexcept {
    return receive(packet, rte_pktmbuf_pkt_len(&packet), ticks);
  }
  /// Like receive() above, for a buffer that may hold only the head.
  /// @param frame_bytes on the wire, without FCS
  StreamEnd receive(Packet& packet, std::uint32_t frame_bytes, std::uint64_t ticks) noexcept {
    return receiver_.receive(buffer(packet), frame_bytes, ticks);
  }

  /// Returns when the next packet is due; kNever if there will be none.
  [[nodiscard]] Time next() const noexcept;
  /// Returns true if every sender has sent all that it ever will. One that is stopped has not,
  /// until its duration is over.
  [[nodiscard]] bool done(Time now) const noexcept;
  /// Returns buffers to the pool. Nothing is sent afterwards.
  void finish() noexcept;

  /// Does what an operator asks of a stream, and says in the order what came of it.
  /// @pre the engine sends the stream
  void obey(StreamOrder& order, Time now) noexcept;
  /// Returns the counts of a stream so far. @pre the engine sends or receives it
  [[nodiscard]] StreamSnapshot snapshot(std::size_t stream, Time now) const noexcept;

  /// Returns the first packets of a stream that arrived. @pre the engine receives it
  [[nodiscard]] const std::vector<StreamSample>& samples(std::size_t stream) const noexcept {
    return receiver_.samples(received_of_[stream]);
  }
  [[nodiscard]] StreamsReport report() const;
  /// Returns the report of streams that several engines shared, in the order of the file.
  /// @param parts made of the same streams; none runs
  [[nodiscard]] static StreamsReport report(std::span<const StreamEngine* const> parts);
  /// Adds the counts of the streams' packets.
  void add_to(TrafficLive& live) const noexcept;
  /// Returns raw latencies as CSV: name of the stream, number of the sample, ns.
  [[nodiscard]] static std::string samples_csv(std::span<const StreamEngine* const> parts);
  /// Returns hop records of the kept probes, see HopTracker::csv_lines().
  [[nodiscard]] static std::string hops_csv(std::span<const StreamEngine* const> parts);

 private:
  struct Sending {
    std::size_t stream;
    std::size_t device;
    std::unique_ptr<StreamSender> sender;
    std::uint64_t stops = 0, starts = 0, rate_changes = 0;
  };
  struct Pausing {
    std::size_t device;
    std::unique_ptr<PauseSender> sender;
  };
  static void fill_counts_of(StreamSentCounts& r, const Sending& s) noexcept;
  /// Calls `act(engine, r)` for each received stream in the order of the file: it is stream r of
  /// the engine's receiver.
  template <class Act>
  static void for_received(std::span<const StreamEngine* const> parts, Act act);
  void add_sender(const Setup& setup, std::size_t index, std::shared_ptr<const StreamFlows> flows,
                  rte_mempool& pool);

  std::vector<StreamConfig> streams_;
  std::vector<Sending> sending_;
  std::vector<Pausing> pausing_;
  std::vector<std::size_t> received_;  ///< positions in streams_ of the receiver's streams
  static constexpr std::uint16_t kNone = kMaxStreams;
  std::vector<std::uint16_t> sending_of_;   ///< [streams] index into sending_, or kNone
  std::vector<std::uint16_t> received_of_;  ///< [streams] index into received_, or kNone
  std::vector<std::size_t> receive_devices_;
  StreamReceiver receiver_{{}, 1'000'000'000};
  bool finished_ = false;
};

/// Returns stream `index` with the end that the run sets for it.
[[nodiscard]] StreamConfig until_end(const StreamEngine::Setup& setup, std::size_t index);
/// Returns the line rate of the stream's device. @pre it has one
[[nodiscard]] BitRate line_rate_of(const StreamEngine::Setup& setup, std::size_t index);

/// Checks rates against known line rates: each stream alone at its peak, and the mean of all
/// streams of a device together.
void check_line_rates(const Checks& root, const std::vector<StreamConfig>& streams,
                      const std::vector<StreamDevice>& devices);

/// Returns the buffers that the streams can hold at once, in addition to `descriptors` of rings.
[[nodiscard]] std::uint32_t stream_mbufs(const std::vector<StreamConfig>& streams,
                                         std::uint64_t descriptors);
/// Returns the longest frame of all streams [bytes, FCS included]; at least 64.
[[nodiscard]] std::uint32_t longest_stream_frame(const std::vector<StreamConfig>& streams);

}  // namespace outrider::tg
