#include "switch/signals/signal_gate.h"

#include <algorithm>
#include <chrono>

#include "common/config/addresses.h"

namespace outrider::sw {

namespace {

/// Returns how long an empty bucket takes to fill, rounded up.
Duration refill_time(double tokens, double per_second) {
  return std::chrono::ceil<Duration>(std::chrono::duration<double>(
      std::min(tokens / per_second, std::chrono::duration<double>(Duration::max() / 4).count())));
}

}  // namespace

SignalGate::SignalGate(const SignalConfig& config)
    : config_(config),
      refill_(refill_time(config.token_burst, config.tokens_per_second)),
      index_(kMaxSources),
      recency_(kMaxSources) {
  sources_.reserve(kMaxSources);
  for (const auto& text : config.accept_from) {
    const auto prefix = parse_prefix(text).value;
    accept_from_.insert(prefix->address, prefix->length, 1);
  }
}

SignalGate::Verdict SignalGate::judge(std::uint8_t tos, std::uint32_t source_address, Time now,
                                      tos_signal::Signal& signal) noexcept {
  if (!config_.accept_tos) return Verdict::kNotASignal;
  const auto decoded = tos_signal::decode(tos);
  if (!decoded) return Verdict::kNotASignal;
  if (!accept_from_.lookup(source_address)) return Verdict::kNotAccepted;
  if (!take_token(source_address, now)) return Verdict::kOverRate;
  signal = *decoded;
  if (signal.kind == tos_signal::Kind::kStart && signal.threshold_packets == 0)
    return Verdict::kBadCode;
  return Verdict::kAdmitted;
}

SignalGate::Heard SignalGate::judge(std::span<const std::uint8_t> message,
                                    std::uint32_t source_address, Time now) noexcept {
  Heard heard;
  if (!config_.accept_udp) return heard;
  if (!accept_from_.lookup(source_address)) {
    heard.verdict = Verdict::kNotAccepted;
  } else if (const auto fault = udp_signal::decode(message, config_.due_limit, heard.signal)) {
    heard.verdict = Verdict::kBadMessage;
    heard.fault = *fault;
  } else {
    heard.verdict = take_token(source_address, now) ? Verdict::kAdmitted : Verdict::kOverRate;
  }
  return heard;
}

bool SignalGate::take_token(std::uint32_t source_address, Time now) noexcept {
  const std::uint32_t* known = index_.find({.source_address = source_address});
  const std::uint32_t slot = known != nullptr ? *known : slot_for(source_address, now);
  Source& source = sources_[slot];
  source.last_used = std::max(source.last_used, now);
  recency_.touch(slot);
  return source.bucket.take(now);
}

/// @pre the source has no slot
std::uint32_t SignalGate::slot_for(std::uint32_t source_address, Time now) noexcept {
  double tokens = config_.token_burst;
  auto slot = static_cast<std::uint32_t>(sources_.size());
  if (slot == kMaxSources) {
    slot = recency_.oldest();
    // Whatever was evicted before was used earlier still, so it would be full as well.
    if (now - sources_[slot].last_used < refill_) tokens = 1;
    recency_.remove(slot);
    index_.erase({.source_address = sources_[slot].address});
  } else {
    sources_.emplace_back();
  }
  sources_[slot] = {
      source_address, {config_.tokens_per_second, config_.token_burst, tokens, now}, now};
  index_.insert({.source_address = source_address}, slot);
  recency_.add(slot);
  return slot;
}

}  // namespace outrider::sw
