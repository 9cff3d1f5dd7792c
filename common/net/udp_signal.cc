#include "common/net/udp_signal.h"

#include <cassert>
#include <cstring>

#include "common/net/headers.h"

namespace outrider::udp_signal {
namespace {

constexpr std::uint16_t kPullBit = 0x8000;
constexpr int kKeyIdShift = 56;  ///< of the key's id in a signed message's due_in_ns
constexpr std::uint64_t kLeadBit = std::uint64_t{1} << 63;  ///< of an unsigned ACK's counter

/// A 64-bit integer in network byte order, at any alignment.
struct Be64 {
  Be32 high;
  Be32 low;

  [[nodiscard]] std::uint64_t get() const noexcept {
    return std::uint64_t{high.get()} << 32 | low.get();
  }
  void set(std::uint64_t v) noexcept {
    high.set(static_cast<std::uint32_t>(v >> 32));
    low.set(static_cast<std::uint32_t>(v));
  }
};

struct Message {
  Be32 magic;
  std::uint8_t version;
  std::uint8_t kind;
  Be16 threshold_packets;
  Be16 job;
  Be16 worker;
  Be32 iteration;
  Be64 burst_bytes;
  Be64 due_in_ns;  ///< signed: under the key's id
  Be16 source_port;
  Be16 destination_port;
  Be32 sequence;
  Be64 counter;
  Tag tag;
};
static_assert(sizeof(Message) == kBytes && alignof(Message) == 1);
static_assert(offsetof(Message, version) == 4 && offsetof(Message, kind) == 5);
static_assert(offsetof(Message, threshold_packets) == 6 && offsetof(Message, job) == 8);
static_assert(offsetof(Message, worker) == 10 && offsetof(Message, iteration) == 12);
static_assert(offsetof(Message, burst_bytes) == 16 && offsetof(Message, due_in_ns) == 24);
static_assert(offsetof(Message, source_port) == 32 && offsetof(Message, destination_port) == 34);
static_assert(offsetof(Message, sequence) == 36 && offsetof(Message, counter) == 40);
static_assert(offsetof(Message, tag) == kTagOffset);

std::uint64_t due_in_ns(const Message& m) noexcept {
  const std::uint64_t field = m.due_in_ns.get();
  return m.version == kSigned ? field & ((std::uint64_t{1} << kKeyIdShift) - 1) : field;
}

std::optional<Proof> proof_of(const Message& m) noexcept {
  if (m.version != kSigned) return std::nullopt;
  return Proof{static_cast<std::uint8_t>(m.due_in_ns.get() >> kKeyIdShift), m.tag};
}

/// Returns whether the message may carry a lead instead of a counter.
bool has_place_of_lead(const Message& m) noexcept {
  return m.version == kUnsigned && m.kind == static_cast<std::uint8_t>(Kind::kAck);
}

std::optional<Duration> told_lead(const Message& m) noexcept {
  const std::uint64_t field = m.counter.get();
  if (!has_place_of_lead(m) || (field & kLeadBit) == 0) return std::nullopt;
  return Duration{static_cast<std::int64_t>(field & ~kLeadBit)};
}

std::uint64_t counter_field(const Message& m, const Signal& s) noexcept {
  if (!has_place_of_lead(m)) return s.counter;
  if (!s.told_lead) return s.counter & ~kLeadBit;
  return static_cast<std::uint64_t>(s.told_lead->count()) | kLeadBit;
}

std::optional<Fault> fault_of(const Message& m, Duration due_limit) noexcept {
  if (m.magic.get() != kMagic) return Fault::kBadMagic;
  if (m.version != kUnsigned && m.version != kSigned) return Fault::kBadVersion;
  if (m.kind != static_cast<std::uint8_t>(Kind::kStart) &&
      m.kind != static_cast<std::uint8_t>(Kind::kAck))
    return Fault::kBadKind;
  if (m.threshold_packets.get() == 0) return Fault::kZeroTarget;
  if (m.source_port.get() == 0 || m.destination_port.get() == 0) return Fault::kZeroPort;
  if (due_in_ns(m) > static_cast<std::uint64_t>(due_limit.count())) return Fault::kDueTooFar;
  if (m.version == kUnsigned && m.tag != Tag{}) return Fault::kReserved;
  return std::nullopt;
}

}  // namespace

void encode(const Signal& s, std::span<std::uint8_t, kBytes> out) noexcept {
  assert(s.threshold_packets > 0 && s.source_port > 0 && s.destination_port > 0);
  assert(s.identity.worker < kPullBit && s.due_in >= Duration::zero());
  Message m{};
  m.magic.set(kMagic);
  m.version = s.proof ? kSigned : kUnsigned;
  m.kind = static_cast<std::uint8_t>(s.kind);
  m.threshold_packets.set(s.threshold_packets);
  m.job.set(s.identity.job);
  m.worker.set(static_cast<std::uint16_t>(
      s.identity.worker | (s.identity.direction == BurstDirection::kPull ? kPullBit : 0)));
  m.iteration.set(s.identity.iteration);
  m.burst_bytes.set(s.burst_bytes);
  auto due_in_ns = static_cast<std::uint64_t>(s.due_in.count());
  if (s.proof) {
    assert(s.due_in <= kSignedDueLimit);
    due_in_ns |= std::uint64_t{s.proof->key_id} << kKeyIdShift;
    m.tag = s.proof->tag;
  }
  m.due_in_ns.set(due_in_ns);
  m.source_port.set(s.source_port);
  m.destination_port.set(s.destination_port);
  m.sequence.set(s.sequence);
  assert(!s.told_lead || (has_place_of_lead(m) && *s.told_lead >= Duration::zero()));
  m.counter.set(counter_field(m, s));
  std::memcpy(out.data(), &m, sizeof m);
}

std::optional<Fault> decode(std::span<const std::uint8_t> payload, Duration due_limit,
                            Signal& signal) noexcept {
  assert(due_limit >= Duration::zero());
  if (payload.size() != kBytes) return Fault::kBadLength;
  Message m;
  std::memcpy(&m, payload.data(), sizeof m);
  if (const auto fault = fault_of(m, due_limit)) return fault;
  const std::uint16_t worker = m.worker.get();
  const auto lead = told_lead(m);
  signal = {.kind = static_cast<Kind>(m.kind),
            .threshold_packets = m.threshold_packets.get(),
            .identity = {.job = m.job.get(),
                         .worker = static_cast<std::uint16_t>(worker & ~kPullBit),
                         .iteration = m.iteration.get(),
                         .direction = (worker & kPullBit) != 0 ? BurstDirection::kPull
                                                               : BurstDirection::kPush},
            .burst_bytes = m.burst_bytes.get(),
            .due_in = Duration{static_cast<std::int64_t>(due_in_ns(m))},
            .source_port = m.source_port.get(),
            .destination_port = m.destination_port.get(),
            .sequence = m.sequence.get(),
            .counter = lead ? 0 : m.counter.get(),
            .proof = proof_of(m),
            .told_lead = lead};
  return std::nullopt;
}

}  // namespace outrider::udp_signal
