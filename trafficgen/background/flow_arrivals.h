#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "trafficgen/background/flow_sizes.h"
#include "trafficgen/background/flows_config.h"
#include "trafficgen/import/hpcc_flows.h"

namespace outrider::tg {

struct FlowArrival {
  Time at{};
  std::uint32_t from = 0;  ///< position in the group's senders
  std::uint32_t to = 0;    ///< position in the group's receivers
  std::uint64_t bytes = 0;
};

/// When which flow of a group arrives, in the order of time. Decides only; the
/// same draws whoever asks, so a preview shows what a run will do. Not thread-safe.
class FlowArrivals {
 public:
  virtual ~FlowArrivals() = default;
  /// Nothing allocates. @return nothing after the last
  virtual std::optional<FlowArrival> next() noexcept = 0;
};

/// Flows drawn from a distribution. Gaps, sizes and hosts come from streams of
/// random numbers of the group's own: another group changes nothing here.
class DrawnArrivals final : public FlowArrivals {
 public:
  struct Setup {
    std::uint64_t seed = 1;
    std::uint32_t group = 0;                  ///< entity of the random streams
    std::vector<std::uint32_t> from{}, to{};  ///< addresses; a pair of equal ones is not drawn
    double mean_gap_s = 0;                    ///< > 0
    ArrivalProcess process = ArrivalProcess::kPoisson;
    Time begin{};
    Time end = kNever;  ///< none at or after it
    std::uint64_t max_flows = UINT64_MAX;
  };
  /// @pre each of `from` has another address in `to`
  DrawnArrivals(Setup setup, FlowSizes sizes);
  std::optional<FlowArrival> next() noexcept override;

 private:
  Setup setup_;
  FlowSizes sizes_;
  RandomStream gaps_, draws_, hosts_;
  double at_s_ = 0;  ///< after begin
  std::uint64_t flows_ = 0;
};

/// Flows of a list. @pre in the order of time
class ListedArrivals final : public FlowArrivals {
 public:
  ListedArrivals(std::vector<ListedFlow> flows, Time begin, Time end, std::uint64_t max_flows);
  std::optional<FlowArrival> next() noexcept override;

 private:
  std::vector<ListedFlow> flows_;
  Time begin_, end_;
  std::uint64_t max_flows_;
  std::size_t next_ = 0;
};

/// What a group needs to know of a host.
struct FlowHost {
  std::uint32_t address = 0;
  BitRate rate{};  ///< of its NIC, L1
};

/// Payload rate that a group asks for: `rate`, or `load` of the NICs of one side,
/// times the share of payload in a full frame with all that the wire adds.
BitRate offered_rate(const FlowsConfig& flows, const std::vector<FlowHost>& from,
                     const std::vector<FlowHost>& to, std::uint32_t mss_bytes) noexcept;

/// @param from,to  with a list both are its hosts
/// @throws std::runtime_error if a file of the group cannot be read
std::unique_ptr<FlowArrivals> make_arrivals(const FlowsConfig& flows,
                                            const std::vector<FlowHost>& from,
                                            const std::vector<FlowHost>& to,
                                            std::uint32_t mss_bytes, std::uint64_t seed,
                                            std::uint32_t group);

}  // namespace outrider::tg
