#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/config/checks.h"
#include "common/config/quantities.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {
namespace {

constexpr const char *kHere = "leaf_a", *kThere = "leaf_b";
constexpr const char *kSenders = "sender", *kReceivers = "receiver";
constexpr double kDelaySpread = 0.2;  ///< of background's hosts
constexpr std::int64_t kHosts = 2;    ///< that send background, if the file does not say it

void erase(ConfigTable& from, std::string_view key) {
  std::erase_if(from.members, [key](const ConfigMember& m) { return m.key == key; });
}

/// A round trip whose parts are whole nanoseconds.
struct Delays {
  explicit Delays(Duration rtt) : host(rtt / 10), link(rtt / 2 - 2 * host) {}
  [[nodiscard]] Duration rtt() const { return 2 * (link + 2 * host); }

  Duration host;
  Duration link;
};

ConfigValue hosts_at(const char* at, const char* name, const ConfigValue& count,
                     const std::string& rate, Duration delay, double spread) {
  return table_value({{"name", text_value(name)},
                      {"count", count},
                      {"switch", text_value(at)},
                      {"rate", text_value(rate)},
                      {"delay", text_value(format_duration(delay))},
                      {"delay_spread", ConfigValue(spread)}});
}

/// Returns the number of hosts that send background.
std::int64_t take_background_hosts(const Checks& at, ConfigTable& network) {
  constexpr std::int64_t kMost = 10'000;
  const ConfigValue* value = network.get(kBackgroundHosts);
  if (value == nullptr) return kHosts;
  const auto* number = value->as<std::int64_t>();
  const bool usable = number != nullptr && *number >= 0 && *number <= kMost;
  const std::int64_t hosts = usable ? *number : 0;
  if (!usable)
    at.fault(kBackgroundHosts, display(*value), "must be a whole number from 0 to 10000");
  erase(network, kBackgroundHosts);
  return hosts;
}

/// Reads a key of [network] that holds a text.
template <class Parse>
auto read(const Checks& at, const ConfigTable& network, std::string_view key, Parse parse)
    -> decltype(parse("").value) {
  const ConfigValue* value = network.get(key);
  const auto* given = value == nullptr ? nullptr : value->as<std::string>();
  if (value == nullptr) at.fault(key, "is required beside rate");
  else if (given == nullptr) at.fault(key, display(*value), "must be a text with a unit");
  return given == nullptr ? std::nullopt : at.parses(key, *given, parse(*given));
}

/// Lets background, or a group of it, flow from the senders to the receivers.
void give_ends(ConfigTable& background, std::size_t = 0) {
  if (background.get("from") == nullptr) background["from"] = text_value(kSenders);
  if (background.get("to") == nullptr) background["to"] = text_value(kReceivers);
}

/// Returns the workers of a job that [parameters] give a collective without servers; 0: it has
/// servers, or [job] says where it is.
std::int64_t workers_of_collective(const ConfigTable& file) {
  if (file.get("job") != nullptr) return 0;
  const ConfigTable parameters = with_nested_keys(table_in(file, "parameters"));
  const ConfigValue* collective = find(parameters, "job.collective");
  const ConfigValue* workers = parameters.get("workers");
  const auto* number = workers == nullptr ? nullptr : workers->as<std::int64_t>();
  const std::string servers(tg::name_of(tg::Collective::kPs));
  if (collective == nullptr || *collective == text_value(servers) || number == nullptr) return 0;
  return *number > 1 ? *number : 0;
}

/// Returns the hosts of the job: workers on one side and servers on the other; or, of a collective,
/// half of the workers on each.
ConfigValue::Array hosts_of_job(ConfigTable& file, const std::string& speed, Duration delay) {
  const auto workers = workers_of_collective(file);
  if (workers == 0)
    return {hosts_at(kHere, "worker", text_value("workers"), speed, delay, 0),
            hosts_at(kThere, "server", text_value("servers"), speed, delay, 0)};
  constexpr const char* kOthers = "worker_b";
  file["job"] = table_value({{"ring", list_value({text_value("worker"), text_value(kOthers)})}});
  return {hosts_at(kHere, "worker", ConfigValue(workers - workers / 2), speed, delay, 0),
          hosts_at(kThere, kOthers, ConfigValue(workers / 2), speed, delay, 0)};
}

}  // namespace

ConfigTable with_dumbbell(ConfigTable file, ConfigIssues& issues) {
  const Checks at = Checks(issues).below("network");
  const ConfigValue* given = file.get("network");
  if (given == nullptr || given->as<ConfigTable>() == nullptr) return file;
  ConfigTable network = *given->as<ConfigTable>();
  if (network.get("rate") == nullptr) {
    if (network.get(kBackgroundHosts) != nullptr)
      at.fault("rate", std::string("is required beside ") + kBackgroundHosts);
    return file;
  }
  for (const char* other : {"switch", "link", "hosts", "fabric"})
    if (file.get(other) != nullptr) {
      at.fault("rate", "makes two switches and their hosts, and there is " + std::string(other) +
                           " already, in this file or its base: leave one of both out");
      return file;
    }
  const std::size_t before = issues.found();
  const auto rate = read(at, network, "rate", parse_rate);
  const auto rtt = read(at, network, "rtt", parse_duration);
  if (rate) at.rate("rate", *rate);
  if (rtt)
    at.require(*rtt >= std::chrono::microseconds(1) && *rtt <= std::chrono::seconds(10), "rtt",
               format_duration(*rtt), "must be from 1us to 10s");
  const std::int64_t hosts = take_background_hosts(at, network);
  if (issues.found() > before) return file;
  const Delays delays(*rtt);
  const std::string speed = format_rate(*rate);
  erase(network, "rate");
  network["rtt"] = text_value(format_duration(delays.rtt()));
  if (network.get("measured") == nullptr) network["measured"] = text_value("leaf_a.to_leaf_b");
  file["network"] = ConfigValue(std::move(network));
  file["switch"] = list_value(
      {table_value({{"name", text_value(kHere)}}), table_value({{"name", text_value(kThere)}})});
  file["link"] = list_value({table_value({{"a", text_value(kHere)},
                                          {"b", text_value(kThere)},
                                          {"rate", text_value(speed)},
                                          {"delay", text_value(format_duration(delays.link))}})});
  ConfigValue::Array all = hosts_of_job(file, speed, delays.host);
  if (hosts > 0) {
    const ConfigValue count(hosts);
    all.push_back(hosts_at(kHere, kSenders, count, speed, delays.host, kDelaySpread));
    all.push_back(hosts_at(kThere, kReceivers, count, speed, delays.host, kDelaySpread));
    if (file.get("background") == nullptr) file["background"] = ConfigValue(ConfigTable{});
    if (auto* one = file["background"].as<ConfigTable>()) give_ends(*one);
    for_each_table(file, "background", give_ends);
    for_each_table(file, "arm", [](ConfigTable& arm, std::size_t) {
      for_each_table(arm, "background", give_ends);
    });
  }
  file["hosts"] = ConfigValue(std::move(all));
  return file;
}

}  // namespace outrider::lab
