#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "trafficgen/background/flow_sizes.h"
#include "trafficgen/background/flows_config.h"
#include "trafficgen/import/flow_list.h"

namespace outrider::tg {

struct FlowArrival {
  Time at{};
  std::uint32_t from = 0;  ///< position in the group's senders
  std::uint32_t to = 0;    ///< position in the group's receivers
  std::uint64_t bytes = 0;
};

/// Yields the arrivals of a group's flows in the order of time. It only decides; every caller gets
/// the same draws, so that a preview shows what a run will do. Not thread-safe.
class FlowArrivals {
 public:
  virtual ~FlowArrivals() = default;
  /// Returns the next arrival, nothing after the last. Nothing allocates.
  virtual std::optional<FlowArrival> next() noexcept = 0;
  /// Returns how many flows of a list have not begun; 0 where flows are drawn, which never end by
  /// themselves. @param waits  the last one of next() has not begun either
  [[nodiscard]] virtual std::uint64_t listed_flows_left(bool waits) const noexcept;
};

/// Draws flows from a distribution. Gaps, sizes and hosts come from random streams of the group's
/// own, so that other groups change nothing here.
class DrawnArrivals final : public FlowArrivals {
 public:
  struct Setup {
    std::uint64_t seed = 1;
    std::uint32_t group = 0;                  ///< entity of the random streams
    std::vector<std::uint32_t> from{}, to{};  ///< addresses; a flow never has the same one twice
    double mean_gap_s = 0;                    ///< > 0
    ArrivalProcess process = ArrivalProcess::kPoisson;
    Time begin{};
    Time end = kNever;  ///< no arrivals at or after it
    std::uint64_t max_flows = UINT64_MAX;
  };
  /// @pre each of `from` has another address in `to`
  DrawnArrivals(Setup setup, FlowSizes sizes);
  std::optional<FlowArrival> next() noexcept override;

 private:
  Setup setup_;
  FlowSizes sizes_;
  RandomStream gaps_, draws_, hosts_;
  double at_s_ = 0;  ///< seconds after `begin`
  std::uint64_t flows_ = 0;
};

/// Yields the flows of a list. @pre the list is in the order of time
class ListedArrivals final : public FlowArrivals {
 public:
  ListedArrivals(std::vector<ListedFlow> flows, Time begin, Time end, std::uint64_t max_flows);
  std::optional<FlowArrival> next() noexcept override;
  [[nodiscard]] std::uint64_t listed_flows_left(bool waits) const noexcept override;

 private:
  std::vector<ListedFlow> flows_;
  Time begin_, end_;
  std::uint64_t max_flows_;
  std::size_t next_ = 0;
};

/// The properties of a host that a group needs.
struct FlowHost {
  std::uint32_t address = 0;
  BitRate rate{};  ///< of its NIC, L1
};

/// A full packet of a transport.
struct FullPacket {
  std::uint32_t payload_bytes = 0;
  std::uint32_t wire_bytes = 0;  ///< L1
};
[[nodiscard]] FullPacket full_segment(std::uint32_t mss_bytes) noexcept;

/// Returns the payload rate that a group offers: `rate`, or `load` times the rate of the receivers'
/// NICs times the share of payload in a full packet.
BitRate offered_rate(const FlowsConfig& flows, const std::vector<FlowHost>& to,
                     const FullPacket& packet) noexcept;

/// Makes the arrivals of a group. @param from,to  with a list, both are its hosts
/// @throws std::runtime_error if a file of the group cannot be read
std::unique_ptr<FlowArrivals> make_arrivals(const FlowsConfig& flows,
                                            const std::vector<FlowHost>& from,
                                            const std::vector<FlowHost>& to,
                                            const FullPacket& packet, std::uint64_t seed,
                                            std::uint32_t group);

}  // namespace outrider::tg
