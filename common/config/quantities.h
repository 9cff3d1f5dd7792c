#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider {

/// The value that a text was read as, or the rule that the text breaks.
template <class T>
struct Parsed {
  std::optional<T> value{};
  std::string problem{};  ///< empty if there is a value
};

/// Strict readers of quantities with units: decimal digits with an optional fraction, an
/// optional single space, a unit; no sign, no exponent. A value that is not a whole number of
/// the smallest unit, or is above the bound of its kind (common/core/quantity_bounds.h), is
/// rejected and never rounded.

/// Reads "1.5ms"; units ns, us, ms, s, min.
Parsed<Duration> parse_duration(std::string_view text);
/// Reads "200mbit", "10gbps", "10 Gbit/s"; prefixes k, m, g, t (either case) are powers of 1000.
Parsed<BitRate> parse_rate(std::string_view text);
/// Reads "10mpps", "1.5 kpps"; prefixes as those of bit rates.
Parsed<PacketRate> parse_packet_rate(std::string_view text);
/// Reads "1MB", "64KiB"; B, kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB of 1024.
Parsed<std::uint64_t> parse_bytes(std::string_view text);
/// Reads "40%" as 0.4. At most 15 significant digits.
Parsed<double> parse_percentage(std::string_view text);

/// Returns the rule of all numbers that are not whole which `value` breaks; empty if it keeps it.
std::string number_problem(double value);

/// Formats with the largest unit that gives a whole number, so that it reads back exactly.
std::string format_duration(Duration d);
std::string format_rate(BitRate rate);
std::string format_packet_rate(PacketRate rate);

}  // namespace outrider
