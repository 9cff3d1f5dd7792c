#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/random.h"
#include "tests/support/adversary/simulation.h"

namespace outrider {

/// One packet, or one turn, of an act in a simulation.
class Attack {
 public:
  Attack(AdversarySimulation& simulation, const HarmfulAct& act, std::uint32_t number)
      : simulation_(simulation),
        act_(act),
        number_(number),
        random_(act.draw, number, RandomPurpose::kTest) {}
  void play();

  /// Says whether the act has a begin and an end instead of packets.
  [[nodiscard]] static bool lasts(const HarmfulAct& act);
  [[nodiscard]] static std::uint32_t packets(const HarmfulAct& act);
  [[nodiscard]] static std::uint32_t gap_us(const HarmfulAct& act);

 private:
  struct Start {
    FlowKey flow;
    std::uint32_t sequence = 0;
  };
  void play_signal();
  void play_luck();
  void forge();
  void replay();
  void spoof();
  void inject();
  void cheat();
  void clump();
  void send_start(const Start& start);
  [[nodiscard]] udp_signal::Signal message_of(const Start& start, std::uint16_t threshold);
  void send_message(const FlowKey& flow, const udp_signal::Signal& message);
  void send_tagged(const Start& start, const SignalKey& key);
  void alter(std::vector<std::uint8_t>& frame);
  void use_name_of(std::uint32_t address);
  [[nodiscard]] std::uint32_t below(std::uint32_t limit) { return random_.next_u32() % limit; }
  [[nodiscard]] std::uint16_t any_port() {
    return static_cast<std::uint16_t>(1024 + below(60'000));
  }
  [[nodiscard]] std::uint32_t rotated() const;
  [[nodiscard]] bool aim(FrameSpec& spec, const WindowOracle::Flow& flow, bool to_sender);

  AdversarySimulation& simulation_;
  const HarmfulAct& act_;
  std::uint32_t number_;
  RandomStream random_;
};

}  // namespace outrider
