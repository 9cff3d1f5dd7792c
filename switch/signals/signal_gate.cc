#include "switch/signals/signal_gate.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/net/signal_tag.h"

namespace outrider::sw {

namespace {

/// Returns how long an empty bucket takes to fill, rounded up.
Duration refill_time(double tokens, double per_second) {
  return std::chrono::ceil<Duration>(std::chrono::duration<double>(
      std::min(tokens / per_second, std::chrono::duration<double>(Duration::max() / 4).count())));
}

}  // namespace

SignalGate::SignalGate(const SwitchConfig& config)
    : config_(config.signals),
      refill_(refill_time(config_.token_burst, config_.tokens_per_second)),
      index_(kMaxSources),
      recency_(kMaxSources) {
  sources_.reserve(kMaxSources);
  key_by_id_.fill(kNoKey);
  trusted_.emplace_back(config_.accept_from, std::vector<std::string>{}, config);
  insert_prefixes(listed_, config_.accept_from);
  for (const auto& trusted : config_.trusted) {
    trusted_.emplace_back(trusted.from, trusted.ports, config);
    insert_prefixes(listed_, trusted.from);
  }
  const auto numbers = share_numbers(config_);
  for (const auto& signer : config_.signers) {
    insert_prefixes(listed_, signer.accept_from);
    insert_prefixes(announcers_, signer.accept_from);
    for (const auto& read : signer.read_keys) {
      key_by_id_[read.key.id] = static_cast<std::uint16_t>(keys_.size());
      keys_.push_back({read.key, signers_.size(), ReplayTable(read.floor)});
    }
    signers_.push_back({SourceFilter(signer.accept_from, signer.ports, config),
                        {},
                        TokenBucket(signer.tokens_per_second, signer.token_burst, Time{}),
                        signer,
                        numbers[signers_.size()]});
    if (!signer.destinations.empty())
      insert_prefixes(signers_.back().destinations.emplace(), signer.destinations);
  }
}

void SignalGate::inherit(SignalGate& old) noexcept {
  for (Key& key : keys_) {
    const std::uint16_t position = old.key_by_id_[key.key.id];
    if (position != kNoKey && old.keys_[position].key.secret == key.key.secret)
      std::swap(key.seen, old.keys_[position].seen);
  }
}

SignalGate::Verdict SignalGate::judge(std::uint8_t tos, const Origin& from, Time now,
                                      tos_signal::Signal& signal) noexcept {
  if (!config_.accept_tos) return Verdict::kNotASignal;
  const auto decoded = tos_signal::decode(tos);
  if (!decoded) return Verdict::kNotASignal;
  if (!trusts(from)) return Verdict::kNotAccepted;
  if (!take_token(from, std::nullopt, now)) return Verdict::kOverRate;
  signal = *decoded;
  if (signal.kind == tos_signal::Kind::kStart && signal.threshold_packets == 0)
    return Verdict::kBadCode;
  return Verdict::kAdmitted;
}

SignalGate::Judged SignalGate::judge(std::span<const std::uint8_t> message, const FlowKey& datagram,
                                     std::uint32_t port, Time now) noexcept {
  Judged judged;
  if (!config_.accept_udp) return judged;
  if (!listed_.lookup(datagram.source_address) &&
      !announcers_.lookup(datagram.destination_address)) {
    judged.verdict = Verdict::kNotAccepted;
  } else if (const auto fault = udp_signal::decode(message, config_.due_limit, judged.signal)) {
    judged.verdict = Verdict::kBadMessage;
    judged.fault = *fault;
  } else {
    judged.verdict = judged.signal.proof ? judge_signed(judged.signal, datagram, port, now)
                                         : judge_unsigned({datagram.source_address, port}, now);
    if (judged.signal.proof && judged.verdict == Verdict::kAdmitted)
      judged.signer = signers_[keys_[key_by_id_[judged.signal.proof->key_id]].signer].number;
  }
  return judged;
}

bool SignalGate::trusts(const Origin& from) const noexcept {
  return std::ranges::any_of(trusted_, [&from](const SourceFilter& sources) {
    return sources.covers(from.address, from.port);
  });
}

bool SignalGate::accepts(const Origin& from) const noexcept {
  return trusts(from) || std::ranges::any_of(signers_, [&from](const Signer& signer) {
           return signer.sources.covers(from.address, from.port);
         });
}

SignalGate::Verdict SignalGate::judge_unsigned(const Origin& from, Time now) noexcept {
  if (!trusts(from)) return Verdict::kNotAccepted;
  if (config_.require_signed) return Verdict::kUnsigned;
  return take_token(from, std::nullopt, now) ? Verdict::kAdmitted : Verdict::kOverRate;
}

/// @pre signal.proof
SignalGate::Verdict SignalGate::judge_signed(const udp_signal::Signal& signal,
                                             const FlowKey& datagram, std::uint32_t port,
                                             Time now) noexcept {
  const std::uint8_t key_id = signal.proof->key_id;
  const std::uint16_t position = key_by_id_[key_id];
  if (position == kNoKey) return Verdict::kUnknownKey;
  Key& key = keys_[position];
  Signer& signer = signers_[key.signer];
  const bool is_start = signal.kind == udp_signal::Kind::kStart;
  const Origin from{datagram.source_address, port};
  if (!(is_start ? signer.sources.covers(from.address, from.port)
                 : signer.sources.lists(datagram.destination_address)))
    return Verdict::kNotAccepted;
  if (!take_token(from, key_id, now)) return Verdict::kOverRate;
  if (!udp_signal::is_signed_by(signal, key.key, datagram)) return Verdict::kBadTag;
  return is_start ? judge_new(signal, datagram, key, signer, now) : Verdict::kAdmitted;
}

/// @param start  has the right tag
SignalGate::Verdict SignalGate::judge_new(const udp_signal::Signal& start, const FlowKey& datagram,
                                          Key& key, Signer& signer, Time now) noexcept {
  switch (key.seen.take(datagram.source_address, start.counter, now)) {
    case ReplayTable::Verdict::kReplayed:
      return Verdict::kReplayed;
    case ReplayTable::Verdict::kNoRoom:
      return Verdict::kNoWindow;
    case ReplayTable::Verdict::kNew:
      break;
  }
  if (!signer.bucket.take(now)) return Verdict::kOverKeyRate;
  return may_announce(signer, start, datagram.destination_address) ? Verdict::kAdmitted
                                                                   : Verdict::kNotAuthorised;
}

bool SignalGate::may_announce(const Signer& signer, const udp_signal::Signal& start,
                              std::uint32_t destination) noexcept {
  const SignerConfig& may = signer.config;
  return (!signer.destinations || signer.destinations->lookup(destination)) &&
         (!may.destination_ports || may.destination_ports->contains(start.destination_port)) &&
         start.threshold_packets >= may.min_threshold_packets &&
         start.threshold_packets <= may.max_threshold_packets &&
         (!may.max_burst_bytes ||
          (start.burst_bytes > 0 && start.burst_bytes <= *may.max_burst_bytes)) &&
         (!may.due_limit || start.due_in <= *may.due_limit);
}

bool SignalGate::take_token(const Origin& from, std::optional<std::uint8_t> key_id,
                            Time now) noexcept {
  const auto of_key = static_cast<std::uint16_t>(key_id ? 1 + *key_id : 0);
  const FlowKey key{.source_address = from.address,
                    .source_port = static_cast<std::uint16_t>(from.port),
                    .destination_port = of_key};
  const std::uint32_t* known = index_.find(key);
  const std::uint32_t slot = known != nullptr ? *known : slot_for(key, now);
  Source& source = sources_[slot];
  source.last_used = std::max(source.last_used, now);
  recency_.touch(slot);
  return source.bucket.take(now);
}

/// @pre the source has no slot
std::uint32_t SignalGate::slot_for(const FlowKey& key, Time now) noexcept {
  double tokens = config_.token_burst;
  auto slot = static_cast<std::uint32_t>(sources_.size());
  if (slot == kMaxSources) {
    slot = recency_.oldest();
    // Whatever was evicted before was used earlier still, so it would be full as well.
    if (now - sources_[slot].last_used < refill_) tokens = 1;
    recency_.remove(slot);
    index_.erase(sources_[slot].key);
  } else {
    sources_.emplace_back();
  }
  sources_[slot] = {key, {config_.tokens_per_second, config_.token_burst, tokens, now}, now};
  index_.insert(key, slot);
  recency_.add(slot);
  return slot;
}

}  // namespace outrider::sw
