#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "trafficgen/config/config.h"
#include "trafficgen/config/controller_config.h"
#include "trafficgen/config/transport_reserve.h"

namespace outrider::tg {

/// Reads and validates the file of outrider-trafficgen and the files that it names;
/// docs/configuration.md lists every key. A relative path in it is relative to the file; in the
/// result it is relative to the working directory.
ConfigResult<GeneratorConfig> load_generator_config(const std::string& path);

/// Does the same with a table that is already in memory. @param directory base of relative paths
ConfigResult<GeneratorConfig> generator_config_from(const ConfigTable& file,
                                                    const std::string& directory);

/// Checks the models' files: they must load and, for a closed loop, contain its compute time. Reads
/// files.
ConfigIssues validate_models(const GeneratorConfig& config);

/// Checks that the signal keys of jobs can be read. Reads files.
ConfigIssues validate_signal_keys(const GeneratorConfig& config);

/// Returns the resolved configuration, defaults included; it reads back to an equal struct.
std::string to_toml(const GeneratorConfig& config);

/// Returns the number of packet buffers that the process needs, which is the default of `mbufs`.
/// Per device: its descriptors and two batches of 32. Per host: 64 packets in its NIC's queue. In
/// addition: 512 in the pool's cache.
std::uint32_t required_mbufs(const GeneratorConfig& config);

/// Returns the settings that the packet buffers follow from most: "`mbufs`".
std::string buffer_keys(const GeneratorConfig& config);

/// Checks single tables, for files that hold them in another place.
void check(const Checks& at, const TcpConfig& tcp);

// Bindings, see common/config/config_binding.h.

inline constexpr auto kConnectionReuses =
    choices<ConnectionReuse>({{"new", ConnectionReuse::kNew},
                              {"idle_restart", ConnectionReuse::kIdleRestart},
                              {"keep", ConnectionReuse::kKeep}});
inline constexpr auto kLossDetections = choices<LossDetection>(
    {{"rfc6675", LossDetection::kRfc6675}, {"rack_tlp", LossDetection::kRackTlp}});
inline constexpr auto kRtoRules =
    choices<RtoRule>({{"rfc6298", RtoRule::kRfc6298}, {"linux", RtoRule::kLinux}});
inline constexpr auto kTcpStacks =
    choices<TcpStack>({{"rfc", TcpStack::kRfc}, {"linux", TcpStack::kLinux}});
inline constexpr auto kWindowReductions = choices<WindowReduction>(
    {{"at_once", WindowReduction::kAtOnce}, {"prr", WindowReduction::kPrr}});
inline constexpr auto kSsthreshBases =
    choices<SsthreshBase>({{"flight", SsthreshBase::kFlight}, {"window", SsthreshBase::kWindow}});
inline constexpr auto kLostRetransmissions = choices<LostRetransmission>(
    {{"reduces", LostRetransmission::kReduces}, {"linux", LostRetransmission::kLinux}});
inline constexpr auto kWindowUses =
    choices<WindowUse>({{"off", WindowUse::kOff}, {"linux", WindowUse::kLinux}});
inline constexpr auto kTailProbes =
    choices<TailProbe>({{"rfc8985", TailProbe::kRfc8985}, {"linux", TailProbe::kLinux}});
inline constexpr auto kSegmentJoinings =
    choices<SegmentJoining>({{"off", SegmentJoining::kOff}, {"linux", SegmentJoining::kLinux}});
inline constexpr auto kTransportProtocols =
    choices<TransportProtocol>({{"tcp", TransportProtocol::kTcp},
                                {"mlt", TransportProtocol::kMlt},
                                {"roce", TransportProtocol::kRoce}});
/// Those of them that have channels, which carry background.
inline constexpr auto kChannelProtocols = [] {
  constexpr auto has = [](const auto& choice) { return has_channels(choice.value); };
  std::array<Choice<TransportProtocol>, std::ranges::count_if(kTransportProtocols, has)> some{};
  std::ranges::copy_if(kTransportProtocols, some.begin(), has);
  return some;
}();

void describe(Settings& v, GeneratorDeviceConfig& c);
void describe(Settings& v, HostConfig& c);
void describe(Settings& v, TcpConfig& c);
void describe(Settings& v, TransportConfig& c);
void describe(Settings& v, LongFlowsConfig& c);
void describe(Settings& v, GeneratorConfig& c);

}  // namespace outrider::tg
