#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/core/clock.h"
#include "common/core/pause_gate.h"
#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "common/net/pause_frame.h"
#include "common/runtime/event_loop.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/config.h"
#include "switch/egress/lossless_buffer.h"
#include "switch/egress/parts/impairments.h"
#include "switch/egress/queue_part.h"
#include "switch/report/report.h"

namespace outrider::sw {

class EgressPort;

/// Priority flow control at one port, in both directions: it notifies the neighbour when lossless
/// queues pause, as the LosslessBuffer says, and stops those of its port that the neighbour has
/// paused.
///
/// A frame to the neighbour is made when the transmitter takes it, before all signals. It
/// says what holds then, of all queues that have news: so at most one waits, however often they
/// change. A buffer that is missing is asked for again after kRetry.
///
/// Pauses end, are renewed and become too long at times of its own, so it is an event source. It
/// never sends within a call of the LosslessBuffer, which comes from the midst of another port.
/// Not thread-safe: the owner of the port owns it.
class PortPauses final : public QueuePart, public EventSource {
 public:
  [[nodiscard]] static bool needed(const SwitchPortConfig& config);

  /// @param number  of the port. @param buffer,impairments,port must outlive it
  PortPauses(const SwitchPortConfig& config, std::uint16_t number, LosslessBuffer& buffer,
             const Impairments& impairments, EgressPort& port, EventLoop& loop);

  /// Notifies the neighbour of a queue, soon after. @pre it is lossless
  void notify(std::uint8_t queue, Time now) noexcept {
    news_ = static_cast<QueueMask>(news_ | 1U << queue);
    loop_.schedule(id_, now);
  }
  /// Makes the frame that leaves now. @return nullptr if no buffer was left
  [[nodiscard]] Packet* make_frame(Time now) noexcept;

  /// Returns whether the port loses all that it sends.
  [[nodiscard]] bool link_is_down() const noexcept { return impairments_.loses_all(); }

  /// A queue that was paused for too long drops what comes, until the pause ends.
  [[nodiscard]] Steps steps() const noexcept override { return {Step::kRoom}; }
  [[nodiscard]] std::optional<DropReason> refuses(const Packet& packet) const noexcept override;

  /// Obeys a frame of the neighbour's. Queues that are not lossless do not care.
  void on_frame(const PauseFrame& frame, Time now) noexcept;

  Time fire(Time now) noexcept override;

  void count(QueueCounts& to, std::size_t queue, Time now) const override;
  void report(QueueReport& to, Time now) const override;
  using EventSource::prepare;  // beside the part's
  [[nodiscard]] std::unique_ptr<PartChange> prepare(const PartReload& reload) const override;
  void apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept override;

 private:
  static constexpr Duration kRetry = std::chrono::microseconds(10);

  static constexpr std::size_t kMostSpans = 4096;  ///< kept of each kind and queue
  struct Spans {
    SpanLog stopped{}, stops_neighbour{};
    std::optional<Time> stops_since{};
  };
  struct Queue {
    std::uint8_t number;
    LosslessConfig config;
    PauseGate gate;
    PauseCounters counters{};
    std::unique_ptr<Spans> spans{};  ///< never null
  };

  static void note_told(Spans& spans, bool pauses, Time now) noexcept;
  void obey(Time now) noexcept;
  void watch(Queue& queue, Time now) noexcept;
  [[nodiscard]] BehindGate behind(const Queue& queue, Time now) const noexcept;
  [[nodiscard]] Time next(Time now) noexcept;

  std::vector<Queue> queues_;  ///< the lossless ones
  std::uint16_t number_;
  LosslessBuffer& buffer_;
  const Impairments& impairments_;
  EgressPort& port_;
  EventLoop& loop_;
  SourceId id_;
  BitRate rate_;          ///< of both directions: pauses are counted in its bit times
  QueueMask news_ = 0;    ///< queues that the neighbour is to be notified of
  QueueMask closed_ = 0;  ///< queues that the neighbour has stopped
  bool waits_ = false;    ///< whether a frame waits for the transmitter
  std::uint64_t frames_ = 0;
  Time retry_at_ = kNever;  ///< set when no buffer was left
};

}  // namespace outrider::sw
