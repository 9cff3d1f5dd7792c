#include "switch/regulation/windows/burst_flights.h"

#include <algorithm>
#include <cassert>

#include "common/core/sequence.h"

namespace outrider {
namespace {

/// STARTs further apart than this give no length: they are of different connections.
constexpr std::uint32_t kLongestLearned_bytes = 1U << 31;

}  // namespace

std::uint32_t BurstFlights::Burst::flight() const noexcept {
  const std::int32_t bytes = sequence_distance(end, acknowledged);
  return bytes > 0 ? static_cast<std::uint32_t>(bytes) : 0;
}

/// A longer burst does not fit in half the circle of sequence numbers.
bool BurstFlights::Burst::known() const noexcept {
  return length_bytes != 0 && length_bytes < kLongestLearned_bytes;
}

std::uint64_t BurstFlights::Burst::remaining() const noexcept {
  const std::uint64_t arrived = end - announced_sequence;
  return known() && arrived < length_bytes ? length_bytes - arrived : 0;
}

BurstFlights::BurstFlights(std::uint32_t max_entries)
    : index_(max_entries), destinations_(max_entries) {
  bursts_.reserve(max_entries);
}

BurstFlights::Burst* BurstFlights::find(const FlowKey& flow) noexcept {
  const std::uint32_t* at = index_.find(flow);
  return at == nullptr ? nullptr : &bursts_[*at];
}

BurstFlights::Destination& BurstFlights::destination_of(const Burst& b) noexcept {
  return *destinations_.find(predicted_to(b.flow.destination_address));
}

void BurstFlights::list(const FlowKey& flow, std::uint32_t slot) noexcept {
  index_.insert(flow, slot);
  const FlowKey address = predicted_to(flow.destination_address);
  Destination* destination = destinations_.find(address);
  if (destination == nullptr) destinations_.insert(address, {.bursts = 1});
  else ++destination->bursts;
}

/// Returns a slot for a burst that is listed under `flow` from then on, with what another burst
/// has left there; nullptr if there is none.
BurstFlights::Burst* BurstFlights::slot_for(const FlowKey& flow) noexcept {
  if (bursts_.size() < index_.max_entries()) {
    list(flow, static_cast<std::uint32_t>(bursts_.size()));
    return &bursts_.emplace_back();
  }
  for (int probes = kProbes; probes > 0; --probes) {
    const auto slot = static_cast<std::uint32_t>(next_victim_);
    Burst& victim = bursts_[slot];
    next_victim_ = (next_victim_ + 1) % bursts_.size();
    if (is_open(victim)) continue;
    index_.erase(victim.flow);
    if (--destination_of(victim).bursts == 0)
      destinations_.erase(predicted_to(victim.flow.destination_address));
    list(flow, slot);
    return &victim;
  }
  return nullptr;
}

bool BurstFlights::on_start(const FlowKey& flow, std::uint32_t announced_sequence,
                            std::uint64_t bytes) noexcept {
  if (Burst* predicted = find_predicted(flow); predicted != nullptr && is_open(*predicted))
    close(*predicted);
  Burst* burst = find(flow);
  if (burst != nullptr) {
    const std::uint32_t since_last = announced_sequence - burst->announced_sequence;
    if (since_last == 0 && is_open(*burst)) return true;  // a repeated START
    if (bytes == 0 && since_last < kLongestLearned_bytes) bytes = since_last;
    if (is_open(*burst)) close(*burst);
  } else {
    burst = slot_for(flow);
    if (burst == nullptr) return false;
  }
  *burst = {.flow = flow,
            .announced_sequence = announced_sequence,
            .end = announced_sequence,
            .acknowledged = announced_sequence,
            .length_bytes = bytes};
  open(*burst);
  return true;
}

bool BurstFlights::on_prediction(std::uint32_t address, std::uint64_t bytes) noexcept {
  const Destination* destination = destinations_.find(predicted_to(address));
  if (destination != nullptr && destination->opened_in == period_ && destination->announced > 0)
    return true;
  const FlowKey key = predicted_to(address);
  Burst* burst = find(key);
  if (burst == nullptr) burst = slot_for(key);
  if (burst == nullptr) return false;
  if (is_open(*burst)) close(*burst);
  // Flows that joined the prediction before have not joined this one.
  *burst = {.flow = key, .length_bytes = bytes, .prediction = ++predictions_};
  open(*burst);
  return true;
}

bool BurstFlights::on_payload(const FlowKey& flow, std::uint32_t sequence,
                              std::uint32_t bytes) noexcept {
  assert(bytes > 0);
  Burst* burst = find(flow);
  if (burst == nullptr || !is_open(*burst)) {
    const Burst* predicted = find_predicted(flow);
    if (predicted != nullptr &&
        (is_open(*predicted) || (burst != nullptr && has_joined(*burst, *predicted))))
      return join(flow, sequence, bytes);
  }
  return burst != nullptr && reach(*burst, later_sequence(burst->end, sequence + bytes));
}

/// @pre the predicted burst is open, or the flow has joined it already
/// @return true if it opened the predicted burst again
bool BurstFlights::join(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes) noexcept {
  const std::uint64_t prediction = find_predicted(flow)->prediction;
  Burst* member = find(flow);
  if (member == nullptr || member->prediction != prediction) {
    if (member == nullptr) member = slot_for(flow);  // never evicts an open burst
    if (member == nullptr) return false;
    *member = {.flow = flow,
               .announced_sequence = sequence,
               .end = sequence,
               .acknowledged = sequence,
               .prediction = prediction};
  }
  const std::uint32_t end = later_sequence(member->end, sequence + bytes);
  const std::uint32_t fresh = end - member->end;
  member->end = end;
  Burst& predicted = *find_predicted(flow);
  return reach(predicted, predicted.end + fresh);
}

/// @return true if it opened the burst again
bool BurstFlights::reach(Burst& b, std::uint32_t end) noexcept {
  if (end == b.end) return false;
  const bool was_whole = b.known() && b.remaining() == 0;
  const std::uint32_t flight_before = b.flight();
  const std::uint64_t remaining_before = b.remaining();
  b.end = end;
  if (!is_open(b)) {
    if (!was_whole) return false;  // regulation has ended
    b.length_bytes = 0;            // longer than announced
    open(b);
    return true;
  }
  in_flight_bytes_ = in_flight_bytes_ - flight_before + b.flight();
  remaining_bytes_ = remaining_bytes_ - remaining_before + b.remaining();
  if (!b.known() || b.remaining() != 0) return false;
  ++arrived_whole_;
  close(b);
  return false;
}

void BurstFlights::on_ack(const FlowKey& flow, std::uint32_t acknowledgment) noexcept {
  Burst* burst = find(flow);
  if (burst == nullptr || sequence_distance(acknowledgment, burst->end) > 0) return;
  const std::uint32_t before = burst->acknowledged;
  acknowledge(*burst, later_sequence(before, acknowledgment));
  Burst* predicted = find_predicted(flow);
  if (predicted != nullptr && has_joined(*burst, *predicted))
    acknowledge(*predicted, predicted->acknowledged + (burst->acknowledged - before));
}

void BurstFlights::acknowledge(Burst& b, std::uint32_t acknowledged) noexcept {
  const std::uint32_t before = b.flight();
  b.acknowledged = acknowledged;
  if (is_open(b)) in_flight_bytes_ = in_flight_bytes_ - before + b.flight();
}

void BurstFlights::open(Burst& b) noexcept {
  b.opened_in = period_;
  ++open_;
  if (b.prediction == 0) {
    Destination& destination = destination_of(b);
    if (destination.opened_in != period_) destination.announced = 0;
    destination.opened_in = period_;
    ++destination.announced;
  }
  open_unknown_ += !b.known();
  in_flight_bytes_ += b.flight();
  remaining_bytes_ += b.remaining();
}

void BurstFlights::close(Burst& b) noexcept {
  assert(is_open(b) && open_ > 0);
  b.opened_in = 0;
  --open_;
  if (b.prediction == 0) --destination_of(b).announced;
  open_unknown_ -= !b.known();
  in_flight_bytes_ -= b.flight();
  remaining_bytes_ -= b.remaining();
  assert(open_ > 0 || (open_unknown_ == 0 && in_flight_bytes_ == 0 && remaining_bytes_ == 0));
}

void BurstFlights::close_all() noexcept {
  ++period_;
  open_ = 0;
  open_unknown_ = 0;
  in_flight_bytes_ = 0;
  remaining_bytes_ = 0;
}

}  // namespace outrider
