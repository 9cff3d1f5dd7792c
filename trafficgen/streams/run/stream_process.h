#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/dpdk/eal/eal.h"
#include "common/dpdk/packet/mempool.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_program.h"
#include "trafficgen/config/config.h"
#include "trafficgen/streams/engine/stream_engine.h"
#include "trafficgen/streams/run/stream_loop.h"

namespace outrider::tg {

/// Returns the devices of a configuration for the streams. Without a configured line rate, the
/// link's is used; a virtual device has none.
std::vector<StreamDevice> stream_devices(const GeneratorConfig& config, const PollDevices& devices);

/// Checks what only the opened devices show: rates beyond a link, frames beyond an MTU.
/// @pre the links are up: a NIC has no rate before
/// @throws UsageError naming every key
void check_streams_fit(const GeneratorConfig& config, const PollDevices& devices);

/// Returns the buffers that the streams' senders need.
[[nodiscard]] std::uint32_t stream_send_mbufs(const GeneratorConfig& config);

/// Returns the MTU [bytes] that a device is given: a NIC's is the longest packet of its hosts and
/// of the streams that it sends or receives, and at least 1500; a virtual device keeps its own.
[[nodiscard]] std::uint16_t device_mtu_bytes(const GeneratorConfig& config,
                                             const GeneratorDeviceConfig& device);

/// Returns the room for a whole frame of any stream or NIC, at least 2048 bytes.
[[nodiscard]] std::uint32_t stream_room_bytes(const GeneratorConfig& config);

/// Returns an engine's setup on opened devices. If there are hosts too, the run ends with its
/// duration, so streams end `stream_drain` earlier for their last packets to arrive.
StreamEngine::Setup stream_setup(const GeneratorConfig& config, const PollDevices& devices,
                                 std::optional<Duration> duration);

/// Holds EAL, pools and devices of a process that runs streams only. Engines with different rates
/// may use it one after another.
class StreamProcess {
 public:
  /// @throws EnvironmentError
  StreamProcess(const GeneratorConfig& config, const ProgramOptions& options,
                std::vector<std::string> eal_extra);

  /// Waits until every link is up, as long as the options say, then calls check_streams_fit().
  /// Engines are made after that. @return false: stopped before
  /// @throws UsageError, EnvironmentError
  [[nodiscard]] bool wait_for_links();

  /// @param streams of the configuration, possibly with other rates
  /// @param own, pauses  see StreamEngine::Setup
  [[nodiscard]] StreamEngine engine(const std::vector<StreamConfig>& streams,
                                    std::optional<Duration> duration,
                                    std::vector<std::size_t> own = {},
                                    std::vector<PauseConfig> pauses = {});
  /// Returns the setup of an engine with all streams of the configuration.
  [[nodiscard]] StreamEngine::Setup setup(std::optional<Duration> duration) const;
  /// Calls run_streams(), and shows live figures if the options ask for them.
  StreamRun run(StreamEngine& engine, std::optional<Duration> duration);
  [[nodiscard]] PollDevices& devices() noexcept { return devices_; }
  [[nodiscard]] rte_mempool& send_pool() noexcept { return *send_pool_; }

 private:
  GeneratorConfig config_;
  ProgramOptions options_;
  std::vector<PortConfig> ports_;
  Eal eal_;
  Mempool send_pool_;
  Mempool receive_pool_;
  PollDevices devices_;
};

}  // namespace outrider::tg
