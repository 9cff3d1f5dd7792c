#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "switch/config/config.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/config/config.h"
#include "trafficgen/streams/search/trials.h"

namespace outrider::lab {

/// Trials of streams through switches in virtual time. Each begins with switches that nothing has
/// passed, and with draws of its own. Deterministic.
class VirtualTrials final : public tg::Trials {
 public:
  /// @param switches  valid; their devices have the names of the traffic's
  /// @param traffic   valid; of it devices, `stream_drain` and the seed are used
  /// @param pool      of make_packet_pool({.frame_room_bytes = kHeaderRoomBytes}), with at least
  ///                  buffers_for() of both; outlives this
  VirtualTrials(sw::SwitchProcessConfig switches, tg::GeneratorConfig traffic, rte_mempool& pool,
                StopCheck stop)
      : switches_(std::move(switches)),
        traffic_(std::move(traffic)),
        pool_(pool),
        stop_(std::move(stop)) {}

  /// @throws std::runtime_error if a stream has no port
  std::optional<tg::TrialResult> run(const tg::Trial& trial) override;

  [[nodiscard]] BitRate line_rate(const std::string& device) const override;

  [[nodiscard]] static std::uint32_t buffers_for(const sw::SwitchProcessConfig& switches,
                                                 const tg::GeneratorConfig& traffic);

 private:
  sw::SwitchProcessConfig switches_;
  tg::GeneratorConfig traffic_;
  rte_mempool& pool_;
  StopCheck stop_;
};

}  // namespace outrider::lab
