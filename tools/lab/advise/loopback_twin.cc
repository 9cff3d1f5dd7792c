#include "tools/lab/advise/loopback_twin.h"

#include <algorithm>
#include <cmath>

#include "common/config/quantities.h"
#include "tools/lab/advise/scaled.h"
#include "tools/lab/experiment/config_literals.h"

namespace outrider::lab {
namespace {

/// Two polling processes carry it on two processors.
constexpr BitRate kCarried{100'000'000};
/// The time of the bursts of all workers on the link. A case has eight of them.
constexpr double kBursts_seconds = 0.5;

const ConfigTable& parameters_of(const AdvisedFile& advised) {
  return *advised.experiment.get("parameters")->as<ConfigTable>();
}

bool has_text(const ConfigTable& table, std::string_view key) {
  const ConfigValue* value = table.get(key);
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  return text != nullptr && !text->empty();
}

/// Says whether background, in either form, has a file of this key.
bool background_has(const AdvisedFile& advised, const std::string& key) {
  const ConfigValue* shorthand = parameters_of(advised).get("background");
  if (shorthand != nullptr && shorthand->as<ConfigTable>() != nullptr &&
      has_text(*shorthand->as<ConfigTable>(), key))
    return true;
  const ConfigValue* groups = advised.experiment.get("background");
  const auto* list = groups == nullptr ? nullptr : groups->as<ConfigValue::Array>();
  return list != nullptr && std::ranges::any_of(*list, [&key](const ConfigValue& group) {
           return has_text(*group.as<ConfigTable>(), key);
         });
}

Duration longer(Duration duration, double factor) {
  return Duration(
      static_cast<Duration::rep>(std::llround(static_cast<double>(duration.count()) * factor)));
}

}  // namespace

std::string no_twin_because(const AdvisedFile& advised) {
  if (!advised.traits.by_rate)
    return "two processes are two switches and the link between them, which a file has by "
           "network.rate";
  if (advised.traits.roce) return "the times of rate control over RoCEv2 cannot be slowed down";
  if (background_has(advised, "list")) return "the times of a list of flows cannot be slowed down";
  if (background_has(advised, "capture")) return "the times of a capture cannot be slowed down";
  return {};
}

LoopbackTwin loopback_twin(const AdvisedFile& advised) {
  LoopbackTwin twin{.advised = advised};
  const double rate = static_cast<double>(advised.traits.rate.bits_per_second);
  twin.slower = std::max(rate / static_cast<double>(kCarried.bits_per_second), 1.0);

  const ConfigTable& today = parameters_of(advised);
  const double bytes =
      burst_bytes_of(*today.get("job")->as<ConfigTable>()) * number_of(today, "workers", 1);
  const double bursts_seconds = 8 * bytes * twin.slower / rate;
  twin.smaller_bursts = std::min(kBursts_seconds / bursts_seconds, 1.0);

  ConfigTable& e = twin.advised.experiment;
  e = scaled(std::move(e), advised.traits.closed_loop, twin.smaller_bursts,
             twin.slower * twin.smaller_bursts);
  auto& network = *e["network"].as<ConfigTable>();
  network["rate"] =
      text_value(format_rate(BitRate{static_cast<std::uint64_t>(rate / twin.slower)}));
  network["rtt"] = text_value(format_duration(longer(advised.traits.rtt, twin.slower)));
  auto& parameters = *e["parameters"].as<ConfigTable>();
  if (const double now = number_of(parameters, "warm_up_seconds", 0); now > 0)
    parameters["warm_up_seconds"] = ConfigValue(now * twin.slower);
  constexpr const char* kSpread = "background.start_spread";
  if (const double now = seconds_of(parameters, kSpread); now > 0)
    (void)assign(parameters, kSpread, text_value(format_duration(from_seconds(now * twin.slower))));
  twin.advised.traits.rate = BitRate{static_cast<std::uint64_t>(rate / twin.slower)};
  twin.advised.traits.rtt = longer(advised.traits.rtt, twin.slower);
  twin.advised.traits.has_order = false;  // a burst without tensors has none
  return twin;
}

}  // namespace outrider::lab
