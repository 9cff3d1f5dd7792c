#include "common/dpdk/attach_remedy.h"

namespace outrider {

std::string attach_remedy(std::string_view said) {
  // The driver keeps the errno of its socket, which was opened before it looked for the interface.
  if (said.find("SIOCGIFINDEX") != said.npos && said.find("No such device") != said.npos)
    return " No network interface of this name is in this network namespace; `ip link` lists them.";
  // net_af_packet makes the number of its fanout group of process id XOR index of the interface,
  // and has no option for it. The kernel refuses a number that a group of another interface has.
  const bool fanout =
      said.find("PACKET_FANOUT") != said.npos && said.find("Invalid argument") != said.npos;
  if (!fanout) return {};
  return " Another program's net_af_packet device has the same number of its fanout group, which "
         "is "
         "made of process id and interface. Start this program again: it then has another process "
         "id.";
}

}  // namespace outrider
