#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/core/ecn.h"
#include "common/core/flow_key.h"

namespace outrider::tg {

/// A UDP datagram on its way out: its first bytes, and how many zeros follow them.
struct OutgoingDatagram {
  static constexpr std::uint32_t kMaxHeadBytes = 52;
  std::array<std::uint8_t, kMaxHeadBytes> head{};
  std::uint32_t head_bytes = 0;   ///< of `head` that are used
  std::uint32_t value_bytes = 0;  ///< zeros behind them
  std::uint8_t tos = 0;           ///< the whole byte
};

/// One that arrived, its addresses and checksum found sound.
struct ReceivedDatagram {
  FlowKey flow;                           ///< as the sender wrote it
  std::span<const std::uint8_t> present;  ///< what the buffer holds of the payload
  std::uint32_t payload_bytes = 0;        ///< of the datagram, >= present.size()
  Ecn ecn = Ecn::kNotEct;
};

/// One end of a flow of datagrams, as a host drives it: the counterpart of TcpConnection.
/// It decides; the host asks has_datagram() / next_datagram() when its NIC is free, hands in
/// what arrives, and calls on_timer() when next_timer() is reached. `now` never decreases.
class DatagramEndpoint {
 public:
  [[nodiscard]] virtual bool has_datagram(Time now) const noexcept = 0;
  /// @pre has_datagram(now). Takes note that it leaves now.
  virtual void next_datagram(OutgoingDatagram& out, Time now) noexcept = 0;
  /// @return why it is dropped, nothing if it was taken
  virtual std::optional<DropReason> on_datagram(const ReceivedDatagram& datagram,
                                                Time now) noexcept = 0;
  [[nodiscard]] virtual Time next_timer() const noexcept = 0;
  virtual void on_timer(Time now) noexcept = 0;
  /// As this end sends: source is us.
  [[nodiscard]] virtual const FlowKey& flow() const noexcept = 0;

 protected:
  ~DatagramEndpoint() = default;
};

}  // namespace outrider::tg
