#include "common/net/roce.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "common/net/headers.h"

namespace outrider::roce {
namespace {

struct Bth {
  std::uint8_t opcode;
  std::uint8_t flags;  ///< solicited event, migration, pad count, version
  Be16 partition;
  Be32 queue_pair;  ///< FECN, BECN and reserved bits in the first byte
  Be32 sequence;    ///< acknowledgment request in the highest bit
};
struct Reth {
  Be32 address_high;
  Be32 address_low;
  Be32 key;
  Be32 length;
};
static_assert(sizeof(Bth) == kBthBytes && sizeof(Reth) == 16 && alignof(Bth) == 1);

constexpr std::uint32_t kFecn = 1U << 31, kBecn = 1U << 30, kAsks = 1U << 31;
constexpr std::uint32_t kCnpReservedBytes = 16;
constexpr std::uint8_t kVersionMask = 0x0F;
constexpr unsigned kPadShift = 4;
static_assert(kBthBytes + sizeof(Reth) + sizeof(Be32) == kMaxHeaderBytes);
static_assert(kBthBytes + kCnpReservedBytes <= kMaxHeaderBytes);

// -- the CRC, as Ethernet's: reflected, so the highest bit is the coefficient of x^0

constexpr std::uint32_t kPolynomial = 0xEDB88320;

constexpr std::uint32_t times_x(std::uint32_t a) noexcept {
  return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0);
}

/// Returns the product of two polynomials modulo that of the CRC.
constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t sum = 0;
  for (; a != 0; a <<= 1) {
    if ((a & 0x80000000) != 0) sum ^= b;
    b = times_x(b);
  }
  return sum;
}

std::uint32_t word_at(const std::uint8_t* bytes) noexcept {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// [bytes behind it][byte]: what a byte adds to the remainder once so many more have followed.
constexpr std::array<std::array<std::uint32_t, 256>, 4> kByteTables = [] {
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (auto& table : tables) {
      for (int bit = 0; bit < 8; ++bit) crc = times_x(crc);
      table[byte] = crc;
    }
  }
  return tables;
}();

constexpr std::uint32_t add_byte(std::uint32_t crc, std::uint8_t byte) noexcept {
  return kByteTables[0][(crc ^ byte) & 0xFF] ^ (crc >> 8);
}
/// @param word the next four bytes, the first of them lowest
constexpr std::uint32_t add_word(std::uint32_t crc, std::uint32_t word) noexcept {
  crc ^= word;
  return kByteTables[3][crc & 0xFF] ^ kByteTables[2][crc >> 8 & 0xFF] ^
         kByteTables[1][crc >> 16 & 0xFF] ^ kByteTables[0][crc >> 24];
}

/// [nibble][its bits]: a factor times these bits, which are those of a remainder.
using Factor = std::array<std::array<std::uint32_t, 16>, 8>;

constexpr Factor factor_of(std::uint32_t power) noexcept {
  Factor factor{};
  for (unsigned nibble = 0; nibble < 8; ++nibble)
    for (std::uint32_t bits = 1; bits < 16; ++bits) {
      const std::uint32_t lowest = bits & -bits;  // a product is the sum of those of single bits
      factor[nibble][bits] = bits == lowest
                                 ? product(bits << (4 * nibble), power)
                                 : factor[nibble][lowest] ^ factor[nibble][bits ^ lowest];
    }
  return factor;
}

/// [digit][value]: x to the power of the bits in value * 16^digit bytes. A zero byte multiplies the
/// remainder by x^8, so four digits are enough for any IP packet.
constexpr std::array<std::array<Factor, 16>, 4> kPowers = [] {
  std::array<std::array<Factor, 16>, 4> powers{};
  std::uint32_t step = 0x80000000U >> 8;  // x^8
  for (auto& digit : powers) {
    std::uint32_t power = 0x80000000U;  // x^0
    for (Factor& value : digit) {
      value = factor_of(power);
      power = product(power, step);
    }
    step = power;
  }
  return powers;
}();

std::uint32_t add_bytes(std::uint32_t crc, std::span<const std::uint8_t> bytes) noexcept {
  for (; bytes.size() >= sizeof(std::uint32_t); bytes = bytes.subspan(sizeof(std::uint32_t)))
    crc = add_word(crc, word_at(bytes.data()));
  for (const std::uint8_t byte : bytes) crc = add_byte(crc, byte);
  return crc;
}

std::uint32_t times(const Factor& factor, std::uint32_t crc) noexcept {
  std::uint32_t sum = 0;
  for (const auto& nibble : factor) {
    sum ^= nibble[crc & 15];
    crc >>= 4;
  }
  return sum;
}

std::uint32_t add_zeros(std::uint32_t crc, std::uint32_t bytes) noexcept {
  assert(bytes < 1U << 16);
  for (const auto& digit : kPowers) {
    if ((bytes & 15) != 0) crc = times(digit[bytes & 15], crc);
    bytes >>= 4;
  }
  return crc;
}

/// Returns the bytes without the zeros at their end, but for up to 3 of them: add_zeros() costs a
/// few multiplications, the tables a load for each byte.
std::span<const std::uint8_t> without_zeros(std::span<const std::uint8_t> bytes) noexcept {
  std::array<std::uint64_t, 4> last;
  while (bytes.size() >= sizeof last) {
    const auto rest = bytes.first(bytes.size() - sizeof last);
    std::memcpy(last.data(), bytes.data() + rest.size(), sizeof last);
    if ((last[0] | last[1] | last[2] | last[3]) != 0) break;
    bytes = rest;
  }
  while (bytes.size() >= sizeof(std::uint32_t)) {
    const auto rest = bytes.first(bytes.size() - sizeof(std::uint32_t));
    if (word_at(bytes.data() + rest.size()) != 0) break;
    bytes = rest;
  }
  return bytes;
}

// Fields that routers and switches change count as ones: TOS, TTL, both checksums and the byte of
// FECN and BECN.
constexpr std::uint32_t kMaskedBytes = sizeof(Ipv4Header) + sizeof(UdpHeader) + kBthBytes;
constexpr auto kOnes = [] {  // by words, as the bytes are loaded
  constexpr std::array<std::size_t, 7> kMasked{1, 8, 10, 11, 26, 27, 32};
  std::array<std::uint32_t, kMaskedBytes / 4> ones{};
  for (const std::size_t at : kMasked) ones[at / 4] |= 0xFFU << (8 * (at % 4));
  return ones;
}();

/// Returns the CRC of the headers up to the BTH. Eight bytes of ones before them stand for
/// InfiniBand's local header (annex A17.3.3). @param ip [size >= kMaskedBytes]
inline std::uint32_t crc_of_headers(std::span<const std::uint8_t> ip) noexcept {
  constexpr std::uint32_t kAfterLocalHeader =
      add_word(add_word(0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFF);
  static_assert(std::endian::native == std::endian::little);
  assert(ip.size() >= kMaskedBytes);
  std::uint32_t crc = kAfterLocalHeader;
  for (std::size_t word = 0; word < kOnes.size(); ++word)
    crc = add_word(crc, word_at(ip.data() + 4 * word) | kOnes[word]);
  return crc;
}

template <class Header>
Header read_at(std::span<const std::uint8_t> bytes, std::uint32_t offset) noexcept {
  Header header;
  std::memcpy(&header, bytes.data() + offset, sizeof header);
  return header;
}

template <class Header>
std::uint32_t write_at(std::span<std::uint8_t, kMaxHeaderBytes> out, std::uint32_t offset,
                       const Header& header) noexcept {
  std::memcpy(out.data() + offset, &header, sizeof header);
  return offset + static_cast<std::uint32_t>(sizeof header);
}

}  // namespace

std::uint32_t header_bytes(std::uint8_t opcode) noexcept {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kWriteFirst:
    case Opcode::kWriteOnly:
      return kBthBytes + sizeof(Reth);
    case Opcode::kWriteMiddle:
    case Opcode::kWriteLast:
    case Opcode::kSendFirst:
    case Opcode::kSendMiddle:
    case Opcode::kSendLast:
    case Opcode::kSendOnly:
      return kBthBytes;
    case Opcode::kWriteLastImmediate:
    case Opcode::kSendLastImmediate:
    case Opcode::kSendOnlyImmediate:
    case Opcode::kAcknowledge:
      return kBthBytes + sizeof(Be32);
    case Opcode::kWriteOnlyImmediate:
      return kMaxHeaderBytes;
    case Opcode::kCnp:
      return kBthBytes + kCnpReservedBytes;
  }
  return 0;
}

std::uint32_t encode(const Message& m, std::span<std::uint8_t, kMaxHeaderBytes> out) noexcept {
  assert(m.destination_qp <= kPsnMask && m.psn <= kPsnMask && m.message_number <= kPsnMask);
  Bth bth{};
  bth.opcode = static_cast<std::uint8_t>(m.opcode);
  bth.flags = static_cast<std::uint8_t>(pad_of(m.payload_bytes) << kPadShift);
  bth.partition.set(kDefaultPartition);
  bth.queue_pair.set(m.destination_qp | (m.fecn ? kFecn : 0) | (m.becn ? kBecn : 0));
  bth.sequence.set(m.psn | (m.asks ? kAsks : 0));
  std::uint32_t end = write_at(out, 0, bth);
  if (has_reth(m.opcode)) {
    Reth reth{};
    reth.address_high.set(static_cast<std::uint32_t>(m.address >> 32));
    reth.address_low.set(static_cast<std::uint32_t>(m.address));
    reth.key.set(m.key);
    reth.length.set(m.length_bytes);
    end = write_at(out, end, reth);
  }
  Be32 word{};
  if (has_immediate(m.opcode)) {
    word.set(m.immediate);
    end = write_at(out, end, word);
  }
  if (m.opcode == Opcode::kAcknowledge) {
    word.set(std::uint32_t{m.syndrome} << kPsnBits | m.message_number);
    end = write_at(out, end, word);
  }
  if (m.opcode == Opcode::kCnp)
    end = write_at(out, end, std::array<std::uint8_t, kCnpReservedBytes>{});
  assert(end == header_bytes(bth.opcode));
  return end;
}

std::optional<Fault> decode(std::span<const std::uint8_t> present, std::uint32_t datagram_bytes,
                            Message& message) noexcept {
  assert(datagram_bytes >= present.size());
  if (present.size() < kBthBytes) return Fault::kBadLength;
  const auto bth = read_at<Bth>(present, 0);
  const std::uint32_t headers = header_bytes(bth.opcode);
  if (headers == 0) return Fault::kBadOpcode;
  Message m{.opcode = static_cast<Opcode>(bth.opcode)};
  const std::uint32_t fixed = headers + kIcrcBytes;
  if (present.size() < headers || datagram_bytes < fixed ||
      (!is_data(m.opcode) && datagram_bytes != fixed))
    return Fault::kBadLength;
  if ((bth.flags & kVersionMask) != 0) return Fault::kBadVersion;
  const std::uint32_t pad = (bth.flags >> kPadShift) & 3U;
  const std::uint32_t padded = datagram_bytes - fixed;
  if (padded < pad || padded % 4 != 0) return Fault::kBadPad;
  m.payload_bytes = static_cast<std::uint16_t>(padded - pad);
  m.fecn = (bth.queue_pair.get() & kFecn) != 0;
  m.becn = (bth.queue_pair.get() & kBecn) != 0;
  m.destination_qp = bth.queue_pair.get() & kPsnMask;
  m.asks = (bth.sequence.get() & kAsks) != 0;
  m.psn = bth.sequence.get() & kPsnMask;
  std::uint32_t at = kBthBytes;
  if (has_reth(m.opcode)) {
    const auto reth = read_at<Reth>(present, at);
    at += sizeof reth;
    m.address = std::uint64_t{reth.address_high.get()} << 32 | reth.address_low.get();
    m.key = reth.key.get();
    m.length_bytes = reth.length.get();
  }
  if (has_immediate(m.opcode)) m.immediate = read_at<Be32>(present, at).get();
  if (m.opcode == Opcode::kAcknowledge) {
    const std::uint32_t word = read_at<Be32>(present, at).get();
    m.syndrome = static_cast<std::uint8_t>(word >> kPsnBits);
    m.message_number = word & kPsnMask;
  }
  message = m;
  return std::nullopt;
}

std::uint32_t icrc(std::span<const std::uint8_t> ip, std::uint32_t ip_bytes) noexcept {
  const std::uint32_t crc = crc_of_headers(ip);
  const auto present =
      without_zeros(ip.first(std::min<std::size_t>(ip.size(), ip_bytes)).subspan(kMaskedBytes));
  const std::uint32_t zeros = ip_bytes - kMaskedBytes - static_cast<std::uint32_t>(present.size());
  return ~add_zeros(add_bytes(crc, present), zeros);
}

std::uint32_t icrc_without(std::span<const std::uint8_t> ip, std::uint32_t ip_bytes,
                           std::size_t begin, std::size_t end) noexcept {
  ip = ip.first(std::min<std::size_t>(ip.size(), ip_bytes));
  assert(kMaskedBytes <= begin && begin <= end && end <= ip.size());
  std::uint32_t crc = crc_of_headers(ip);
  crc = add_bytes(crc, ip.subspan(kMaskedBytes, begin - kMaskedBytes));
  crc = add_zeros(crc, static_cast<std::uint32_t>(end - begin));
  const auto present = without_zeros(ip.subspan(end));
  const auto zeros = static_cast<std::uint32_t>(ip_bytes - end - present.size());
  return ~add_zeros(add_bytes(crc, present), zeros);
}

}  // namespace outrider::roce
