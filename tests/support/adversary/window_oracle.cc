#include "tests/support/adversary/window_oracle.h"

#include <algorithm>

#include "common/core/sequence.h"
#include "common/net/headers.h"

namespace outrider {
namespace {

std::uint32_t bytes_of_window(const WindowOracle::Flow& flow, const SeenFrame& frame,
                              std::uint16_t window) {
  const bool scaled = !frame.has(kTcpSyn) && flow.sender_scale >= 0 && flow.receiver_scale >= 0;
  return std::uint32_t{window} << (scaled ? flow.receiver_scale : 0);
}

}  // namespace

void WindowOracle::learn_data(const SeenFrame& frame) {
  Flow& flow = flows_[frame.flow];
  if (frame.has(kTcpSyn)) {
    if (!frame.has(kTcpAck) && (!flow.open || frame.sequence + 1 != flow.acknowledged)) flow = {};
    flow.sender_scale = frame.window_scale;
    flow.end = flow.acknowledged = frame.sequence + 1;
    return;
  }
  flow.segment_bytes = std::max<std::uint32_t>(flow.segment_bytes, frame.payload_bytes);
  if (flow.open) flow.end = later_sequence(flow.end, frame.sequence + frame.payload_bytes);
}

void WindowOracle::learn_answer(const SeenFrame& frame) {
  Flow& flow = flows_[frame.flow.reversed()];
  if (frame.has(kTcpSyn)) {
    if (!frame.has(kTcpAck)) flow = {};
    flow.receiver_scale = frame.window_scale;
    flow.open = frame.has(kTcpAck);
  } else if (frame.has(kTcpAck) && flow.sender_scale >= -1) {
    flow.open = true;
  }
}

void WindowOracle::before(const Packet* packet, const SeenFrame& frame) {
  passing_.erase(packet);
  if (!frame.is_tcp() || frame.has(kTcpRst)) return;
  learn_data(frame);
  learn_answer(frame);
  if (frame.has(kTcpAck)) passing_[packet] = frame;
}

std::optional<std::string> WindowOracle::after(const Packet* packet, const SeenFrame& frame) {
  const auto passing = passing_.find(packet);
  if (passing == passing_.end()) return std::nullopt;
  const SeenFrame was = passing->second;
  passing_.erase(passing);
  if (!(was.flow == frame.flow) || was.acknowledgment != frame.acknowledgment)
    return "a segment was exchanged or its numbers were changed";
  Flow& flow = flows_[frame.flow.reversed()];
  const std::int32_t advance = sequence_distance(frame.acknowledgment, flow.acknowledged);
  if (!flow.open || flow.tainted || advance < 0 ||
      sequence_distance(frame.acknowledgment, flow.end) > 0)
    return std::nullopt;  // the sender ignores it as well
  const std::uint32_t own = bytes_of_window(flow, frame, was.window);
  const std::uint32_t told = bytes_of_window(flow, frame, frame.window);
  const std::uint32_t told_edge = frame.acknowledgment + told;
  const std::uint32_t own_edge = frame.acknowledgment + own;
  flow.acknowledged = frame.acknowledgment;
  lowered_ += told < own;
  const std::uint32_t slack = flow.guessed ? bytes_of_window(flow, frame, 1) - 1 : 0;
  std::string wrong;
  if (told > own) wrong = "a window is wider than the receiver's own";
  else if (told < own && told < 2 * flow.segment_bytes)
    wrong = "a window is lowered below two segments";
  else if (told < own && flow.has_edge && sequence_distance(told_edge + slack, flow.edge) < 0)
    wrong = "an edge moves left by " + std::to_string(sequence_distance(flow.edge, told_edge)) +
            " bytes";
  flow.edge = flow.has_edge ? later_sequence(flow.edge, told_edge) : told_edge;
  flow.offered = flow.has_edge ? later_sequence(flow.offered, own_edge) : own_edge;
  flow.has_edge = true;
  if (wrong.empty()) return std::nullopt;
  return wrong + ": window " + std::to_string(own) + " became " + std::to_string(told) + ", port " +
         std::to_string(frame.flow.destination_port);
}

}  // namespace outrider
