#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trafficgen/workload/exchange/exchange_context.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/exchange/piece_stream.h"

namespace outrider::tg {

/// Receives the bursts of one lane from the stream. If parts are told, they are identified by what
/// was handed over; otherwise only the bytes of the burst are counted. More bytes than were handed
/// over come from a stranger and complete nothing.
class TcpIncoming {
 public:
  /// @param context must outlive this object
  TcpIncoming(const ExchangeContext& context, const Lane& lane)
      : context_(context),
        lane_(lane),
        parts_(context.setup.parts(lane)),
        bytes_(bytes_of(parts_)),
        stream_(context.setup.parts_told ? 2 * parts_.size() : 0) {}

  /// The sender has handed over `bytes` more.
  void append(std::uint32_t part, std::uint64_t bytes) noexcept {
    handed_over_ += bytes;
    if (context_.setup.parts_told) stream_.append(part, bytes);
  }
  /// The sender has opened a new connection. Until the receiver has it too, arriving data are of an
  /// older connection.
  void expect_restart() noexcept {
    stream_.clear();
    arrived_ = 0;
    if (!restarts_) handed_over_before_ = handed_over_;
    handed_over_ = 0;
    restarts_ = true;
  }
  /// The receiver has a new connection, whose stream begins at 0.
  void restart() noexcept {
    base_ = 0;
    restarts_ = false;
  }

  /// @return false if more has been delivered than was handed over; then nothing is reported
  [[nodiscard]] bool deliver(std::uint64_t delivered_bytes, Time now) noexcept {
    if (delivered_bytes > (restarts_ ? handed_over_before_ : handed_over_)) return false;
    context_.records.flow(lane_).on_delivered(delivered_bytes, now);
    if (!parts_.empty()) report(delivered_bytes, now);
    return true;
  }

 private:
  void report(std::uint64_t delivered_bytes, Time now) noexcept {
    if (!context_.setup.parts_told) {
      if (delivered_bytes - base_ < bytes_) return;
      base_ += bytes_;
      return context_.listener.on_burst(lane_, {.bytes = bytes_}, now);
    }
    if (restarts_) return;
    stream_.deliver(delivered_bytes, [&](std::uint32_t part) {
      context_.listener.on_part(lane_, part, now);
      if (++arrived_ < parts_.size()) return;
      arrived_ = 0;
      context_.listener.on_burst(lane_, {.bytes = bytes_}, now);
    });
  }

  const ExchangeContext& context_;
  Lane lane_;
  const std::vector<BurstPart>& parts_;
  std::uint64_t bytes_;                   ///< of a burst
  PieceStream stream_;                    ///< if parts are told
  std::size_t arrived_ = 0;               ///< parts of the current burst, if they are told
  bool restarts_ = false;                 ///< see expect_restart()
  std::uint64_t handed_over_ = 0;         ///< bytes, to the sender's connection
  std::uint64_t handed_over_before_ = 0;  ///< to the one before, while restarts_
  std::uint64_t base_ = 0;  ///< stream offset of the current burst, if parts are not told
};

}  // namespace outrider::tg
