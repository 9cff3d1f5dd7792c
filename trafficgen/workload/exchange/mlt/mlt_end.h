#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/burst_identity.h"
#include "trafficgen/core/byte_range.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/mlt/mlt_endpoint.h"
#include "trafficgen/workload/exchange/exchange_context.h"

namespace outrider::tg {

/// What the ends of an exchange over the bounded-loss transport share.
struct MltContext : ExchangeContext {
  MltConfig config;
  std::vector<ByteRange> missing;  ///< of the burst that has just arrived
};

/// One end of the flow between a worker and a target. It sends the bursts of one lane and receives
/// those of the other.
class MltEnd final : private MltListener {
 public:
  /// @param context,host must outlive the end
  MltEnd(MltContext& context, const Lane& sends, Host& host, const MltEndpoint::Setup& setup);

  [[nodiscard]] MltEndpoint& endpoint() noexcept { return endpoint_; }
  [[nodiscard]] const MltEndpoint& endpoint() const noexcept { return endpoint_; }

  /// Prepares for the arrival of a burst.
  void expect(const BurstIdentity& burst) noexcept;
  /// Begins to send a burst. Call tell_owed() when all ends that send it have begun.
  void begin(const BurstIdentity& burst, Time now) noexcept;
  void tell_owed(Time now) noexcept;
  void hand_over(std::uint32_t part, Time now) noexcept;
  /// Returns true if the next burst may begin.
  [[nodiscard]] bool idle() const noexcept { return !sent_ || endpoint_.sender().complete(); }
  /// Adds the sender's counts since the last call to the record of the burst that it is sending.
  void note() noexcept;

 private:
  void on_received(MltEndpoint& from, std::uint32_t tensor, bool satisfied,
                   Time now) noexcept override;
  void on_stopped(MltEndpoint& by, std::uint32_t tensor, Time now) noexcept override;
  void on_gave_up(MltEndpoint& by, Time now) noexcept override;
  void tell(std::uint64_t bytes, Time now) noexcept;
  [[nodiscard]] std::span<const ByteRange> missing() noexcept;

  MltContext& context_;
  Lane sends_;
  Lane receives_;
  Host& host_;
  MltEndpoint endpoint_;
  BurstIdentity expected_{};             ///< the burst that is being received
  std::optional<BurstIdentity> sent_{};  ///< the burst that is being sent
  MltSender::Counters noted_{};          ///< counters that the records already contain
  /// Parts of the burst in the order of their hand-over, from the first part of which the receiver
  /// does not have enough yet.
  Fifo<std::uint32_t> handed_over_;
  std::uint64_t owed_bytes_ = 0;  ///< to be reported as acknowledged when all ends have begun
};

}  // namespace outrider::tg
