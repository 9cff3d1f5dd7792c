#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "trafficgen/mlt/mlt_receiver.h"
#include "trafficgen/mlt/mlt_sender.h"

namespace outrider {

inline tg::ControllerConfig mlt_control(std::uint32_t window = 10) {
  tg::ControllerConfig control;
  control.controller = tg::Controller::kDctcp;
  control.initial_window_segments = window;
  return control;
}

/// A sender and its receiver on a wire that takes `delay` each way and a byte time per byte of
/// data. A rule decides the fate of each message.
class MltEnds {
 public:
  struct Fate {
    bool drop = false;
    bool ce = false;
    Duration later{};
  };
  using Rule = std::function<Fate(const mlt::Message&, bool from_sender)>;
  struct Setup {
    std::vector<tg::MltTensor> tensors;
    tg::MltConfig config{};
    double tolerance = 0;  ///< of every tensor
    std::uint32_t packet_bytes = 1000;
    std::uint32_t window = 10;
    Duration delay = std::chrono::microseconds(50);
    Duration packet_time = std::chrono::microseconds(1);
  };

  explicit MltEnds(const Setup& s)
      : setup(s),
        control(mlt_control(s.window)),
        sender(setup.config, control, {.tensors = s.tensors, .packet_bytes = s.packet_bytes}),
        receiver({.tensors = tolerating(s.tensors, s.tolerance),
                  .packet_bytes = s.packet_bytes,
                  .feedback_packets = s.config.feedback_packets}) {}

  void begin(std::uint32_t iteration, Time now) {
    const BurstIdentity burst{1, 2, iteration, BurstDirection::kPush};
    receiver.begin(burst);
    sender.begin(burst, now);
    for (std::uint32_t t = 0; t < setup.tensors.size(); ++t) sender.hand_over(t, now);
  }

  /// Runs until the sender knows that enough has arrived, or until `limit`. @return the end
  Time run(Time now, Time limit) {
    while (now < limit && !sender.complete() && !sender.gave_up()) {
      pump(now);
      Time next =
          std::min(wire_.empty() ? kNever : wire_.begin()->first.first, sender.next_timer());
      if (sender.has_message()) next = std::min(next, free_at_);
      if (next == kNever || next > limit) return now;
      now = std::max(now, next);
      deliver(now);
      if (sender.next_timer() <= now) sender.on_timer(now);
    }
    return now;
  }

  Setup setup;
  tg::ControllerConfig control;
  tg::MltSender sender;
  tg::MltReceiver receiver;
  Rule rule = [](const mlt::Message&, bool) { return Fate{}; };
  std::vector<mlt::Message> log;  ///< all messages that left, in order
  std::uint64_t dropped = 0;
  Time delivered_at{};  ///< when the burst was complete at the receiver

 private:
  static std::vector<tg::MltTensor> tolerating(std::vector<tg::MltTensor> tensors,
                                               double tolerance) {
    for (auto& t : tensors) t.tolerance = tolerance;
    return tensors;
  }
  void pump(Time now) {
    while (sender.has_message() && free_at_ <= now) {
      const auto out = sender.next_message(now);
      free_at_ = now + (out.message.kind == mlt::Kind::kData ? setup.packet_time : Duration{});
      put(out.message, true, std::max(free_at_, now));
    }
    while (receiver.has_answer()) put(receiver.next_answer(), false, now);
  }
  void put(const mlt::Message& m, bool from_sender, Time at) {
    log.push_back(m);
    const Fate fate = rule(m, from_sender);
    if (fate.drop) {
      ++dropped;
      return;
    }
    wire_[{at + setup.delay + fate.later, next_++}] = {m, from_sender, fate.ce};
  }
  void deliver(Time now) {
    while (!wire_.empty() && wire_.begin()->first.first <= now) {
      const OnWire w = wire_.begin()->second;
      wire_.erase(wire_.begin());
      if (!w.from_sender) {
        (void)sender.on_message(w.message, now);
      } else if (receiver.on_message(w.message, w.ce).complete) {
        delivered_at = now;
      }
    }
  }

  struct OnWire {
    mlt::Message message;
    bool from_sender = false;
    bool ce = false;
  };
  std::map<std::pair<Time, std::uint64_t>, OnWire> wire_;
  std::uint64_t next_ = 0;
  Time free_at_{};
};

}  // namespace outrider
