// How the rates and sizes of streams are written and read.
#include <charconv>
#include <cmath>

#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {
namespace {

constexpr std::string_view kRateRule =
    R"(must be a rate such as "10mpps", "5gbps" or "40%" of the line rate)";
constexpr std::string_view kMixRule =
    R"(must be "simple" or a list of size:weight such as "64:7,594:4,1518:1")";

/// Parses and removes a decimal integer at the front. @return false if there is none
bool take_number(std::string_view& text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

Parsed<StreamRate> parse_share(std::string_view text) {
  const auto share = parse_percentage(text);
  if (!share.value) return {{}, share.problem};
  const double millionths = *share.value * 1e6;
  const double whole = std::round(millionths);
  if (whole > 1e6) return {{}, "must be at most 100%"};
  if (std::abs(millionths - whole) > 1e-6) return {{}, "has more than four decimals"};
  return {StreamRate{StreamRate::Unit::kShare, static_cast<std::uint64_t>(whole)}, {}};
}

}  // namespace

Parsed<StreamRate> parse_stream_rate(std::string_view text) {
  if (text.ends_with('%')) return parse_share(text);
  if (text.ends_with("pps")) {
    const auto packets = parse_packet_rate(text);
    if (!packets.value) return {{}, packets.problem};
    return {StreamRate{StreamRate::Unit::kPackets, packets.value->packets_per_second}, {}};
  }
  const auto bits = parse_rate(text);
  if (bits.value) return {StreamRate{StreamRate::Unit::kBits, bits.value->bits_per_second}, {}};
  const bool general = bits.problem.starts_with("must be a bit rate");
  return {{}, general ? std::string(kRateRule) : bits.problem};
}

std::string format_stream_rate(const StreamRate& rate) {
  if (rate.unit == StreamRate::Unit::kPackets) return format_packet_rate({rate.value});
  if (rate.unit == StreamRate::Unit::kBits) return format_rate({rate.value});
  std::string text = std::to_string(rate.value / 10'000);
  if (const auto fraction = rate.value % 10'000; fraction != 0) {
    const std::string digits = std::to_string(fraction);
    text += '.' + std::string(4 - digits.size(), '0') + digits;
  }
  return text + '%';
}

SizeMix simple_imix() { return {{{64, 7}, {594, 4}, {1518, 1}}}; }

Parsed<SizeMix> parse_size_mix(std::string_view text) {
  if (text == "simple") return {simple_imix(), {}};
  SizeMix mix;
  do {
    SizeMix::Entry entry;
    if (!take_number(text, entry.frame_bytes) || !take(text, ':') ||
        !take_number(text, entry.weight))
      return {{}, std::string(kMixRule)};
    mix.entries.push_back(entry);
  } while (take(text, ','));
  if (!text.empty()) return {{}, std::string(kMixRule)};
  return {mix, {}};
}

std::string format_size_mix(const SizeMix& mix) {
  std::string text;
  for (const auto& e : mix.entries)
    text +=
        (text.empty() ? "" : ",") + std::to_string(e.frame_bytes) + ':' + std::to_string(e.weight);
  return text;
}

}  // namespace outrider::tg
