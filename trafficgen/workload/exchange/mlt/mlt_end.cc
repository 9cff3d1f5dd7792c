#include "trafficgen/workload/exchange/mlt/mlt_end.h"

#include <utility>

#include "trafficgen/workload/exchange/gradient_magnitudes.h"
#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {

MltEnd::MltEnd(MltContext& context, const Lane& sends, Host& host, const MltEndpoint::Setup& setup)
    : context_(context),
      sends_(sends),
      receives_{
          sends.worker, sends.target,
          sends.direction == BurstDirection::kPush ? BurstDirection::kPull : BurstDirection::kPush},
      host_(host),
      endpoint_(context.config, context.setup.tcp.control, setup, *this),
      handed_over_(setup.sends.tensors.size()) {}

void MltEnd::expect(const BurstIdentity& burst) noexcept {
  expected_ = burst;
  endpoint_.begin_receive(expected_);
}

/// A next burst begins only when the receivers have enough of the last one, so parts of it that
/// were not acknowledged yet count as acknowledged.
void MltEnd::begin(const BurstIdentity& burst, Time now) noexcept {
  note();
  while (!handed_over_.empty())
    owed_bytes_ += context_.setup.parts(sends_)[handed_over_.pop()].bytes;
  sent_ = burst;
  endpoint_.begin_send(burst, now);
  if (burst.direction != BurstDirection::kPush ||
      context_.config.magnitudes != Magnitudes::kGradient)
    return;
  endpoint_.rank_by([&](const ByteRange& bytes) {  // by the worker's gradients
    return context_.setup.magnitudes->mean_magnitude(sends_.worker, sends_.target, bytes);
  });
}

void MltEnd::tell_owed(Time now) noexcept { tell(std::exchange(owed_bytes_, 0), now); }

void MltEnd::tell(std::uint64_t bytes, Time now) noexcept {
  if (context_.setup.acknowledged(sends_.direction) && bytes > 0)
    context_.listener.on_acknowledged(sends_, bytes, now);
}

void MltEnd::hand_over(std::uint32_t part, Time now) noexcept {
  handed_over_.push(part);
  endpoint_.hand_over(part, now);
  host_.changed(endpoint_, now);
}

void MltEnd::on_received(MltEndpoint& from, std::uint32_t tensor, bool satisfied,
                         Time now) noexcept {
  context_.records.flow(receives_).on_delivered(from.delivered_bytes(), now);
  if (!satisfied) return;
  const bool complete = from.receiver().complete();
  BurstArrival arrival;
  if (complete) {
    arrival = {from.receiver().delivered_bytes(), missing()};
    ++expected_.iteration;
    // A pull is expected when its iteration begins.
    if (receives_.direction == BurstDirection::kPush) from.begin_receive(expected_);
  }
  context_.listener.on_part(receives_, tensor, now);
  if (complete) context_.listener.on_burst(receives_, arrival, now);
}

/// Acknowledges as a stream would: in order, up to the first gap.
void MltEnd::on_stopped(MltEndpoint& by, std::uint32_t, Time now) noexcept {
  std::uint64_t bytes = 0;
  while (!handed_over_.empty() && by.sender().stopped(handed_over_.peek()))
    bytes += context_.setup.parts(sends_)[handed_over_.pop()].bytes;
  tell(bytes, now);
  if (by.sender().complete()) context_.listener.on_idle(sends_, now);
}

void MltEnd::on_gave_up(MltEndpoint&, Time now) noexcept { context_.listener.on_gave_up(now); }

/// Returns ranges within the burst, whose tensors follow each other in the flow's stream.
std::span<const ByteRange> MltEnd::missing() noexcept {
  context_.missing.clear();
  std::uint64_t tensor_begin = 0;
  const auto& received = context_.setup.parts(receives_);
  for (std::uint32_t t = 0; t < received.size(); ++t) {
    endpoint_.receiver().for_each_missing(t, [&](std::uint64_t at, std::uint64_t bytes) {
      context_.missing.push_back({tensor_begin + at, tensor_begin + at + bytes});
    });
    tensor_begin += received[t].bytes;
  }
  return context_.missing;
}

void MltEnd::note() noexcept {
  if (!sent_) return;
  const MltSender::Counters& c = endpoint_.sender().counters();
  BurstRecord& record = context_.records.burst(*sent_);
  record.rtos += static_cast<std::uint32_t>(c.timeouts - noted_.timeouts);
  record.retransmitted += static_cast<std::uint32_t>(c.retransmitted - noted_.retransmitted);
  record.lost_bytes += c.lost - noted_.lost;
  record.unsent_bytes += c.unsent - noted_.unsent;
  noted_ = c;
}

}  // namespace outrider::tg
