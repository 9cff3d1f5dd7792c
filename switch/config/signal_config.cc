#include "switch/config/signal_config.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "common/config/addresses.h"
#include "common/config/signal_key_file.h"
#include "common/config/toml_text.h"
#include "switch/config/config.h"

namespace outrider::sw {
namespace {

constexpr std::size_t kMaxSigners = 128;  // each may have two of the 256 keys
constexpr std::size_t kMaxTrusted = 64;
constexpr std::size_t kMaxBurstSizes = 64;  // every START may look at each
constexpr std::uint64_t kMostBurstBytes = std::uint64_t{1} << 40;

void check_prefixes(const Checks& at, std::string_view key,
                    const std::vector<std::string>& prefixes) {
  for (std::size_t i = 0; i < prefixes.size(); ++i)
    at.below(key, i).parses("", prefixes[i], parse_prefix(prefixes[i]));
}

void check_ports(const Checks& at, const SwitchConfig& sw, const std::vector<std::string>& ports) {
  for (std::size_t i = 0; i < ports.size(); ++i)
    at.below("ports", i)
        .require(std::ranges::find(sw.ports, ports[i], &SwitchPortConfig::name) != sw.ports.end(),
                 "", Checks::quoted(ports[i]), "is no port of this switch");
}

void check_trusted(const Checks& at, const SwitchConfig& sw, const TrustedConfig& trusted) {
  if (trusted.ports.empty()) at.fault("ports", "must name a port");
  if (trusted.from.empty()) at.fault("from", "must have a prefix");
  check_ports(at, sw, trusted.ports);
  check_prefixes(at, "from", trusted.from);
}

void check_port_range(const Checks& at, const std::optional<PortRange>& range) {
  at.require(!range || range->first <= range->last, "destination_ports",
             Checks::quoted(format_port_range(range.value_or(PortRange{}))),
             "must not end before it begins");
}

void check_burst_size(const Checks& at, const BurstSizeConfig& size) {
  if (size.destinations.empty()) at.fault("destinations", "must have a prefix");
  check_prefixes(at, "destinations", size.destinations);
  check_port_range(at, size.destination_ports);
}

void check_signer(const Checks& at, const SwitchConfig& sw, const SignerConfig& signer) {
  if (signer.name.empty()) at.fault("name", "must not be empty");
  at.in_range("keys", signer.keys.size(), 1, 2, "files");
  if (signer.accept_from.empty()) at.fault("accept_from", "must have a prefix");
  check_prefixes(at, "accept_from", signer.accept_from);
  check_ports(at, sw, signer.ports);
  check_prefixes(at, "destinations", signer.destinations);
  check_port_range(at, signer.destination_ports);
  at.require(
      signer.min_threshold_packets <= signer.max_threshold_packets, "max_threshold_packets",
      std::to_string(signer.max_threshold_packets),
      "must not be below min_threshold_packets, " + std::to_string(signer.min_threshold_packets));
  at.require(
      !signer.due_limit || *signer.due_limit <= sw.signals.due_limit, "due_limit",
      format_duration(signer.due_limit.value_or(Duration{})),
      "must not be longer than that of all signals, " + format_duration(sw.signals.due_limit));
  if (signer.budget_share && !signer.max_entries)
    at.fault("max_entries", "is required with budget_share");
  if (signer.max_entries && !signer.budget_share)
    at.fault("budget_share", "is required with max_entries");
}

void check_signers(const Checks& at, const SwitchConfig& sw) {
  const auto& signers = sw.signals.signers;
  if (!signers.empty() && !sw.signals.accept_udp)
    at.fault("signers", "need accept_udp: the TOS form has no room for a signature");
  at.in_range("signers", signers.size(), 0, kMaxSigners, "signers");
  UniqueValues<std::string> names;
  for (std::size_t i = 0; i < signers.size(); ++i) {
    const auto below = at.below("signers", i);
    names.add(below, "name", signers[i].name, Checks::quoted(signers[i].name),
              "signers[" + std::to_string(i) + "]");
    check_signer(below, sw, signers[i]);
  }
  const auto shares = std::ranges::count_if(
      signers, [](const SignerConfig& s) { return s.budget_share.has_value(); });
  at.in_range("signers", static_cast<std::size_t>(shares), 0, kMaxSignerShares,
              "signers with budget_share");
  if (sw.signals.require_signed && signers.empty())
    at.fault("require_signed", "true", "needs a signer, or nobody could announce");
}

/// Reads one key file, and gives its path in terms of the working directory.
std::optional<SignerKey> read_key(const Checks& at, std::string& path, const std::string& directory,
                                  std::uint64_t floor) {
  const std::string written = path;
  path = (std::filesystem::path(directory) / path).string();
  const auto read = read_signal_key(path);
  for (const auto& issue : read.issues) at.fault("", Checks::quoted(written), issue.problem);
  if (!read) return std::nullopt;
  return SignerKey{*read.config, floor};
}

}  // namespace

std::vector<std::uint16_t> share_numbers(const SignalConfig& config) {
  std::vector<std::uint16_t> numbers;
  std::uint16_t next = 1;
  for (const auto& signer : config.signers)
    numbers.push_back(signer.budget_share ? next++ : std::uint16_t{0});
  return numbers;
}

SignerShares shares_of(const SignalConfig& config) {
  SignerShares shares{};
  const auto numbers = share_numbers(config);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const SignerConfig& signer = config.signers[i];
    if (numbers[i] != 0)
      shares.at(numbers[i] - 1U) = {*signer.budget_share, signer.max_entries.value()};
  }
  return shares;
}

bool same_keys(const SignalConfig& a, const SignalConfig& b) {
  const auto same_key = [](const SignerKey& x, const SignerKey& y) {
    return x.key.id == y.key.id && x.key.secret == y.key.secret;
  };
  return std::ranges::equal(a.signers, b.signers, [&](const auto& x, const auto& y) {
    return std::ranges::equal(x.read_keys, y.read_keys, same_key);
  });
}

ConfigIssues load_signal_keys(SwitchProcessConfig& config, const std::string& directory,
                              std::uint64_t floor) {
  ConfigIssues issues;
  for (std::size_t s = 0; s < config.switches.size(); ++s) {
    const auto at = Checks(issues).below("switch", s).below("signals");
    UniqueValues<std::uint8_t> ids;
    auto& signers = config.switches[s].signals.signers;
    for (std::size_t g = 0; g < signers.size(); ++g) {
      signers[g].read_keys.clear();
      for (std::size_t k = 0; k < signers[g].keys.size(); ++k) {
        const auto below = at.below("signers", g).below("keys", k);
        const auto key = read_key(below, signers[g].keys[k], directory, floor);
        if (!key) continue;
        signers[g].read_keys.push_back(*key);
        ids.add(below, "", key->key.id, "id " + std::to_string(key->key.id),
                "signers[" + std::to_string(g) + "].keys[" + std::to_string(k) + "]");
      }
    }
  }
  return issues;
}

void check_signals(const Checks& at, const SwitchConfig& sw) {
  const SignalConfig& signals = sw.signals;
  const bool nobody = signals.accept_from.empty() && signals.trusted.empty();
  if (signals.accept_tos && nobody)
    at.fault("accept_from",
             "is required with accept_tos, or a [[trusted]] source: any DSCP from 32 up reads as "
             "START");
  else if (signals.accept_udp && nobody && signals.signers.empty())
    at.fault("accept_from",
             "is required with accept_udp, or a [[trusted]] source or [[signers]]: anyone can send "
             "to a port");
  check_prefixes(at, "accept_from", signals.accept_from);
  at.in_range("trusted", signals.trusted.size(), 0, kMaxTrusted, "tables");
  for (std::size_t i = 0; i < signals.trusted.size(); ++i)
    check_trusted(at.below("trusted", i), sw, signals.trusted[i]);
  check_signers(at, sw);
  at.in_range("burst_sizes", signals.burst_sizes.size(), 0, kMaxBurstSizes, "tables");
  for (std::size_t i = 0; i < signals.burst_sizes.size(); ++i)
    check_burst_size(at.below("burst_sizes", i), signals.burst_sizes[i]);
}

void check_signer_shares(const Checks& at, const SignalConfig& signals,
                         const RegulationPolicy& policy) {
  if (policy.mode == RegulationMode::kOff) return;
  double share = 0;
  std::uint64_t entries = 0;
  for (const auto& signer : signals.signers) {
    share += signer.budget_share.value_or(0);
    entries += signer.max_entries.value_or(0);
  }
  const auto text = [](double value) { return to_toml_text(ConfigValue(value)); };
  at.require(share == 0 || share < queue_share_of(policy), "budget_queue_share",
             text(queue_share_of(policy)),
             "must be more than budget_share of all signers together, " + text(share));
  at.require(entries == 0 || entries < policy.max_entries, "max_entries",
             std::to_string(policy.max_entries),
             "must be more than max_entries of all signers together, " + std::to_string(entries));
}

void describe(Settings& v, TrustedConfig& c) {
  v.value("ports", c.ports,
          {.required = true,
           .accepts = "names of ports of the switch",
           .help = "ingress ports that vouch for the addresses in `from`. One that shares its "
                   "device with others vouches for nothing"});
  v.value("from", c.from,
          {.required = true,
           .accepts = "prefixes",
           .help = "sources whose unsigned signals are believed, in either form, at these ports"});
}

void describe(Settings& v, SignerConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique within the switch"});
  v.value("keys", c.keys,
          {.required = true,
           .accepts = "one or two paths, relative to this file; ids are unique within the switch",
           .help = "[key files](security.md#sign-in-five-commands). Both keys are valid, so that "
                   "one can follow the other"});
  v.value("accept_from", c.accept_from,
          {.required = true, .accepts = "prefixes", .help = "sources that may use the keys"});
  v.value("ports", c.ports,
          {.accepts = "names of ports of the switch; empty: any",
           .help = "ingress ports where their STARTs are believed"});
  v.value("destinations", c.destinations,
          {.accepts = "prefixes; empty: any", .help = "where announced flows may go"});
  v.text("destination_ports", c.destination_ports, parse_port_range, format_port_range,
         {.absent = "any", .help = "TCP ports that announced flows may go to"});
  v.value("min_threshold_packets", c.min_threshold_packets,
          {.range = integers(1, 65535, "packets"), .help = "least threshold h of a START"});
  v.value("max_threshold_packets", c.max_threshold_packets,
          {.range = integers(1, 65535, "packets"), .help = "its greatest"});
  v.bytes("max_burst_bytes", c.max_burst_bytes,
          {.range = integers(1, kMostBurstBytes, "bytes"),
           .absent = "any",
           .help = "largest burst that may be announced; with it, a START has to say the size"});
  v.duration("due_limit", c.due_limit,
             {.range = durations_up_to(std::chrono::hours(1)),
              .accepts = "not longer than that of all signals",
              .absent = "that of all signals",
              .help = "furthest ahead that a burst may be announced"});
  v.value("tokens_per_second", c.tokens_per_second,
          {.range = reals_above(0, 1e9),
           .help = "valid STARTs of the signer a second, whatever their source; on several lcores, "
                   "to the ports of each"});
  v.value("token_burst", c.token_burst, {.range = reals(1, 1e9), .help = "of them at once"});
  v.share("budget_share", c.budget_share,
          {.range = reals_above(0, 1),
           .accepts = "with `max_entries`; all signers' together below each regulated queue's "
                      "`budget_queue_share`",
           .absent = "none: charged to source addresses",
           .help = "[share](security.md#a-share-of-its-own) of each `budget_window` for which the "
                   "signer may hold a queue regulated, and nobody else"});
  v.value("max_entries", c.max_entries,
          {.range = integers(1, 65536),
           .accepts = "with `budget_share`; all signers' together below each regulated queue's "
                      "`max_entries`",
           .absent = "none",
           .help = "places of each queue's table that are the signer's alone"});
}

void describe(Settings& v, BurstSizeConfig& c) {
  v.value("destinations", c.destinations,
          {.required = true, .accepts = "prefixes", .help = "where the bursts go"});
  v.text("destination_ports", c.destination_ports, parse_port_range, format_port_range,
         {.absent = "any", .help = "TCP ports that they go to"});
  v.bytes("bytes", c.bytes,
          {.required = true,
           .range = integers(1, kMostBurstBytes, "bytes"),
           .help = "size of each of them on its connection. It counts for STARTs that do not say "
                   "one, which are all of the TOS form"});
}

void describe(Settings& v, SignalConfig& c) {
  v.value("accept_tos", c.accept_tos,
          {.help = "read START and ACK from the TOS byte. Any DSCP from 32 up reads as START: "
                   "never together with DSCP classes. It [cannot be signed](security.md): name "
                   "`trusted` ports rather than `accept_from`"});
  v.value("accept_udp", c.accept_udp,
          {.help = "read START and ACK from UDP messages, [a job's other "
                   "form](announcements.md#what-a-start-looks-like). Both forms may be read"});
  v.value(
      "accept_from", c.accept_from,
      {.accepts = "prefixes; required with either form, or `trusted` or `signers`",
       .help = "sources whose unsigned signals are believed at every port. An address is easily "
               "forged: see [who can do what](security.md)"});
  v.value("tokens_per_second", c.tokens_per_second,
          {.range = reals_above(0, 1e9),
           .help = "signals a second per source address, ingress port and key, of either form. "
                   "It rations the checks of signatures, too"});
  v.value("token_burst", c.token_burst, {.range = reals(1, 1e9), .help = "signals at once"});
  v.value("udp_port", c.udp_port, {.range = integers(1, 65535), .help = "that the messages go to"});
  v.duration("due_limit", c.due_limit,
             {.range = durations_up_to(std::chrono::hours(1)),
              .help = "a message whose burst is due later is counted and ignored"});
  v.value(
      "require_signed", c.require_signed,
      {.accepts = "needs `signers`",
       .help = "unsigned messages of the UDP form are counted and ignored, whoever sends them"});
  v.tables("trusted", c.trusted);
  v.tables("signers", c.signers);
  v.tables("burst_sizes", c.burst_sizes);
}

}  // namespace outrider::sw
