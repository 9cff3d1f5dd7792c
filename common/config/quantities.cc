#include "common/config/quantities.h"

#include <array>
#include <cmath>
#include <span>

#include "common/core/quantity_bounds.h"

namespace outrider {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

constexpr std::uint64_t kKilo = 1000, kMega = kKilo * 1000, kGiga = kMega * 1000,
                        kTera = kGiga * 1000;

constexpr std::array kDurationUnits{Unit{"ns", 1}, Unit{"us", kKilo}, Unit{"ms", kMega},
                                    Unit{"s", kGiga}, Unit{"min", 60 * kGiga}};
constexpr std::array kByteUnits{Unit{"B", 1},
                                Unit{"kB", kKilo},
                                Unit{"KB", kKilo},
                                Unit{"MB", kMega},
                                Unit{"GB", kGiga},
                                Unit{"TB", kTera},
                                Unit{"KiB", 1ULL << 10},
                                Unit{"MiB", 1ULL << 20},
                                Unit{"GiB", 1ULL << 30},
                                Unit{"TiB", 1ULL << 40}};
constexpr std::array kRatePrefixes{Unit{"", 1},      Unit{"k", kKilo}, Unit{"K", kKilo},
                                   Unit{"m", kMega}, Unit{"M", kMega}, Unit{"g", kGiga},
                                   Unit{"G", kGiga}, Unit{"t", kTera}, Unit{"T", kTera}};

constexpr std::string_view kDurationRule =
    R"(must be a duration such as "1.5ms" (ns, us, ms, s, min))";
constexpr std::string_view kRateRule =
    R"(must be a bit rate such as "10gbit" (bit, kbit, mbit, gbit, tbit; or bps, ...))";
constexpr std::string_view kPacketRateRule =
    R"(must be a packet rate such as "10mpps" (pps, kpps, mpps, gpps))";
constexpr std::string_view kBytesRule =
    R"(must be a size such as "64KiB" (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB))";
constexpr std::string_view kPercentRule =
    R"(must be a percentage such as "40%" or a number such as 0.4)";

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// A decimal number, digits / 10^fraction_digits, and the text after it.
struct Decimal {
  std::uint64_t digits = 0;
  unsigned fraction_digits = 0;
  std::string_view unit;
  bool overflow = false;
};

/// @return nothing if the text does not begin with a number
std::optional<Decimal> split_number(std::string_view text) {
  Decimal d;
  std::size_t at = 0;
  bool in_fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !in_fraction)); ++at) {
    if (text[at] == '.') {
      in_fraction = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    if (__builtin_mul_overflow(d.digits, 10U, &d.digits) ||
        __builtin_add_overflow(d.digits, digit, &d.digits))
      d.overflow = true;
    d.fraction_digits += in_fraction;
  }
  if (at == 0 || !is_digit(text[0]) || !is_digit(text[at - 1])) return std::nullopt;
  if (at < text.size() && text[at] == ' ') ++at;
  d.unit = text.substr(at);
  return d;
}

struct Quantity {
  std::string_view rule;
  std::string_view smallest;
  std::uint64_t limit;
  std::string_view limit_text;
};

/// Returns digits * scale / 10^fraction_digits, if that is whole and at most the limit.
Parsed<std::uint64_t> scaled(const Decimal& d, std::uint64_t scale, const Quantity& q) {
  const auto too_large = [&q] {
    return Parsed<std::uint64_t>{{}, "must be at most " + std::string(q.limit_text)};
  };
  if (d.overflow) return too_large();
  std::uint64_t divisor = 1;
  for (unsigned i = 0; i < d.fraction_digits; ++i) {
    if (scale % 10 == 0) scale /= 10;
    else if (__builtin_mul_overflow(divisor, 10U, &divisor)) return too_large();
  }
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(d.digits, scale, &product)) return too_large();
  if (product % divisor != 0) return {{}, "must be a whole number of " + std::string(q.smallest)};
  if (product / divisor > q.limit) return too_large();
  return {product / divisor, {}};
}

/// @param unit_scale  std::uint64_t(std::string_view unit): 0 if there is no such unit
template <class UnitScale>
Parsed<std::uint64_t> parse_quantity(std::string_view text, const Quantity& q,
                                     UnitScale&& unit_scale) {
  if (!text.empty() && text.front() == '-') return {{}, "must not be negative"};
  const auto number = split_number(text);
  if (!number) return {{}, std::string(q.rule)};
  const std::uint64_t scale = unit_scale(number->unit);
  if (scale == 0) {
    const std::string fault =
        number->unit.empty() ? "has no unit" : "unknown unit \"" + std::string(number->unit) + '"';
    return {{}, fault + "; " + std::string(q.rule)};
  }
  return scaled(*number, scale, q);
}

std::uint64_t scale_in(std::span<const Unit> units, std::string_view name) noexcept {
  for (const auto& unit : units)
    if (unit.name == name) return unit.scale;
  return 0;
}

std::uint64_t rate_scale(std::string_view unit) noexcept {
  for (const std::string_view ending : {"bit/s", "bit", "bps"})
    if (unit.ends_with(ending))
      return scale_in(kRatePrefixes, unit.substr(0, unit.size() - ending.size()));
  return 0;
}

}  // namespace

Parsed<Duration> parse_duration(std::string_view text) {
  static const std::string kLimit = format_duration(kLongestDuration);
  const Quantity quantity{kDurationRule, "nanoseconds",
                          static_cast<std::uint64_t>(kLongestDuration.count()), kLimit};
  auto parsed = parse_quantity(text, quantity,
                               [](std::string_view u) { return scale_in(kDurationUnits, u); });
  if (!parsed.value) return {{}, std::move(parsed.problem)};
  return {Duration{static_cast<std::int64_t>(*parsed.value)}, {}};
}

Parsed<BitRate> parse_rate(std::string_view text) {
  static const std::string kLimit = format_rate(kMaxRate);
  const Quantity quantity{kRateRule, "bits per second", kMaxRate.bits_per_second, kLimit};
  auto parsed = parse_quantity(text, quantity, rate_scale);
  if (!parsed.value) return {{}, std::move(parsed.problem)};
  return {BitRate{*parsed.value}, {}};
}

Parsed<PacketRate> parse_packet_rate(std::string_view text) {
  static const std::string kLimit = format_packet_rate(kMaxPacketRate);
  const Quantity quantity{kPacketRateRule, "packets per second", kMaxPacketRate.packets_per_second,
                          kLimit};
  static constexpr std::string_view kEnding = "pps";
  auto parsed = parse_quantity(text, quantity, [](std::string_view unit) -> std::uint64_t {
    if (!unit.ends_with(kEnding)) return 0;
    return scale_in(kRatePrefixes, unit.substr(0, unit.size() - kEnding.size()));
  });
  if (!parsed.value) return {{}, std::move(parsed.problem)};
  return {PacketRate{*parsed.value}, {}};
}

Parsed<std::uint64_t> parse_bytes(std::string_view text) {
  static_assert(kLargestBytes == 1000 * kTera);
  constexpr Quantity kQuantity{kBytesRule, "bytes", kLargestBytes, "1000TB"};
  return parse_quantity(text, kQuantity,
                        [](std::string_view u) { return scale_in(kByteUnits, u); });
}

Parsed<double> parse_percentage(std::string_view text) {
  if (!text.empty() && text.front() == '-') return {{}, "must not be negative"};
  const auto number = split_number(text);
  if (!number || number->unit != "%") return {{}, std::string(kPercentRule)};
  constexpr std::uint64_t kLargest = 1'000'000'000'000'000;  // exact in a double
  if (number->overflow || number->digits >= kLargest || number->fraction_digits > 15)
    return {{}, "has too many digits"};
  double divisor = 100;
  for (unsigned i = 0; i < number->fraction_digits; ++i) divisor *= 10;
  const double share = static_cast<double>(number->digits) / divisor;
  std::string problem = number_problem(share);
  if (!problem.empty()) return {{}, std::move(problem)};
  return {share, {}};
}

std::string number_problem(double value) { return std::string(number_rule(value)); }

std::string format_duration(Duration d) {
  const auto count = d.count();
  if (count == 0) return "0s";
  for (const auto& unit : {kDurationUnits[3], kDurationUnits[2], kDurationUnits[1]}) {
    const auto scale = static_cast<std::int64_t>(unit.scale);
    if (count % scale == 0) return std::to_string(count / scale) + std::string(unit.name);
  }
  return std::to_string(count) + "ns";
}

std::string format_rate(BitRate rate) {
  constexpr std::array kUnits{Unit{"gbit", kGiga}, Unit{"mbit", kMega}, Unit{"kbit", kKilo}};
  for (const auto& unit : kUnits)
    if (rate.bits_per_second != 0 && rate.bits_per_second % unit.scale == 0)
      return std::to_string(rate.bits_per_second / unit.scale) + std::string(unit.name);
  return std::to_string(rate.bits_per_second) + "bit";
}

std::string format_packet_rate(PacketRate rate) {
  constexpr std::array kUnits{Unit{"gpps", kGiga}, Unit{"mpps", kMega}, Unit{"kpps", kKilo}};
  for (const auto& unit : kUnits)
    if (rate.packets_per_second != 0 && rate.packets_per_second % unit.scale == 0)
      return std::to_string(rate.packets_per_second / unit.scale) + std::string(unit.name);
  return std::to_string(rate.packets_per_second) + "pps";
}

}  // namespace outrider
