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

std::string of_case(const Case& today, const Case& c, const RemedyNature& nature,
                    std::uint32_t frame_bytes) {
  const sw::SwitchPortConfig& port = *find_port(c);
  std::string text = settings_elsewhere(*find_port(today), port, nature, frame_bytes) +
                     settings_of_hosts(port, nature, c.traffic.jobs.front().announce.lead);
  const auto *now = roce_of(today), *then = roce_of(c);
  if (now != nullptr && then != nullptr) text += settings_of_nics(*now, *then);
  return text;
}

/// Removes what an earlier advice wrote for SONiC.
void remove_sonic_files(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("sonic") && name.ends_with(".json")) fs::remove(entry.path(), ignored);
  }
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
  const Case& today = case_of(cases, "off");
  std::string text = of_case(today, case_of(cases, chosen.label), chosen.nature, frame_bytes);
  remove_sonic_files(directory);
  if (!advised.traits.roce) return text;
  const Remedy elsewhere = best_elsewhere(advice);
  const Case& c = case_of(cases, elsewhere.label);
  if (roce_of(c) == nullptr) return text;
  if (elsewhere.label != chosen.label)
    text += "\nThe best that another maker's switch can do, " + elsewhere.label + ":\n" +
            of_case(today, c, elsewhere.nature, frame_bytes);
  const SonicConfig sonic = sonic_config(today, c, frame_bytes);
  for (const SonicFile& file : sonic.files) write_whole_file(directory / file.name, file.json);
  return text + '\n' + sonic.text;
}

}  // namespace outrider::lab
