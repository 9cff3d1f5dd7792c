#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "trafficgen/hosts/payload_report.h"

namespace outrider::tg {

enum class TransferOutcome : std::uint8_t {
  kWaiting,      ///< no connection, or no byte over RoCEv2, yet
  kRunning,      ///< cut off by the end of the run
  kCompleted,    ///< all bytes arrived; over TCP both directions are closed
  kRefused,      ///< RST instead of a handshake
  kReset,        ///< RST later, or the transport gave up
  kWrongLength,  ///< the sender's stream had other than `bytes`
  kTimedOut,     ///< no progress for the transfer's `timeout`
  // Over RoCEv2, what the peer's NAK has said:
  kNotReady,         ///< it had no buffer, `rnr_retry` times or for the `timeout`
  kInvalidRequest,   ///< these three end a connection at once
  kRemoteAccess,     ///< a wrong key, address or length
  kRemoteOperation,  ///< it failed
};
[[nodiscard]] const char* name_of(TransferOutcome outcome) noexcept;

/// The end of one transfer. `outcome` is the name of a TransferOutcome.
struct TransferReport {
  std::string name;
  std::uint32_t index = 0;  ///< position within the transfer's `count`
  std::string outcome;
  std::uint64_t bytes = 0;      ///< asked for
  std::uint64_t delivered = 0;  ///< in order at our receiver, else acknowledged to our sender
  std::int64_t opened_ns = -1;  ///< SYN handed to the NIC, or received
  std::int64_t established_ns = -1;
  std::int64_t ended_ns = -1;  ///< both directions closed, or given up
  // Counters of the sender if it is in this process, else of the receiver:
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos_data = 0;
  std::uint64_t rtos_handshake = 0;
  std::uint64_t fast_recoveries = 0;
  std::uint64_t ece_reductions = 0;
  std::uint64_t cnps_received = 0;
  // Counters of the receiver if it is in this process, else of the sender:
  std::uint64_t ce_received = 0;
  std::uint64_t out_of_order_received = 0;
  std::uint64_t duplicates_received = 0;
};

/// Returns true if all transfers are completed.
bool all_completed(const std::vector<TransferReport>& transfers);

/// Prints a line for each transfer and one for the payload.
void print_transfers(std::ostream& out, const std::vector<TransferReport>& transfers,
                     const PayloadReport& payload);

// Bindings, see common/telemetry/json_fields.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, TransferReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  v.value("index", r.index);
  v.value("outcome", r.outcome);
  v.value("bytes", r.bytes);
  v.value("delivered", r.delivered);
  v.value("opened_ns", r.opened_ns);
  v.value("established_ns", r.established_ns);
  v.value("ended_ns", r.ended_ns);
  v.value("retransmitted", r.retransmitted);
  v.value("rtos_data", r.rtos_data);
  v.value("rtos_handshake", r.rtos_handshake);
  v.value("fast_recoveries", r.fast_recoveries);
  v.value("ece_reductions", r.ece_reductions);
  v.value("cnps_received", r.cnps_received);
  v.value("ce_received", r.ce_received);
  v.value("out_of_order_received", r.out_of_order_received);
  v.value("duplicates_received", r.duplicates_received);
}

}  // namespace outrider::tg
