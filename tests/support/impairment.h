#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/random.h"
#include "common/dpdk/packet/packet.h"
#include "common/net/headers.h"
#include "common/net/tos_signal.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/node.h"

namespace outrider {

/// The fields of a passing packet that a rule gets.
struct SeenPacket {
  std::uint64_t number = 0;  ///< number of the packet in this direction, from 0
  Time at{};
  FlowKey flow;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint16_t payload_bytes = 0;
  std::uint8_t tcp_flags = 0;
  std::uint8_t tos = 0;
  std::uint8_t ttl = 0;
  bool checksum_valid = false;  ///< of the IPv4 header

  [[nodiscard]] bool is(tos_signal::Kind kind) const {
    const auto signal = tos_signal::decode(tos);
    return payload_bytes == 0 && signal && signal->kind == kind;
  }
  [[nodiscard]] bool is_start() const { return is(tos_signal::Kind::kStart); }
  [[nodiscard]] bool is_start_ack() const { return is(tos_signal::Kind::kAck); }
};

/// Decides the fate of a packet. By default it passes.
struct Fate {
  bool drop = false;
  bool set_ce = false;                     ///< set CE if the packet is ECT (RFC 3168)
  std::uint32_t copies = 0;                ///< copies sent after the original
  Duration delay{};                        ///< of the original; later packets overtake it
  Duration copies_delay{};                 ///< of the copies
  std::optional<std::uint8_t> tos{};       ///< new TOS byte; the checksum is updated
  std::optional<std::uint8_t> syndrome{};  ///< of an acknowledgment of RoCEv2 that passes
  bool forget_headers = false;             ///< receivers must read the bytes, see known_headers.h
};

/// A piece of wire that drops, copies, changes and delays packets by a rule. Without a rule it
/// has no effect.
/// Identity: received + copied == passed + dropped + held. Not thread-safe.
class Impairment final : public Node, public EventSource {
 public:
  using Rule = std::function<Fate(const SeenPacket&)>;
  using Sink = std::function<void(Packet*, Time)>;

  /// @param pool  for copies. @param sink  takes ownership of packets that pass
  Impairment(EventLoop& loop, rte_mempool& pool, Sink sink)
      : loop_(loop), id_(loop.add(*this)), pool_(pool), sink_(std::move(sink)) {}
  Impairment(const Impairment&) = delete;
  Impairment& operator=(const Impairment&) = delete;
  ~Impairment() { flush(); }

  void set_rule(Rule rule) { rule_ = std::move(rule); }

  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;
  Time fire(Time now) noexcept override;
  void flush() noexcept;

  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::uint64_t copied() const noexcept { return copied_; }
  [[nodiscard]] std::uint64_t delayed() const noexcept { return delayed_; }
  [[nodiscard]] std::uint64_t held() const noexcept { return held_.size(); }

 private:
  void pass(Packet* packet, Duration delay, Time now);
  [[nodiscard]] Packet* copy_of(const Packet& packet) noexcept;

  EventLoop& loop_;
  SourceId id_;
  rte_mempool& pool_;
  Sink sink_;
  Rule rule_;
  std::map<std::pair<Time, std::uint64_t>, Packet*> held_;
  std::uint64_t next_order_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t copied_ = 0;
  std::uint64_t delayed_ = 0;
};

/// The probabilities of random_rule(), drawn independently for each packet.
struct RandomImpairment {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;                            ///< share of packets that are delayed
  Duration late = std::chrono::milliseconds(1);  ///< largest delay; uniformly distributed
  double ce = 0;
};

/// Returns a rule that draws each packet's fate. @param entity  distinguishes wires of one run
Impairment::Rule random_rule(const RandomImpairment& rates, std::uint64_t seed,
                             std::uint32_t entity);

}  // namespace outrider
