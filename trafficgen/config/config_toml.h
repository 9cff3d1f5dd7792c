#pragma once

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

/// Reads and validates the file of outrider-trafficgen and the model profiles
/// that it names; docs/configuration.md names every key. A relative path of a
/// model is relative to the file: in the result it is so to the working directory.
ConfigResult<GeneratorConfig> load_generator_config(const std::string& path);

/// The same from a table that is already in memory. @param directory of relative paths
ConfigResult<GeneratorConfig> generator_config_from(const ConfigTable& file,
                                                    const std::string& directory);

/// Faults that only the models' files show: that they load, and that a closed
/// loop finds its compute time in them. Reads files.
ConfigIssues validate_models(const GeneratorConfig& config);

/// The resolved configuration, defaults included; reads back to an equal struct.
std::string to_toml(const GeneratorConfig& config);

/// Packet buffers that the process needs: what `mbufs` is when the file does
/// not say. Per device its descriptors and two batches of 32, per host 64
/// packets in its NIC's queue, and 512 in the pool's cache.
std::uint32_t required_mbufs(const GeneratorConfig& config);

/// Rules of single parts, for files that hold these tables in another place.
void check(const Checks& at, const TcpConfig& tcp);

// Bindings, see common/config/config_binding.h.

inline constexpr auto kConnectionReuses =
    choices<ConnectionReuse>({{"new", ConnectionReuse::kNew},
                              {"idle_restart", ConnectionReuse::kIdleRestart},
                              {"keep", ConnectionReuse::kKeep}});
inline constexpr auto kLossDetections = choices<LossDetection>(
    {{"rfc6675", LossDetection::kRfc6675}, {"rack_tlp", LossDetection::kRackTlp}});
inline constexpr auto kTransportProtocols = choices<TransportProtocol>(
    {{"tcp", TransportProtocol::kTcp}, {"mlt", TransportProtocol::kMlt}});

void describe(Settings& v, GeneratorDeviceConfig& c);
void describe(Settings& v, HostConfig& c);
void describe(Settings& v, TcpConfig& c);
void describe(Settings& v, TransportConfig& c);
void describe(Settings& v, LongFlowsConfig& c);
void describe(Settings& v, GeneratorConfig& c);

}  // namespace outrider::tg
