#pragma once

#include <cstdint>

#include "common/core/service_clock.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Splits the waiting time of a port's data packets that have an owner by what they waited for, in
/// the ledger that they carry. The wait of a pure ACK has none: it is part of the silence that its
/// arrival ends. @pre all packets are from a pool with attribution
class Attribution final : public QueuePart {
 public:
  explicit Attribution(std::uint32_t owners) : service_(owners) {}

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kArrive, Step::kDepart}; }
  [[nodiscard]] ArrivalVerdict on_arrival(const Incoming& incoming) noexcept override;
  void on_departure(const Transmission& sent) noexcept override;

 private:
  ServiceClock service_;
};

}  // namespace outrider::sw
