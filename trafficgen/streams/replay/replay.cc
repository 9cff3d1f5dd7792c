#include "trafficgen/streams/replay/replay.h"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "common/config/addresses.h"
#include "common/config/toml_text.h"
#include "common/net/checksum.h"
#include "common/net/headers.h"

namespace outrider::tg {
namespace {

std::string shown(double v) { return to_toml_text(ConfigValue(v)); }

struct Rule {
  Prefix from;
  Prefix to;
};

Parsed<Rule> parse_rule(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    return {{}, "must be FROM=TO, such as \"10.0.0.0/8=198.0.0.0/8\""};
  const auto from = parse_prefix(text.substr(0, equals));
  if (!from.value) return {{}, from.problem};
  const auto to = parse_prefix(text.substr(equals + 1));
  if (!to.value) return {{}, to.problem};
  if (from.value->length != to.value->length) return {{}, "must have prefixes of one length"};
  return {Rule{*from.value, *to.value}, {}};
}

std::uint16_t memory_word(const std::uint8_t* at) noexcept {
  std::uint16_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Updates the checksum at `field` for a changed address.
void update(std::uint8_t* field, const std::uint8_t* before, const std::uint8_t* after) noexcept {
  std::uint16_t sum = memory_word(field);
  for (int word = 0; word < 4; word += 2)
    sum = checksum_update(sum, memory_word(before + word), memory_word(after + word));
  std::memcpy(field, &sum, sizeof sum);
}

/// Returns the TCP or UDP checksum within the frame; nullptr if there is none to update: other
/// protocols, later fragments, UDP without a checksum.
std::uint8_t* transport_checksum(std::span<std::uint8_t> frame, Ipv4Header& ip) noexcept {
  constexpr std::uint16_t kOffsetMask = 0x1FFF;
  if ((ip.fragment.get() & kOffsetMask) != 0) return nullptr;
  const std::size_t header = sizeof(EthernetHeader) + ip.header_bytes();
  const bool udp = ip.protocol == kIpProtocolUdp;
  if (!udp && ip.protocol != kIpProtocolTcp) return nullptr;
  const std::size_t at = header + (udp ? 6 : 16);
  if (at + 2 > frame.size()) return nullptr;
  if (udp && memory_word(frame.data() + at) == 0) return nullptr;
  return frame.data() + at;
}

bool rewrite(Be32& address, const std::vector<Rule>& rules, Ipv4Header& ip,
             std::uint8_t* transport) {
  const std::uint32_t old = address.get();
  for (const Rule& rule : rules) {
    if (!rule.from.contains(old)) continue;
    const Be32 before = address;
    address.set(rule.to.address | (old & ~rule.from.mask()));
    update(ip.checksum.raw.data(), before.raw.data(), address.raw.data());
    if (transport != nullptr) update(transport, before.raw.data(), address.raw.data());
    return true;
  }
  return false;
}

}  // namespace

void check(const Checks& at, const ReplayConfig& r) {
  const double millionths = r.speed * 1e6;
  const bool exact = std::abs(millionths - std::round(millionths)) < 1e-3;
  at.require(std::round(millionths) >= 1 && r.speed <= 1e6 && exact, "speed", shown(r.speed),
             "must be at least 0.000001 and at most 1000000, with at most six decimals");
  if (r.rate)
    at.require(r.rate->value > 0, "rate", Checks::quoted(format_stream_rate(*r.rate)),
               "must be more than zero");
  at.require(!r.rate || r.speed == 1, "speed", shown(r.speed),
             "must not be given together with rate");
  at.require(r.layer == RateLayer::kL1 || !r.rate || r.rate->unit != StreamRate::Unit::kShare,
             "layer", "\"l2\"", "a percentage is one of the line rate, which counts L1");
  at.in_range("loops", r.loops, 1, kMostReplayLoops);
  at.in_range("max_memory", r.max_memory_bytes, 4096, 1ULL << 40, "bytes");
  for (std::size_t i = 0; i < r.rewrite.size(); ++i)
    at.below("rewrite", i).parses("", r.rewrite[i], parse_rule(r.rewrite[i]));
  at.not_negative("start", r.start);
  if (r.duration) at.positive("duration", *r.duration);
  at.positive("max_lag", r.max_lag);
}

RewriteCounts rewrite_addresses(PcapTrace& trace, const std::vector<std::string>& texts) {
  std::vector<Rule> rules;
  rules.reserve(texts.size());
  for (const auto& text : texts) rules.push_back(*parse_rule(text).value);
  RewriteCounts counts;
  for (const auto& packet : trace.packets) {
    const std::span<std::uint8_t> frame(trace.bytes.data() + packet.offset, packet.size);
    const auto& ethernet = *reinterpret_cast<const EthernetHeader*>(frame.data());
    auto& ip = *reinterpret_cast<Ipv4Header*>(frame.data() + sizeof(EthernetHeader));
    if (ethernet.ether_type.get() != kEtherTypeIpv4 || ip.version_and_length >> 4 != 4 ||
        ip.header_bytes() < sizeof(Ipv4Header)) {
      ++counts.not_ipv4;
      continue;
    }
    std::uint8_t* transport = transport_checksum(frame, ip);
    const bool source = rewrite(ip.source, rules, ip, transport);
    const bool destination = rewrite(ip.destination, rules, ip, transport);
    constexpr std::uint16_t kAllOnes = 0xFFFF;  // RFC 768: zero would mean none
    if (transport != nullptr && ip.protocol == kIpProtocolUdp && memory_word(transport) == 0)
      std::memcpy(transport, &kAllOnes, sizeof kAllOnes);
    ++(source || destination ? counts.rewritten : counts.untouched);
  }
  return counts;
}

LoadedReplay load_replay(const ReplayConfig& replay) {
  PcapResult loaded = load_pcap(replay.file, {.max_bytes = replay.max_memory_bytes,
                                              .pad_cut = replay.pad_cut,
                                              .skip_long = replay.skip_long,
                                              .options = true});
  if (!loaded.problem.empty()) throw std::runtime_error(replay.file + ": " + loaded.problem);
  LoadedReplay result;
  if (!replay.rewrite.empty()) result.rewrites = rewrite_addresses(loaded.trace, replay.rewrite);
  result.trace = std::make_shared<const PcapTrace>(std::move(loaded.trace));
  return result;
}

}  // namespace outrider::tg
