#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "trafficgen/streams/engine/batch_sender.h"
#include "trafficgen/streams/engine/stream_frames.h"

namespace outrider::tg {

/// Sends the packets of one stream.
class StreamSender final : public BatchSender<StreamSchedule, StreamFrames> {
 public:
  /// @param stream valid, with a device. @param pool see BatchSender
  StreamSender(const StreamConfig& stream, std::uint32_t id,
               std::shared_ptr<const StreamFlows> flows, const StreamSchedule::Setup& setup,
               rte_mempool& pool)
      : StreamSender(stream, id, std::move(flows), StreamSchedule(setup), pool) {}

  /// Returns true if nothing more will be sent, even if the stream is started again.
  [[nodiscard]] bool over(Time now) const noexcept {
    return pending() == 0 && schedule().over(now);
  }

 private:
  StreamSender(const StreamConfig& stream, std::uint32_t id,
               std::shared_ptr<const StreamFlows> flows, const StreamSchedule& schedule,
               rte_mempool& pool)
      : BatchSender(schedule, StreamFrames(stream, id, std::move(flows), schedule.sizes()),
                    stream.max_lag, pool) {}
};

}  // namespace outrider::tg
