#include "tools/lab/experiment/case.h"

namespace outrider::lab {

const sw::SwitchPortConfig* find_port(const Case& definition) {
  for (const auto& sw : definition.switches.switches)
    for (const auto& port : sw.ports)
      if (definition.measured_queue == kWorstQueue ||
          sw.name + '.' + port.name == definition.measured_queue)
        return &port;
  return nullptr;
}

}  // namespace outrider::lab
