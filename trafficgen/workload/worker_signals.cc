// STARTs of a worker: what one says, and what is made to go wrong with it.
#include <algorithm>

#include "trafficgen/workload/worker.h"

namespace outrider {

UdpStart Worker::start_of(const FlowKey& flow, std::uint32_t server, const BurstIdentity& burst,
                          std::uint32_t sequence, Time due_at) const noexcept {
  const AnnounceConfig& config = job_.setup().config.announce;
  return {.flow = flow,
          .port = config.signal_port,
          .sequence = sequence,
          .threshold_packets = config.threshold_packets,
          .identity = burst,
          .burst_bytes = job_.is_ring() ? job_.push_bytes(index_) : job_.shard_bytes(server),
          .due_at = due_at};
}

void Worker::send_start(const UdpStart& start, Time now) noexcept {
  if (job_.setup().config.announce.signal_form == SignalForm::kUdp) host_.send_start(start, now);
  else host_.send_start(start.flow, start.sequence, start.threshold_packets, now);
}

/// A START that the worker owes a burst: it leaves, or is lost.
void Worker::send_meant(const UdpStart& start, const SignalFault& fault, Time now) noexcept {
  StartCounts& counts = job_.starts();
  ++counts.meant;
  if (fault.lost) {
    ++counts.lost;
    return;
  }
  if (fault.shift > Duration::zero()) ++counts.late;
  if (fault.shift < Duration::zero()) ++counts.early;
  send_start(start, now);
}

void Worker::begin_copies(std::uint32_t iteration, const SignalFault& fault, Time now) noexcept {
  if (fault.copies == 0) return;
  copies_of_ = iteration;
  copies_left_ = fault.copies;
  if (job_.faults().copy_gap() > Duration::zero())
    return host_.set_timer(*this, iteration * kTags + kCopyDue, now + job_.faults().copy_gap());
  while (copies_left_ > 0) send_copies(now);
}

/// Those of an earlier START end with the next one that is copied.
void Worker::on_copy_due(std::uint32_t iteration, Time now) noexcept {
  if (iteration != copies_of_ || copies_left_ == 0) return;
  send_copies(now);
  if (copies_left_ > 0)
    host_.set_timer(*this, iteration * kTags + kCopyDue, now + job_.faults().copy_gap());
}

/// A START of a burst that never comes, of a connection that does not exist.
void Worker::forge(Time now) noexcept {
  const auto server = static_cast<std::uint32_t>(forged_ % job_.targets());
  const FlowKey flow{host_.address(), job_.target(index_, server).address(), host_.allocate_port(),
                     job_.setup().config.tcp_port};
  send_start(start_of(flow, server, record().identity, Host::initial_sequence(flow) + 1,
                      now + job_.setup().config.announce.lead),
             now);
  ++job_.starts().forged;
  set_timer(kForgeryDue, now + job_.faults().forged_gap(index_, ++forged_));
}

/// With "overlap" the burst is ready when it is ready: a late START does not hold it.
bool Worker::waits_for_start(Time now) const noexcept {
  const LeadSource source = job_.setup().config.announce.lead_source;
  if (source == LeadSource::kNone) return false;
  if (source == LeadSource::kOverlap && fault_.shift > Duration::zero()) return false;
  return !announced_ || !answered_ || now < lead_over_at_;
}

}  // namespace outrider
