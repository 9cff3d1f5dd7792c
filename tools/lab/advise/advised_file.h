#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::lab {

/// The freedom to change the switches.
enum class SwitchFreedom : std::uint8_t {
  kNothing,
  kSettings,  ///< their thresholds, queues and pauses, whoever made them
  kOutrider,  ///< outrider-switch may take their place
};

/// [change]: what a remedy may need.
struct AdviceChange {
  SwitchFreedom switches = SwitchFreedom::kOutrider;
  bool second_queue = true;  ///< ports have another queue, for the job or for storage
  bool pauses = true;        ///< priority flow control may be switched on or off
  bool hosts = true;         ///< workers may announce their bursts
  bool nics = true;          ///< rate control of RoCEv2 may have other settings
  bool policy = true;        ///< the framework may send in another order
};

/// [goal]: what a remedy may cost, and what it has to bring.
struct AdviceGoal {
  double background_lost = 0.1;  ///< bytes of background for each byte of bursts
  double short_flows = 1.1;      ///< p99 of short flows over today's
  double gain = 0.05;            ///< share of the time; less is not worth a change
};

void describe(Settings& v, AdviceChange& c);
void describe(Settings& v, AdviceGoal& c);

/// Properties of the experiment as it is today.
struct AdvisedTraits {
  bool roce = false;          ///< bursts are over RoCEv2
  bool several_jobs = false;  ///< a remedy is judged by the mean of their times
  bool closed_loop = false;   ///< all jobs compute between their bursts
  bool has_order = false;     ///< the job sends gradients that another order may move
  bool by_rate = false;       ///< one link, whose switches and hosts follow from network.rate
  BitRate rate{};             ///< of the slowest port
  Duration rtt{};
  std::uint32_t frame_bytes = 0;     ///< of a full data packet of the bursts
  std::uint64_t headroom_bytes = 0;  ///< that the link needs which brings most, and two frames
  std::size_t ports = 0;             ///< of the switch that has most
};

/// What `outrider-lab advise` reads: an experiment without arms, and two tables more.
struct AdvisedFile {
  /// With its base, absolute paths, what is assumed, and the arms `off` and those of the file.
  /// [parameters] is nested.
  ConfigTable experiment;
  AdviceGoal goal{};
  AdviceChange change{};
  std::vector<std::string> change_by_default{};  ///< keys of [change] that the file leaves out
  AdvisedTraits traits{};
  std::vector<std::string> assumed{};  ///< "warm_up_seconds = 0.03": what the file does not say
};

/// Reads a file. @return what it says, or every fault by its key
ConfigResult<AdvisedFile> load_advised(const std::string& path);

/// Does the same for a table. @param from  where relative paths start
ConfigResult<AdvisedFile> advised_from(const ConfigTable& file, const std::filesystem::path& from);

/// Returns what follows from an experiment whose [parameters] are nested, or its faults.
ConfigResult<AdvisedTraits> traits_of(const ConfigTable& experiment);

/// Replaces the quantities which an experiment does not have by those that it has: sizes and times
/// at the slowest port's rate of thresholds in packets ("150kB", "40us"), and multiples of
/// `headroom` and `rate` ("2headroom", "0.001rate").
void resolve_quantities(ConfigTable& parameters, const AdvisedTraits& traits);

/// Has an arm on whose bursts no switch acts announce none, as all such arms are then alike.
/// @param experiment  with nested parameters  @param arm  with nested keys
void announce_if_heard(const ConfigTable& experiment, ConfigTable& arm);

/// Raises the limit of queues where they are lossless to what the ports of a switch may bring.
/// @param of_case  the parameters of a case, nested  @param out  gets the limit
void make_room(const ConfigTable& of_case, const AdvisedTraits& traits, ConfigTable& out);

/// Calls `f` for [parameters] and each [[job]] of an experiment.
template <class F>
void for_each_of_jobs(ConfigTable& experiment, F f) {
  if (auto* common = experiment["parameters"].as<ConfigTable>()) {
    if (common->get("job") == nullptr) (*common)["job"] = ConfigValue(ConfigTable{});
    if (auto* own = (*common)["job"].as<ConfigTable>()) f(*own);
  }
  if (experiment.get("job") == nullptr) return;
  auto* jobs = experiment["job"].as<ConfigValue::Array>();
  for (std::size_t i = 0; jobs != nullptr && i < jobs->size(); ++i)
    if (auto* job = (*jobs)[i].as<ConfigTable>()) f(*job);
}

}  // namespace outrider::lab
