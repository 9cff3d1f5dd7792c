#include "common/config/addresses.h"

#include <arpa/inet.h>

#include <charconv>
#include <optional>
#include <string>

namespace outrider {
namespace {

constexpr std::string_view kIpv4Rule = R"(must be an IPv4 address such as "10.0.1.2")";
constexpr std::string_view kPrefixRule = R"(must be an IPv4 prefix such as "10.0.1.0/24")";
constexpr std::string_view kIpv6Rule = R"(must be an IPv6 address such as "2001:db8::1")";
constexpr std::string_view kIpv6PrefixRule = R"(must be an IPv6 prefix such as "2001:db8::/32")";
constexpr std::string_view kMacRule = R"(must be a MAC address such as "02:00:00:00:00:01")";

/// Parses all of `text` as a decimal number without leading zeros, at most `limit`.
std::optional<std::uint32_t> decimal(std::string_view text, std::uint32_t limit) noexcept {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc{} || end != text.end() || value > limit) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return value;
}

}  // namespace

Parsed<std::uint32_t> parse_ipv4(std::string_view text) {
  std::uint32_t address = 0;
  for (int octet = 0; octet < 4; ++octet) {
    const auto dot = text.find('.');
    if ((dot == text.npos) != (octet == 3)) return {{}, std::string(kIpv4Rule)};
    const auto value = decimal(text.substr(0, dot), 255);
    if (!value) return {{}, std::string(kIpv4Rule)};
    address = (address << 8) | *value;
    text.remove_prefix(dot == text.npos ? text.size() : dot + 1);
  }
  return {address, {}};
}

Parsed<Prefix> parse_prefix(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos) return {{}, std::string(kPrefixRule)};
  const auto address = parse_ipv4(text.substr(0, slash)).value;
  const auto length = decimal(text.substr(slash + 1), 32);
  if (!address || !length) return {{}, std::string(kPrefixRule)};
  Prefix prefix{*address, static_cast<std::uint8_t>(*length)};
  prefix.address &= prefix.mask();
  if (prefix.address != *address)
    return {{},
            "has bits beyond its length; the network is \"" + format_ipv4(prefix.address) + '/' +
                std::to_string(*length) + '"'};
  return {prefix, {}};
}

Parsed<MacAddress> parse_mac(std::string_view text) {
  const Parsed<MacAddress> refused{{}, std::string(kMacRule)};
  MacAddress mac{};
  if (text.size() != mac.size() * 3 - 1) return refused;
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const char* digits = text.data() + i * 3;
    if (i > 0 && digits[-1] != ':') return refused;
    if (std::from_chars(digits, digits + 2, mac[i], 16).ptr != digits + 2) return refused;
  }
  return {mac, {}};
}

Parsed<Ipv6Address> parse_ipv6(std::string_view text) {
  Ipv6Address address{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), address.data()) != 1)
    return {{}, std::string(kIpv6Rule)};
  return {address, {}};
}

Parsed<Ipv6Prefix> parse_ipv6_prefix(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos) return {{}, std::string(kIpv6PrefixRule)};
  const auto address = parse_ipv6(text.substr(0, slash)).value;
  const auto length = decimal(text.substr(slash + 1), 128);
  if (!address || !length) return {{}, std::string(kIpv6PrefixRule)};
  for (unsigned bit = *length; bit < 128; ++bit)
    if (((*address)[bit / 8] >> (7 - bit % 8) & 1) != 0) return {{}, "has bits beyond its length"};
  return {Ipv6Prefix{*address, static_cast<std::uint8_t>(*length)}, {}};
}

std::string format_ipv4(std::uint32_t address) {
  std::string text = std::to_string(address >> 24);
  for (const int shift : {16, 8, 0}) text += '.' + std::to_string((address >> shift) & 0xFF);
  return text;
}

}  // namespace outrider
