#include "common/net/mlt_message.h"

#include <cassert>
#include <cstring>

#include "common/net/headers.h"

namespace outrider::mlt {
namespace {

constexpr std::uint16_t kPullBit = 0x8000;
constexpr std::uint8_t kAsks = 1;
constexpr std::uint8_t kStopped = 2;

struct Head {
  Be32 magic;
  std::uint8_t version;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint8_t reserved;
  Be16 job;
  Be16 worker;
  Be32 iteration;
  Be32 tensor;
};
struct Data {
  Be32 offset_values;
  Be16 length_bytes;
  Be16 reserved;
  Be32 transmitted_bytes;
  Be32 sequence;
  Be32 sent_at_ns;
};
struct Probe {
  Be32 probe;
  Be32 transmitted_bytes;
  Be32 sent_at_ns;
};
struct Feedback {
  Be32 seen_bytes;
  Be32 received_bytes;
  Be32 marked_bytes;
  Be32 sent_at_ns;
};
struct Stop {
  Be32 probe;
};
struct Bitmap {
  Be32 probe;
  Be32 first_packet;
  std::array<std::uint8_t, kBitmapPackets / 8> bits;
};
constexpr std::uint32_t kHeadBytes = sizeof(Head);
static_assert(kHeadBytes == 20 && alignof(Head) == 1);
static_assert(offsetof(Head, job) == 8 && offsetof(Head, iteration) == 12);
static_assert(kHeadBytes + sizeof(Data) == kDataHeaderBytes);
static_assert(kHeadBytes + sizeof(Probe) == 32 && kHeadBytes + sizeof(Feedback) == 36);
static_assert(kHeadBytes + sizeof(Stop) == 24);
static_assert(kHeadBytes + sizeof(Bitmap) == kMaxMessageBytes);

/// Returns the length of a message without DATA's values; 0 if there is no such kind.
std::uint32_t bytes_of(std::uint8_t kind) noexcept {
  switch (static_cast<Kind>(kind)) {
    case Kind::kData:
      return kDataHeaderBytes;
    case Kind::kProbe:
      return kHeadBytes + sizeof(Probe);
    case Kind::kFeedback:
      return kHeadBytes + sizeof(Feedback);
    case Kind::kStop:
      return kHeadBytes + sizeof(Stop);
    case Kind::kBitmap:
      return kHeadBytes + sizeof(Bitmap);
  }
  return 0;
}

std::uint8_t flags_allowed(Kind kind) noexcept {
  if (kind == Kind::kFeedback) return kStopped;
  return kind == Kind::kData || kind == Kind::kProbe ? kAsks : std::uint8_t{0};
}

template <class Body>
Body read(std::span<const std::uint8_t> bytes) noexcept {
  Body body;
  std::memcpy(&body, bytes.data() + kHeadBytes, sizeof body);
  return body;
}

template <class Body>
std::uint32_t write(const Body& body, std::span<std::uint8_t, kMaxMessageBytes> out) noexcept {
  std::memcpy(out.data() + kHeadBytes, &body, sizeof body);
  return kHeadBytes + static_cast<std::uint32_t>(sizeof body);
}

std::uint32_t encode_data(const Message& m,
                          std::span<std::uint8_t, kMaxMessageBytes> out) noexcept {
  assert(m.length_bytes > 0 && m.length_bytes % kValueBytes == 0);
  Data d{};
  d.offset_values.set(m.offset_values);
  d.length_bytes.set(m.length_bytes);
  d.transmitted_bytes.set(m.transmitted_bytes);
  d.sequence.set(m.sequence);
  d.sent_at_ns.set(m.sent_at_ns);
  return write(d, out);
}

std::uint32_t encode_probe(const Message& m,
                           std::span<std::uint8_t, kMaxMessageBytes> out) noexcept {
  assert(m.probe != 0);
  Probe p{};
  p.probe.set(m.probe);
  p.transmitted_bytes.set(m.transmitted_bytes);
  p.sent_at_ns.set(m.sent_at_ns);
  return write(p, out);
}

std::uint32_t encode_feedback(const Message& m,
                              std::span<std::uint8_t, kMaxMessageBytes> out) noexcept {
  Feedback f{};
  f.seen_bytes.set(m.seen_bytes);
  f.received_bytes.set(m.received_bytes);
  f.marked_bytes.set(m.marked_bytes);
  f.sent_at_ns.set(m.sent_at_ns);
  return write(f, out);
}

std::optional<Fault> decode_body(std::span<const std::uint8_t> bytes, std::uint32_t payload_bytes,
                                 Message& m) noexcept {
  switch (m.kind) {
    case Kind::kData: {
      const auto d = read<Data>(bytes);
      m.offset_values = d.offset_values.get();
      m.length_bytes = d.length_bytes.get();
      m.transmitted_bytes = d.transmitted_bytes.get();
      m.sequence = d.sequence.get();
      m.sent_at_ns = d.sent_at_ns.get();
      if (d.reserved.get() != 0) return Fault::kReserved;
      const bool whole = m.length_bytes != 0 && m.length_bytes % kValueBytes == 0;
      if (!whole || kDataHeaderBytes + m.length_bytes != payload_bytes) return Fault::kBadValues;
      break;
    }
    case Kind::kProbe: {
      const auto p = read<Probe>(bytes);
      m.probe = p.probe.get();
      m.transmitted_bytes = p.transmitted_bytes.get();
      m.sent_at_ns = p.sent_at_ns.get();
      if (m.probe == 0) return Fault::kZeroProbe;
      break;
    }
    case Kind::kFeedback: {
      const auto f = read<Feedback>(bytes);
      m.seen_bytes = f.seen_bytes.get();
      m.received_bytes = f.received_bytes.get();
      m.marked_bytes = f.marked_bytes.get();
      m.sent_at_ns = f.sent_at_ns.get();
      break;
    }
    case Kind::kStop:
      m.probe = read<Stop>(bytes).probe.get();
      break;
    case Kind::kBitmap: {
      const auto b = read<Bitmap>(bytes);
      m.probe = b.probe.get();
      m.first_packet = b.first_packet.get();
      m.bits = b.bits;
      if (m.probe == 0) return Fault::kZeroProbe;
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

std::uint32_t encode(const Message& m, std::span<std::uint8_t, kMaxMessageBytes> out) noexcept {
  assert(m.identity.worker < kPullBit);
  Head head{};
  head.magic.set(kMagic);
  head.version = kVersion;
  head.kind = static_cast<std::uint8_t>(m.kind);
  head.flags = static_cast<std::uint8_t>((m.asks ? kAsks : 0) | (m.stopped ? kStopped : 0));
  assert((head.flags & ~flags_allowed(m.kind)) == 0);
  head.job.set(m.identity.job);
  head.worker.set(static_cast<std::uint16_t>(
      m.identity.worker | (m.identity.direction == BurstDirection::kPull ? kPullBit : 0)));
  head.iteration.set(m.identity.iteration);
  head.tensor.set(m.tensor);
  std::memcpy(out.data(), &head, sizeof head);
  switch (m.kind) {
    case Kind::kData:
      return encode_data(m, out);
    case Kind::kProbe:
      return encode_probe(m, out);
    case Kind::kFeedback:
      return encode_feedback(m, out);
    case Kind::kStop: {
      Stop s{};
      s.probe.set(m.probe);
      return write(s, out);
    }
    case Kind::kBitmap:
      break;
  }
  assert(m.kind == Kind::kBitmap && m.probe != 0);
  Bitmap b{};
  b.probe.set(m.probe);
  b.first_packet.set(m.first_packet);
  b.bits = m.bits;
  return write(b, out);
}

std::optional<Fault> decode(std::span<const std::uint8_t> present, std::uint32_t payload_bytes,
                            Message& message) noexcept {
  assert(payload_bytes >= present.size());
  if (present.size() < kHeadBytes) return Fault::kBadLength;
  Head head;
  std::memcpy(&head, present.data(), sizeof head);
  if (head.magic.get() != kMagic) return Fault::kBadMagic;
  if (head.version != kVersion) return Fault::kBadVersion;
  const std::uint32_t bytes = bytes_of(head.kind);
  if (bytes == 0) return Fault::kBadKind;
  const auto kind = static_cast<Kind>(head.kind);
  if (present.size() < bytes || (kind != Kind::kData && payload_bytes != bytes))
    return Fault::kBadLength;
  if (head.reserved != 0 || (head.flags & ~flags_allowed(kind)) != 0) return Fault::kReserved;
  const std::uint16_t worker = head.worker.get();
  Message m{.kind = kind,
            .asks = (head.flags & kAsks) != 0,
            .stopped = (head.flags & kStopped) != 0,
            .identity = {.job = head.job.get(),
                         .worker = static_cast<std::uint16_t>(worker & ~kPullBit),
                         .iteration = head.iteration.get(),
                         .direction = (worker & kPullBit) != 0 ? BurstDirection::kPull
                                                               : BurstDirection::kPush},
            .tensor = head.tensor.get()};
  if (const auto fault = decode_body(present, payload_bytes, m)) return fault;
  message = m;
  return std::nullopt;
}

}  // namespace outrider::mlt
