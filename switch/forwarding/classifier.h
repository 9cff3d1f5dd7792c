#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/traffic_class.h"
#include "switch/config/config.h"
#include "switch/forwarding/acl_table.h"
#include "switch/forwarding/parse_headers.h"
#include "switch/regulation/regulator/recent_flows.h"

namespace outrider::sw {

/// The state that changes as packets are classified. Each lcore that classifies has its own.
struct ClassifierLane {
  std::unique_ptr<RecentFlows> announced{};  ///< only if flows are learned

  /// Learns a flow whose burst an accepted START has announced, in both directions.
  void on_start(const FlowKey& flow) noexcept {
    if (!announced) return;
    announced->add(flow);
    announced->add(flow.reversed());
  }
};

/// Decides the class and the queue of a packet. The first of these that applies gives the class:
///
/// 1. the first [[switch.rule]] that matches, if it names a class
/// 2. DDL, if flows are learned and an accepted START has announced this one, in either direction
/// 3. DDL, if the TCP port of either end is among ddl_ports
/// 4. DDL, if the DSCP, or the PCP of the outer tag, is listed as DDL
/// 5. otherwise background
///
/// The queue is the rule's, else the DSCP's, else the PCP's, else the class's.
/// Whether a packet is a signal is not decided here. Const after start-up.
class Classifier {
 public:
  struct Result {
    TrafficClass traffic_class = TrafficClass::kBackground;
    std::uint8_t queue = 0;
  };

  /// @param config must be valid
  /// @throws DpdkError if there is no memory for the rules
  explicit Classifier(const SwitchConfig& config);

  /// @param headers as parse_headers() has read them
  template <class Headers>
  [[nodiscard]] Result classify(const FrameSummary& summary, const Headers& headers,
                                const ClassifierLane& lane) const noexcept {
    if (by_ports_alone_) [[likely]]
      return of_class(is_ddl_port(headers.flow, headers.tcp_offset != 0));
    return classify_fully(summary, headers.flow, headers.tcp_offset != 0, headers.tos, lane);
  }

  /// @throws std::bad_alloc
  [[nodiscard]] ClassifierLane make_lane() const {
    if (learned_flows_ == 0) return {};
    return {std::make_unique<RecentFlows>(learned_flows_)};
  }

 private:
  static constexpr std::uint8_t kUnset = 0xFF;
  /// Queue and class that a DSCP or a PCP gives.
  struct Mark {
    std::uint8_t queue = kUnset;
    bool ddl = false;
  };
  struct Action {
    std::optional<TrafficClass> traffic_class{};
    std::uint8_t queue = kUnset;
  };

  [[nodiscard]] bool is_ddl_port(const FlowKey& flow, bool tcp) const noexcept {
    return tcp &&
           (ddl_ports_.contains(flow.source_port) || ddl_ports_.contains(flow.destination_port));
  }
  [[nodiscard]] Result of_class(bool ddl) const noexcept {
    return ddl ? Result{TrafficClass::kDdl, ddl_queue_}
               : Result{TrafficClass::kBackground, background_queue_};
  }
  [[nodiscard]] Result classify_fully(const FrameSummary& summary, const FlowKey& flow, bool tcp,
                                      std::uint8_t tos, const ClassifierLane& lane) const noexcept;

  bool by_ports_alone_;
  std::uint8_t background_queue_;
  std::uint8_t ddl_queue_;
  PortRange ddl_ports_;
  std::uint32_t learned_flows_;
  std::array<Mark, 64> dscp_{};
  std::array<Mark, 8> pcp_{};
  std::unique_ptr<AclTable> rules_;  ///< only if there are rules
  std::vector<Action> actions_;      ///< [rules + 1] without a rule, of rule 1, ...
};

}  // namespace outrider::sw
