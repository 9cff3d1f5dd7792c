#pragma once

#include <cstddef>
#include <vector>

#include "trafficgen/background/transfer_report.h"
#include "trafficgen/measure/roce_counters.h"

namespace outrider::tg {

/// The transfers of one [[transfer]], over any transport.
class TransferSource {
 public:
  virtual ~TransferSource() = default;
  /// Sets the timer of the first transfer. Call it once.
  virtual void schedule() = 0;
  /// Returns true if every transfer has ended, with success or not.
  [[nodiscard]] virtual bool finished() const noexcept = 0;
  [[nodiscard]] virtual std::size_t ended() const noexcept = 0;
  /// Appends a report of each transfer.
  virtual void fill(std::vector<TransferReport>& reports) const = 0;
  /// Returns the counts of its queue pairs; zeros if it has none.
  [[nodiscard]] virtual RoceCounters roce() const { return {}; }
};

}  // namespace outrider::tg
