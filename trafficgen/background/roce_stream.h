#pragma once

#include <cstdint>
#include <optional>

#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/roce_counters.h"
#include "trafficgen/roce/queue_pair.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

struct QueuePairEnds;

/// Sends data from one host to another over one connection of RoCEv2, again and again: a queue pair
/// at each host, which are made before the run and used anew for each send(). The sender's rate is
/// that of the queue pair, so it goes on from the last send(). Data leave as WRITEs of 256 MiB at
/// most, without immediate. Not thread-safe; nothing allocates after construction.
class RoceStream final {
 public:
  class Client {
   public:
    virtual void on_delivered(RoceStream& stream, std::uint64_t fresh_bytes, Time now) noexcept = 0;
    /// All that was handed over has been acknowledged.
    virtual void on_idle(RoceStream& stream, Time now) noexcept = 0;
    /// The queue pair gave up. Only restart() makes it send again.
    virtual void on_failed(RoceStream& stream, Time now) noexcept = 0;

   protected:
    ~Client() = default;
  };
  struct Setup {
    Host* from = nullptr;
    Host* to = nullptr;
    std::optional<std::uint8_t> priority{};  ///< whose pause frames stop both ends
    std::uint64_t seed = 1;
  };
  /// @param roce,client must outlive the stream
  RoceStream(const RoceConfig& roce, const Setup& setup, Client& client);
  RoceStream(const RoceStream&) = delete;
  RoceStream& operator=(const RoceStream&) = delete;

  /// @param bytes > 0. @pre all before has been acknowledged or abandoned
  void send(std::uint64_t bytes, Time now) noexcept;
  /// Abandons what has not been acknowledged, at both ends.
  void restart() noexcept;

  /// Returns when the first packet of the last send() left the NIC's queue.
  [[nodiscard]] std::optional<Time> first_sent_at() const noexcept {
    return sender_.pair.requester().first_sent_at();
  }
  /// Returns the counts of both ends.
  [[nodiscard]] RoceCounters counters() const noexcept;
  [[nodiscard]] const RoceCounters& sender_counters() const noexcept {
    return sender_.pair.counters();
  }

 private:
  struct End final : QueuePairListener {
    End(RoceStream& s, const RoceConfig& roce, const QueuePair::Setup& setup)
        : stream(s), pair(roce, setup, *this) {}
    void on_received(QueuePair& by, Time now) noexcept override { stream.received(by, now); }
    void on_acknowledged(QueuePair&, Time now) noexcept override { stream.acknowledged(now); }
    void on_gave_up(QueuePair&, Time now) noexcept override {
      stream.client_.on_failed(stream, now);
    }
    RoceStream& stream;
    QueuePair pair;
  };
  RoceStream(const RoceConfig& roce, const Setup& setup, Client& client, const QueuePairEnds& ends);

  void hand_over(Time now) noexcept;
  void received(QueuePair& by, Time now) noexcept;
  void acknowledged(Time now) noexcept;

  Client& client_;
  Host& from_;
  End sender_;
  End receiver_;
  std::uint64_t left_bytes_ = 0;  ///< not yet given to the queue pair
  std::uint64_t delivered_bytes_ = 0;
};

}  // namespace outrider::tg
