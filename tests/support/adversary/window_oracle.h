#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "tests/support/adversary/seen_frame.h"

namespace outrider {

/// Judges what a switch does to the windows in the acknowledgments of honest receivers: each
/// frame is seen before and behind the switch. A window is never lowered below two segments of
/// its flow or the receiver's own offer, and a right edge that the sender was told never moves
/// left unless the receiver's own does.
///
/// Once somebody has forged a segment within a flow's window, its edge may move left by less than
/// a unit of the window scale: true answers may then look old, and an old answer's window is
/// rounded up without being remembered.
class WindowOracle {
 public:
  /// The flow as its sender and the switch know it. Sequence numbers of the data.
  struct Flow {
    std::int8_t sender_scale = -1, receiver_scale = -1;
    std::uint32_t end = 0;           ///< one past the highest byte that entered the switch
    std::uint32_t acknowledged = 0;  ///< highest that left the switch
    std::uint32_t offered = 0;       ///< the receiver's own furthest edge
    std::uint32_t edge = 0;          ///< furthest edge that left the switch
    std::uint32_t segment_bytes = 0;
    bool open = false;     ///< both SYNs were seen
    bool tainted = false;  ///< not judged
    bool guessed = false;  ///< somebody has forged a segment within the window
    bool has_edge = false;
  };

  /// Sees a frame of an honest host before the switch.
  void before(const Packet* packet, const SeenFrame& frame);
  /// Sees a frame that leaves the switch. @return what is wrong, if anything is
  [[nodiscard]] std::optional<std::string> after(const Packet* packet, const SeenFrame& frame);

  /// Forgets a packet that was not an honest host's.
  void forget(const Packet* packet) { passing_.erase(packet); }
  /// Notes that a segment within the flow's window is forged.
  void guess(const FlowKey& data_flow) { flows_[data_flow].guessed = true; }
  /// Judges no flow until its next handshake.
  void taint_all() {
    for (auto& [key, flow] : flows_) flow.tainted = true;
  }
  [[nodiscard]] const std::map<FlowKey, Flow>& flows() const noexcept { return flows_; }
  /// Returns how many windows were lowered, to show that there was something to judge.
  [[nodiscard]] std::uint64_t lowered() const noexcept { return lowered_; }

 private:
  void learn_data(const SeenFrame& frame);
  void learn_answer(const SeenFrame& frame);

  std::map<FlowKey, Flow> flows_;  ///< by data flow; each connection is two
  std::unordered_map<const Packet*, SeenFrame> passing_;
  std::uint64_t lowered_ = 0;
};

}  // namespace outrider
