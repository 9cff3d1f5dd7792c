#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/config/quantities.h"
#include "common/net/headers.h"

namespace outrider {

/// An IPv4 network, in host byte order.
struct Prefix {
  std::uint32_t address = 0;  ///< no bit set beyond `length`
  std::uint8_t length = 0;    ///< [bits] <= 32

  [[nodiscard]] constexpr std::uint32_t mask() const noexcept {
    return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
  }
  [[nodiscard]] constexpr bool contains(std::uint32_t a) const noexcept {
    return (a & mask()) == address;
  }
  bool operator==(const Prefix&) const = default;
};

/// An IPv6 network.
struct Ipv6Prefix {
  Ipv6Address address{};    ///< no bit set beyond `length`
  std::uint8_t length = 0;  ///< [bits] <= 128

  bool operator==(const Ipv6Prefix&) const = default;
};

/// Reads "10.0.1.2": four decimal numbers without leading zeros. Host byte order.
Parsed<std::uint32_t> parse_ipv4(std::string_view text);
/// Reads "10.0.1.0/24". An address with bits beyond the length is rejected: it is
/// either a host or a typing error.
Parsed<Prefix> parse_prefix(std::string_view text);
/// Reads "02:00:00:00:00:01", either case.
Parsed<MacAddress> parse_mac(std::string_view text);

/// Returns whether the text is meant as an IPv6 address or prefix: it has a colon.
constexpr bool is_ipv6_text(std::string_view text) noexcept { return text.find(':') != text.npos; }
/// Reads "2001:db8::1", as in RFC 4291, section 2.2; no zone.
Parsed<Ipv6Address> parse_ipv6(std::string_view text);
/// Reads "2001:db8::/32". An address with bits beyond the length is rejected.
Parsed<Ipv6Prefix> parse_ipv6_prefix(std::string_view text);

std::string format_ipv4(std::uint32_t address);

}  // namespace outrider
