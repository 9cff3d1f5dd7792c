#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/signal_key.h"
#include "common/net/udp_signal.h"
#include "switch/config/classes_config.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/regulation/policy/signer_share.h"

namespace outrider::sw {

struct SwitchConfig;
struct SwitchProcessConfig;

/// Sources whose unsigned signals are believed at certain ports alone.
struct TrustedConfig {
  std::vector<std::string> ports{};  ///< ingress ports by name, at least one
  std::vector<std::string> from{};   ///< source prefixes, at least one
};

/// A key as it was read from its file.
struct SignerKey {
  SignalKey key{};
  /// No counter up to this one is new. So what was recorded before the file was read is never
  /// believed again, though the switch remembers nothing of it.
  std::uint64_t floor = 0;
};

/// Says what a holder of a key may announce.
struct SignerConfig {
  std::string name;                              ///< unique within the switch
  std::vector<std::string> keys{};               ///< one or two key files; both are valid at a time
  std::vector<std::string> accept_from{};        ///< source prefixes, at least one
  std::vector<std::string> ports{};              ///< ingress ports by name; empty: any
  std::vector<std::string> destinations{};       ///< prefixes of announced flows; empty: any
  std::optional<PortRange> destination_ports{};  ///< of announced flows; absent: any
  std::uint16_t min_threshold_packets = 1;       ///< least h
  std::uint16_t max_threshold_packets = 65535;   ///< greatest h
  std::optional<std::uint64_t> max_burst_bytes{};  ///< absent: any, and also an unknown size
  std::optional<Duration> due_limit{};             ///< absent: that of all signals
  double tokens_per_second = 1000;                 ///< valid STARTs of this signer and lcore, > 0
  double token_burst = 64;                         ///< >= 1
  /// Share of each regulated queue's time that is the signer's alone, in (0, 1], and places of its
  /// table. Both or none. Absent: STARTs are charged to their source addresses.
  std::optional<double> budget_share{};
  std::optional<std::uint32_t> max_entries{};

  /// The content of `keys`, in their order: see load_signal_keys(). No setting, never shown.
  std::vector<SignerKey> read_keys{};
};

/// How many bytes bursts to some servers have, for STARTs that do not say it.
struct BurstSizeConfig {
  std::vector<std::string> destinations{};       ///< prefixes of announced flows, at least one
  std::optional<PortRange> destination_ports{};  ///< of announced flows; absent: any
  std::uint64_t bytes = 0;                       ///< of a burst on one connection, > 0
};

/// Says which iteration-start signals a switch accepts: their forms, sources and rates.
struct SignalConfig {
  bool accept_tos = false;                 ///< whether the TOS form is read
  bool accept_udp = false;                 ///< whether the UDP form is read
  std::vector<std::string> accept_from{};  ///< sources whose unsigned signals any port believes
  double tokens_per_second = 1000;         ///< per source address, ingress port and key, > 0
  double token_burst = 64;                 ///< >= 1
  std::uint16_t udp_port = udp_signal::kDefaultPort;  ///< destination port of messages, > 0
  Duration due_limit = std::chrono::seconds(10);      ///< a burst due later is rejected, > 0
  bool require_signed = false;                        ///< whether unsigned messages are refused
  std::vector<TrustedConfig> trusted{};
  std::vector<SignerConfig> signers{};
  std::vector<BurstSizeConfig> burst_sizes{};  ///< the first that matches holds

  [[nodiscard]] bool accepts_any() const noexcept { return accept_tos || accept_udp; }
  /// Returns whether there is a source whose signals may be believed.
  [[nodiscard]] bool lists_any() const noexcept {
    return !accept_from.empty() || !trusted.empty() || !signers.empty();
  }
};

/// Returns the number of each signer: 0 without a share, and else the place among those with one,
/// from 1.
std::vector<std::uint16_t> share_numbers(const SignalConfig& config);
/// Returns the shares of the signers that have one, by their number less one. @pre valid
SignerShares shares_of(const SignalConfig& config);

/// Returns whether the signers have the same keys, in the same order. same_settings() compares
/// the names of their files only.
bool same_keys(const SignalConfig& a, const SignalConfig& b);

/// Reads the key files of all signers. A relative path is relative to `directory`; afterwards it
/// is relative to the working directory.
/// @param floor  of the keys: the time now [ns since 1970], or 0 where messages have virtual times
/// @return every file that is no key file, and every id that a switch has twice, by its key
ConfigIssues load_signal_keys(SwitchProcessConfig& config, const std::string& directory,
                              std::uint64_t floor);

/// Checks the rules of [switch.signals] that join several settings.
void check_signals(const Checks& at, const SwitchConfig& sw);
/// Checks that signers leave something of a regulated queue to all others.
void check_signer_shares(const Checks& at, const SignalConfig& signals,
                         const RegulationPolicy& policy);

void describe(Settings& v, TrustedConfig& c);
void describe(Settings& v, SignerConfig& c);
void describe(Settings& v, BurstSizeConfig& c);
void describe(Settings& v, SignalConfig& c);

}  // namespace outrider::sw
