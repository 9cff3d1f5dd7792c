#include "trafficgen/background/transfer_report.h"

#include <algorithm>
#include <array>
#include <ostream>

namespace outrider::tg {

const char* name_of(TransferOutcome outcome) noexcept {
  constexpr std::array kNames{"waiting",
                              "running",
                              "completed",
                              "refused",
                              "reset",
                              "wrong_length",
                              "timed_out",
                              "receiver_not_ready",
                              "invalid_request",
                              "remote_access_error",
                              "remote_operational_error"};
  static_assert(kNames.size() ==
                std::size_t{1} + static_cast<std::size_t>(TransferOutcome::kRemoteOperation));
  return kNames.at(static_cast<std::size_t>(outcome));
}

bool all_completed(const std::vector<TransferReport>& transfers) {
  return std::ranges::all_of(
      transfers, [](const auto& t) { return t.outcome == name_of(TransferOutcome::kCompleted); });
}

void print_transfers(std::ostream& out, const std::vector<TransferReport>& transfers,
                     const PayloadReport& payload) {
  for (const auto& t : transfers) {
    out << "  transfer " << t.name << ' ' << t.index << ": " << t.outcome << ", " << t.delivered
        << " of " << t.bytes << " bytes";
    if (t.established_ns >= 0 && t.ended_ns > t.opened_ns) {
      const auto took_ns = static_cast<double>(t.ended_ns - t.opened_ns);
      out << " in " << took_ns / 1e6 << " ms, " << static_cast<double>(t.delivered) * 8e3 / took_ns
          << " Mbit/s";
    }
    out << "; retransmitted " << t.retransmitted << ", time-outs " << t.rtos_data << '\n';
  }
  if (payload.verified_bytes != 0)
    out << "  payload: " << payload.verified_bytes << " bytes compared with the pattern, "
        << payload.mismatched_bytes << " WRONG in " << payload.mismatched_segments << " segments\n";
}

}  // namespace outrider::tg
