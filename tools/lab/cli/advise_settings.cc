#include "tools/lab/cli/advise_settings.h"

#include <algorithm>
#include <cstddef>
#include <system_error>

#include "common/telemetry/whole_file.h"
#include "tools/lab/advise/recommendation.h"
#include "tools/lab/advise/settings_elsewhere.h"
#include "tools/lab/advise/sonic_config.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSonicFile = "sonic.json";

const Case& case_of(const std::vector<Case>& cases, const std::string& label) {
  return *std::ranges::find(cases, label, &Case::label);
}

/// Returns the settings of the first job's RoCEv2; nullptr: it has none.
const tg::RoceConfig* roce_of(const Case& c) {
  const auto transport = std::ranges::find(c.traffic.transports, c.traffic.jobs.front().transport,
                                           &tg::TransportConfig::name);
  const bool any = transport != c.traffic.transports.end() &&
                   transport->protocol == tg::TransportProtocol::kRoce;
  return any ? &transport->roce : nullptr;
}

std::string of_case(const Case& c, const RemedyNature& nature, std::uint32_t frame_bytes) {
  const sw::SwitchPortConfig& port = *find_port(c);
  std::string text = settings_elsewhere(port, nature, frame_bytes) +
                     settings_of_hosts(port, nature, c.traffic.jobs.front().announce.lead);
  if (const auto* roce = roce_of(c)) text += settings_of_nics(*roce);
  return text;
}

/// Returns the advised remedy, or the best of those that need no outrider-switch.
Remedy best_elsewhere(const Advice& advice) {
  std::vector<Remedy> all = advice.remedies;
  std::erase_if(all, [](const Remedy& r) { return r.nature.outrider; });
  return all[recommend(all, advice.goal).chosen];
}

}  // namespace

std::string settings_text(const AdvisedFile& advised, const Advice& advice,
                          const std::vector<Case>& cases, const fs::path& directory) {
  const std::uint32_t frame_bytes = advised.traits.frame_bytes;
  const Remedy& chosen = advice.remedies[recommend(advice.remedies, advice.goal).chosen];
  std::string text = of_case(case_of(cases, chosen.label), chosen.nature, frame_bytes);
  std::error_code ignored;
  fs::remove(directory / kSonicFile, ignored);
  if (!advised.traits.roce) return text;
  const Remedy elsewhere = best_elsewhere(advice);
  const Case& c = case_of(cases, elsewhere.label);
  if (elsewhere.label != chosen.label)
    text += "\nThe best that another maker's switch can do, " + elsewhere.label + ":\n" +
            of_case(c, elsewhere.nature, frame_bytes);
  const std::string sonic = sonic_config(c, frame_bytes, c.switches.switches.front().ports.size());
  if (sonic.empty()) return text;
  write_whole_file(directory / kSonicFile, sonic);
  return text + "\nFor SONiC, as " + elsewhere.label + " has it; " + kSonicFile +
         " has all ports, to be merged into config_db.json\nwith your names for them. Nobody has "
         "tried it on a switch:\n" +
         sonic_config(c, frame_bytes, 1);
}

}  // namespace outrider::lab
