#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "trafficgen/roce/control/rate_controller.h"
#include "trafficgen/roce/requester.h"
#include "trafficgen/roce/responder.h"

namespace outrider {

inline constexpr std::uint32_t kMtu = 1024;
inline constexpr std::uint32_t kNearWrap = roce::kPsnMask - 2;

/// Both sides on a wire without delay. A rule decides which packets of the requester are lost.
struct Ends {
  explicit Ends(const tg::RoceConfig& c = {}, double bps = 1e12)
      : config(c),
        requester(config, {.path_mtu = kMtu, .peer_queue_pair = 7, .first_psn = kNearWrap},
                  std::make_unique<tg::FixedRate>(bps), sent),
        responder(
            config,
            {.path_mtu = kMtu, .own_queue_pair = 7, .peer_queue_pair = 8, .first_psn = kNearWrap},
            taken) {}

  /// Sends all that may leave now, and its answers back.
  void exchange() {
    for (bool moved = true; moved;) {
      moved = false;
      while (requester.has_packet(now)) {
        moved = true;
        const roce::Message m = requester.next_packet(now);
        log.push_back(m);
        if (!lose(log.size() - 1)) (void)responder.on_data(m, ce, now);
      }
      while (responder.has_answer()) {
        moved = true;
        const roce::Message m = responder.next_answer();
        answers.push_back(m);
        if (m.opcode == roce::Opcode::kCnp) {
          requester.control().on_cnp(now);
        } else if (!lose_answers) {
          EXPECT_TRUE(requester.on_acknowledge(m, now));
        }
      }
    }
  }
  void run_for(Duration time) {
    const Time end = now + time;
    for (exchange(); requester.next_timer() <= end; exchange()) {
      now = std::max(now, requester.next_timer());
      requester.on_timer(now);
    }
    now = end;
  }
  [[nodiscard]] std::size_t count(std::uint8_t syndrome) const {
    std::size_t n = 0;
    for (const auto& a : answers)
      n += a.opcode == roce::Opcode::kAcknowledge && a.syndrome == syndrome;
    return n;
  }

  tg::RoceConfig config;
  tg::RoceCounters sent, taken;
  tg::Requester requester;
  tg::Responder responder;
  Time now = Time{} + std::chrono::seconds(1);
  bool ce = false;
  bool lose_answers = false;
  std::function<bool(std::size_t)> lose = [](std::size_t) { return false; };
  std::vector<roce::Message> log, answers;
};

}  // namespace outrider
