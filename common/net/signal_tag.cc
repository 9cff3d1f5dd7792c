#include "common/net/signal_tag.h"

#include <sodium/crypto_shorthash_siphash24.h>
#include <sodium/utils.h>

#include <array>
#include <cassert>
#include <cstring>

#include "common/net/headers.h"

namespace outrider::udp_signal {
namespace {

static_assert(std::tuple_size_v<Tag> == crypto_shorthash_siphashx24_BYTES);
static_assert(sizeof(SignalKey::secret) == crypto_shorthash_siphashx24_KEYBYTES);

struct DatagramFields {
  Be32 source_address;
  Be32 destination_address;
  Be16 source_port;
  Be16 destination_port;
};

/// @param start with a proof, whose tag does not matter
Tag tag_of(const Signal& start, const SignalKey& key, const FlowKey& datagram) noexcept {
  std::array<std::uint8_t, kBytes> message{};
  encode(start, message);
  DatagramFields fields{};
  fields.source_address.set(datagram.source_address);
  fields.destination_address.set(datagram.destination_address);
  fields.source_port.set(datagram.source_port);
  fields.destination_port.set(datagram.destination_port);

  static_assert(sizeof(fields) <= sizeof(Tag), "written over the tag");
  std::memcpy(message.data() + kTagOffset, &fields, sizeof(fields));
  Tag tag{};
  crypto_shorthash_siphashx24(tag.data(), message.data(), kTagOffset + sizeof(fields),
                              key.secret.data());
  return tag;
}

}  // namespace

void sign(Signal& start, const SignalKey& key, const FlowKey& datagram) noexcept {
  assert(start.kind == Kind::kStart);
  start.proof = Proof{.key_id = key.id, .tag = {}};
  start.proof->tag = tag_of(start, key, datagram);
}

bool is_signed_by(const Signal& signal, const SignalKey& key, const FlowKey& datagram) noexcept {
  assert(signal.proof);
  if (signal.proof->key_id != key.id) return false;
  Signal start = signal;
  start.kind = Kind::kStart;
  const bool is_ack = signal.kind == Kind::kAck;
  const Tag expected = tag_of(start, key, is_ack ? datagram.reversed() : datagram);
  return sodium_memcmp(expected.data(), signal.proof->tag.data(), expected.size()) == 0;
}

}  // namespace outrider::udp_signal
