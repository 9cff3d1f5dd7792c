#include "common/config/telemetry_config.h"

#include <charconv>
#include <cstdint>

#include "common/config/addresses.h"

namespace outrider {

void check(const Checks& at, const TelemetryConfig& telemetry) {
  if (!telemetry.prometheus) return;
  const std::string& text = *telemetry.prometheus;
  const auto colon = text.rfind(':');
  const auto address = parse_ipv4(std::string_view(text).substr(0, colon));
  const std::string_view digits =
      colon == text.npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size() && port != 0;
  if (!at.require(address.value && whole, "prometheus", Checks::quoted(text),
                  "must be an IPv4 address and a port, e.g. \"127.0.0.1:9464\""))
    return;
  constexpr std::uint32_t kLoopback = 127;
  at.require(*address.value >> 24 == kLoopback || telemetry.prometheus_remote, "prometheus",
             Checks::quoted(text),
             "is not a loopback address; set prometheus_remote = true if others shall read it");
}

void describe(Settings& v, TelemetryConfig& c) {
  v.value("prometheus", c.prometheus,
          {.accepts = "an IPv4 address and a port, `\"127.0.0.1:9464\"`",
           .absent = "none: nothing listens",
           .help = "`/metrics` is served there over HTTP, see [running "
                   "it](running.md#prometheus). A port that is taken ends the start"});
  v.value(
      "prometheus_remote", c.prometheus_remote,
      {.help = "the address may be another than of 127.0.0.0/8: anyone who reaches it can read"});
}

}  // namespace outrider
