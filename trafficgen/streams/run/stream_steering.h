#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/offer_cell.h"
#include "common/core/snapshot_cell.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::tg {

/// Lets control threads read and steer the streams of a process while their lcores send them.
///
/// An order is parsed, checked and prepared by the thread that gives it. The lcore that owns the
/// stream takes it at its next look, a tenth of a second later at most; the thread waits for that.
///
/// look() is called by each lcore. Everything else is for threads of the control plane; a mutex
/// admits one at a time.
class StreamSteering {
 public:
  /// @param setup   of all streams; see StreamEngine::Setup
  /// @param owners  [streams] the lcore whose engine has the stream
  StreamSteering(StreamEngine::Setup setup, std::vector<std::uint32_t> owners,
                 std::uint32_t lcores);

  /// Publishes the counts of the lcore's streams, and obeys an order for one of them. Never waits.
  void look(std::uint32_t lcore, StreamEngine& engine, Time now) noexcept;

  // These throw std::invalid_argument if there is no such stream, if it is not sent here or has
  // ended, if there is nothing to change, or if the lcores do not run.

  /// Has the stream send nothing until start().
  void stop(std::string_view name);
  /// Has a stopped stream send from now on.
  void start(std::string_view name);
  /// Has the stream send at another rate from now on, or once it is started.
  /// @param rate  as in the file: "10mpps", "5gbps", "40%"
  void set_rate(std::string_view name, std::string_view rate);

  /// What a stream is and has counted. Of what it does not do here, the counts say nothing.
  struct Stream {
    std::string name{};
    bool sends = false;
    bool receives = false;
    StreamRate rate{};  ///< if it is sent
    StreamSnapshot counts{};
  };
  /// Returns all streams in the order of the file, as they last were published.
  [[nodiscard]] std::vector<Stream> read() const;

  /// Call when the lcores have ended. It ends an order that waits.
  void detach() noexcept;

 private:
  [[nodiscard]] std::size_t sent_stream(std::string_view name) const;
  void give(std::size_t stream, StreamOrder::Kind kind);

  mutable std::mutex mutex_;
  StreamEngine::Setup setup_;  ///< with the rates as they are now
  std::vector<std::uint32_t> owners_;
  std::deque<OfferCell<StreamOrder>> orders_;           ///< [lcores]
  std::deque<SnapshotCell<StreamSnapshot>> published_;  ///< [streams]
  StreamOrder order_{};  ///< the last one; an lcore may still use it after detach()
  std::atomic<bool> attached_{true};
};

}  // namespace outrider::tg
