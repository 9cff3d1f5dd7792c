#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Holds segments that were handed to the transport and are not wholly acknowledged. Streams
/// acknowledge in order, so each target has a queue. Not thread-safe; nothing allocates as long as
/// no target has more than `segments`.
class InFlight {
 public:
  struct Segment {
    std::uint64_t bytes = 0;
    std::uint64_t charged_bytes = 0;  ///< bytes charged to a credit
    Time handed_out{};
  };

  InFlight(std::uint32_t targets, std::size_t segments) {
    queues_.reserve(targets);
    for (std::uint32_t t = 0; t < targets; ++t) queues_.emplace_back(segments);
  }

  void add(std::uint32_t target, const Segment& segment) {
    queues_[target].segments.push(segment);
    ++segments_;
    charged_bytes_ += segment.charged_bytes;
  }
  /// @param on_whole is called with each segment whose last byte is now acknowledged
  template <class F>
  void acknowledge(std::uint32_t target, std::uint64_t bytes, F&& on_whole) {
    Queue& queue = queues_[target];
    queue.acknowledged_bytes += bytes;
    while (!queue.segments.empty() && queue.segments.peek().bytes <= queue.acknowledged_bytes) {
      const Segment segment = queue.segments.pop();
      queue.acknowledged_bytes -= segment.bytes;
      --segments_;
      charged_bytes_ -= segment.charged_bytes;
      on_whole(segment);
    }
    assert(!queue.segments.empty() || queue.acknowledged_bytes == 0);
  }
  void acknowledge(std::uint32_t target, std::uint64_t bytes) {
    acknowledge(target, bytes, [](const Segment&) {});
  }

  [[nodiscard]] bool empty() const noexcept { return segments_ == 0; }
  [[nodiscard]] std::uint64_t charged_bytes() const noexcept { return charged_bytes_; }

 private:
  struct Queue {
    explicit Queue(std::size_t n) : segments(n) {}
    Fifo<Segment> segments;
    std::uint64_t acknowledged_bytes = 0;  ///< bytes of the first segment
  };
  std::vector<Queue> queues_;  ///< [targets]
  std::size_t segments_ = 0;
  std::uint64_t charged_bytes_ = 0;
};

}  // namespace outrider::tg
