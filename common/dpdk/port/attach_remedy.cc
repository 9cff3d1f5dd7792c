#include "common/dpdk/port/attach_remedy.h"

#include <rte_build_config.h>

namespace outrider {

std::string attach_remedy(std::string_view said) {
  const auto has = [said](std::string_view part) { return said.find(part) != said.npos; };
  if (has("failed to parse device"))
    return " DPDK has no driver of this name here. `ls " RTE_EAL_PMD_PATH
           "` lists those that are installed, as librte_net_NAME; on Debian `apt install "
           "librte-meta-net` adds the others.";
  // net_af_packet makes the number of its fanout group of process id XOR index of the interface,
  // and has no option for it. The kernel refuses a number that a group of another interface has.
  if (has("PACKET_FANOUT") && has("Invalid argument"))
    return " Another program's net_af_packet device has the same number of its fanout group, which "
           "is made of process id and interface. Start this program again: it then has another "
           "process id.";
  if (has("Operation not permitted") || has("Could not open AF_PACKET socket"))
    return " This user may not open it. Run as root (sudo).";
  return {};
}

}  // namespace outrider
