#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trafficgen/apps/generator_hosts.h"
#include "trafficgen/background/capture_player.h"
#include "trafficgen/background/flow_group.h"
#include "trafficgen/background/long_flow.h"
#include "trafficgen/background/request_flows.h"
#include "trafficgen/background/transfer_source.h"
#include "trafficgen/config/full_packet.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// The background traffic of a generator: a list for each kind, with an element for each of the
/// configuration; null where another lcore has it.
class GeneratorBackground {
 public:
  /// @param config,hosts,goodput must outlive this object, @param share of the configuration
  /// @throws std::runtime_error if a capture cannot be read
  GeneratorBackground(const GeneratorConfig& config, const LcoreShare& share,
                      const GeneratorHosts& hosts, GoodputSeries& goodput);

  /// Schedules the first event of each. Call it once.
  void start(Time now) const;

  std::vector<std::unique_ptr<LongFlow>> long_flows;
  std::vector<std::unique_ptr<RequestFlows>> requests;
  std::vector<std::unique_ptr<TransferSource>> transfers;
  std::vector<std::unique_ptr<FlowGroup>> flow_groups;
  std::vector<std::unique_ptr<CapturePlayer>> captures;

 private:
  [[nodiscard]] std::unique_ptr<Channels> channels(const std::string& transport,
                                                   const std::string& from, const std::string& to,
                                                   std::uint32_t first_port,
                                                   std::uint16_t ports) const;
  void make_long_flows(const LongFlowsConfig& flows);
  [[nodiscard]] std::unique_ptr<LongFlow> long_flow(const LongFlowsConfig& flows, std::size_t pair,
                                                    std::uint32_t index) const;
  void make_requests(const RequestFlowsConfig& flows);
  void make_transfer(const TransferConfig& transfer, const LcoreShare& share);
  void make_flow_group(const FlowsConfig& flows, const LcoreShare& share);
  void make_capture(const CaptureConfig& capture);

  const GeneratorConfig& config_;
  const GeneratorHosts& hosts_;
  GoodputSeries& goodput_;
};

}  // namespace outrider::tg
