#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/signal_key.h"
#include "tools/lab/ranks/rank_result.h"
#include "tools/lab/simulation/partition.h"
#include "tools/lab/simulation/simulation.h"

namespace outrider::lab {

/// One rank's part of a case, with the ends of the wires that lead to other ranks. It knows of no
/// other rank: whoever drives it says how far it may run, carries batches, and says when.
///
/// A window is half-open: [begin, end). A packet that leaves in it arrives at its end or later, if
/// the window is no longer than Partition::lookahead. So windows of all ranks may run at the same
/// time. Every wire is an event source of its own, and has the same place among the others on
/// every partition, so that arrivals are in the order (time, source, sequence) that one rank gives
/// them, whichever batch came first.
///
/// Identity: what ranks have sent over a wire, the rank at its end has received, see check_wires().
class RankSimulation {
 public:
  /// @param partition must outlive this. For the others see Simulation
  RankSimulation(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
                 const Partition& partition, std::uint32_t rank, rte_mempool& pool,
                 const std::map<std::string, SignalKey>& signal_keys = {});

  /// Returns the instant of the next event, of packets sent to other ranks too: as if these had
  /// them already.
  [[nodiscard]] Time next() const noexcept;
  /// Handles what is due before `end`, and collects what has left for other ranks.
  /// @throws std::runtime_error if a packet would arrive before `end`
  void run_window(Time end);
  /// Advances to `end`. @pre nothing is due at or before it
  void advance(Time end) noexcept { simulation_.run_until(end); }

  /// Returns the batches of the latest window. @return [ranks]
  [[nodiscard]] std::span<const std::string> batches() const noexcept { return batches_; }
  /// Takes a batch of another rank's latest window. @throws std::runtime_error if it is damaged, or
  /// no buffer is left
  void receive(std::uint32_t from, std::string_view batch);
  /// Returns the ranks with wires to or from this one. @return [ranks]
  [[nodiscard]] const std::vector<bool>& neighbours() const noexcept { return neighbours_; }

  /// See Simulation.
  void sample_links(const sw::SwitchProcessConfig& switches, Duration slice) {
    simulation_.sample_links(switches, slice);
  }
  void end_slice() { simulation_.end_slice(); }
  void change_to(const sw::SwitchProcessConfig& switches) { simulation_.change_to(switches); }

  [[nodiscard]] bool finished() const noexcept { return simulation_.finished(); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] RankResult result();
  void flush() noexcept { simulation_.flush(); }

 private:
  struct Departure {
    sw::CutWire wire;
    std::uint32_t to = 0;
  };
  struct Arrival {
    std::uint32_t from = 0;
    Link* link = nullptr;
  };

  rte_mempool& pool_;
  Simulation simulation_;
  std::vector<Departure> departures_;
  std::map<std::uint32_t, Arrival> arrivals_;  ///< by the wire's number
  std::vector<std::string> batches_;
  std::vector<bool> neighbours_;
  Time next_sent_ = kNever;  ///< earliest arrival of the packets of the latest window
  std::uint64_t events_ = 0;
};

}  // namespace outrider::lab
