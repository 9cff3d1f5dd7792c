#pragma once

#include <cstdint>
#include <optional>

#include "common/core/burst_identity.h"
#include "trafficgen/core/mltcp.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/exchange/exchange_context.h"
#include "trafficgen/workload/exchange/tcp/tcp_incoming.h"

namespace outrider::tg {

/// The worker's end of a connection: opens it, sends pushes and receives pulls.
struct TcpNearEnd final : ConnectionListener {
  /// @param context must outlive the end
  TcpNearEnd(const ExchangeContext& context, std::uint32_t worker, std::uint32_t target);

  /// Chooses the flow of the next connection, unless it is chosen.
  void choose_flow() noexcept;
  void open(Time now) noexcept;
  /// @pre a connection is open
  void begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept;
  void end_iteration() noexcept;

  void on_established(TcpConnection&, Time) noexcept override {}
  void on_delivered(TcpConnection& c, Time now) noexcept override;
  void on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept override;
  void on_closed(TcpConnection& c, Time now) noexcept override;

  const ExchangeContext& context;
  Lane push;
  Host& host;
  std::uint32_t far_address;
  FlowKey flow{};  ///< of the connection, or of the next one
  TcpConnection* connection = nullptr;
  TcpIncoming pulls;
  std::uint32_t iteration = 0;          ///< of the worker
  std::optional<BurstIdentity> sent{};  ///< the last push
  BurstExtent extent{};                 ///< of it, with MLTCP

 private:
  void forget() noexcept;
  void note_counters() noexcept;
  void read_counters() noexcept;

  std::uint64_t rtos_ = 0;  ///< value at the last reading of the counters
  std::uint64_t retransmitted_ = 0;
};

/// The target's end: accepts the connection, receives pushes and sends pulls.
struct TcpFarEnd final : ConnectionListener {
  /// @param context must outlive the end
  TcpFarEnd(const ExchangeContext& context, std::uint32_t worker, std::uint32_t target);

  /// Returns how this end takes the worker's connection.
  [[nodiscard]] Acceptor::Offer offer() noexcept;
  void begin_pull(const BurstLedger& burst, Time now) noexcept;

  /// Takes over from the connection before. A SYN alone does not: anyone can send one.
  void on_established(TcpConnection& c, Time now) noexcept override;
  void on_delivered(TcpConnection& c, Time now) noexcept override;
  void on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept override;
  void on_closed(TcpConnection& c, Time now) noexcept override;

  const ExchangeContext& context;
  Lane pull;
  Host& host;
  TcpConnection* connection = nullptr;
  TcpIncoming pushes;
  BurstExtent extent{};  ///< of the last pull, with MLTCP
};

/// Returns true if each push has a connection of its own.
[[nodiscard]] inline bool connection_per_burst(const ExchangeSetup& setup) noexcept {
  return setup.tcp.reuse == ConnectionReuse::kNew;
}

}  // namespace outrider::tg
