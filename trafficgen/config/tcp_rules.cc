// Rules that join settings of a [[transport]] over TCP.
#include <cstdint>
#include <string>

#include "common/config/checks.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMaxReceiveBufferBytes = 65535ULL << 14;  ///< RFC 7323, 2.3

}  // namespace

void check(const Checks& at, const TcpConfig& tcp) {
  check(at, tcp.control);
  const ControllerRow& controller = row_of(tcp.control.controller);
  at.require(tcp.ecn || !controller.accurate_ecn_echo, "ecn", "false",
             "controller \"" + std::string(controller.name) + "\" needs it");
  at.require(!tcp.mltcp || controller.mltcp, "mltcp", "true",
             "controller \"" + std::string(controller.name) +
                 "\" has no growth that MLTCP scales: choose \"reno\" or \"cubic\"");
  at.in_range("receive_buffer_bytes", tcp.receive_buffer_bytes, tcp.mss_bytes,
              kMaxReceiveBufferBytes, "bytes");
  if (tcp.min_rto > Duration::zero())
    at.require(tcp.delayed_ack < tcp.min_rto, "delayed_ack", format_duration(tcp.delayed_ack),
               "must be shorter than min_rto, " + format_duration(tcp.min_rto) +
                   ": a lone last segment would time out before its ACK");
  at.require(tcp.initial_rto >= tcp.min_rto, "initial_rto", format_duration(tcp.initial_rto),
             "must not be shorter than min_rto, " + format_duration(tcp.min_rto));
  at.require(tcp.sack || tcp.loss_detection != LossDetection::kRackTlp, "sack", "false",
             "loss_detection \"rack_tlp\" needs it; set \"rfc6675\"");
  at.require(tcp.max_rto >= tcp.initial_rto, "max_rto", format_duration(tcp.max_rto),
             "must not be shorter than initial_rto, " + format_duration(tcp.initial_rto));
}

}  // namespace outrider::tg
