#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/dpdk/eal.h"
#include "common/dpdk/mempool.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_program.h"
#include "trafficgen/config/config.h"
#include "trafficgen/streams/engine/stream_engine.h"
#include "trafficgen/streams/run/stream_loop.h"

namespace outrider::tg {

/// The devices of a configuration as streams know them. A line rate that is not
/// given is the link's; a virtual device has none.
std::vector<StreamDevice> stream_devices(const GeneratorConfig& config, const PollDevices& devices);

/// What only the opened devices show: rates beyond a link, frames beyond an MTU.
/// @throws UsageError naming every key
void check_streams_fit(const GeneratorConfig& config, const PollDevices& devices);

/// Buffers that the streams' senders need.
[[nodiscard]] std::uint32_t stream_send_mbufs(const GeneratorConfig& config);

/// Room for a whole frame of any stream, at least 2048 bytes.
[[nodiscard]] std::uint32_t stream_room_bytes(const GeneratorConfig& config);

/// An engine's setup on opened devices. Beside hosts a run ends with its duration,
/// so streams end `stream_drain` earlier for their last packets to arrive.
StreamEngine::Setup stream_setup(const GeneratorConfig& config, const PollDevices& devices,
                                 std::optional<Duration> duration);

/// EAL, pools and devices of a process that runs streams alone. Engines of
/// different rates may follow one another on it.
class StreamProcess {
 public:
  /// @throws UsageError, EnvironmentError
  StreamProcess(const GeneratorConfig& config, const ProgramOptions& options,
                std::vector<std::string> eal_extra);

  /// @param streams of the configuration, perhaps at other rates
  [[nodiscard]] StreamEngine engine(const std::vector<StreamConfig>& streams,
                                    std::optional<Duration> duration);
  /// See run_streams(). Shows figures meanwhile if the options ask for it.
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
