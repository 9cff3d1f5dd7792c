#pragma once

#include <string>
#include <vector>

#include "trafficgen/hosts/host.h"

namespace outrider::tg {

[[nodiscard]] inline std::vector<std::string> names_of(const std::vector<Host*>& hosts) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const Host* host : hosts) names.push_back(host->setup().name);
  return names;
}

}  // namespace outrider::tg
