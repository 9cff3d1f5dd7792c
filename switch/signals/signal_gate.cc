#include "switch/signals/signal_gate.h"

#include "common/config/addresses.h"

namespace outrider::sw {

SignalGate::SignalGate(const SignalConfig& config) : config_(config), buckets_(kMaxSources) {
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
  const FlowKey key{.source_address = source_address};
  TokenBucket* bucket = buckets_.find(key);
  if (bucket == nullptr)
    bucket = buckets_.insert(key, {config_.tokens_per_second, config_.token_burst, now});
  return bucket != nullptr && bucket->take(now);
}

}  // namespace outrider::sw
