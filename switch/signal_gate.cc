#include "switch/signal_gate.h"

#include "common/config/addresses.h"

namespace outrider {

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
  const FlowKey key{.source_address = source_address};
  TokenBucket* bucket = buckets_.find(key);
  if (bucket == nullptr)
    bucket = buckets_.insert(key, {config_.tokens_per_second, config_.token_burst, now});
  if (bucket == nullptr || !bucket->take(now)) return Verdict::kOverRate;
  signal = *decoded;
  if (signal.kind == tos_signal::Kind::kStart && signal.threshold_packets == 0)
    return Verdict::kBadCode;
  return Verdict::kAdmitted;
}

}  // namespace outrider
