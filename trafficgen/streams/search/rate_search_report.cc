#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/telemetry/json_fields.h"
#include "trafficgen/streams/search/rate_search_loop.h"

namespace outrider::tg {
namespace {

constexpr int kRateSearchSchema = 1;

const char* name_of(RateLimit limit) {
  switch (limit) {
    case RateLimit::kPath:
      return "path";
    case RateLimit::kGenerator:
      return "generator";
    case RateLimit::kMaximum:
      return "maximum";
    case RateLimit::kUnfound:
      break;
  }
  return "not_found";
}

/// Returns the last trial that passed at the found rate; nullptr if none did.
const RateTrial* found_trial(const RateSearch& search) {
  const RateTrial* found = nullptr;
  for (const auto& t : search.trials())
    if (t.share == search.found() && search.passes(t)) found = &t;
  return found;
}

Json to_json_trial(const RateSearch& search, const RateTrial& t) {
  return {{"share", t.share},
          {"requested_packets_per_second", t.requested_packets_per_second},
          {"achieved_packets_per_second", t.achieved_packets_per_second},
          {"sent", t.sent},
          {"lost", t.lost},
          {"loss", t.loss()},
          {"passed", search.passes(t)}};
}

}  // namespace

std::string to_json(const RateSearch& search, const RateSearchOptions& options,
                    const GeneratorConfig& config, bool finished) {
  Json out{{"kind", "rate_search"},
           {"schema_version", kRateSearchSchema},
           {"max_loss", options.search.max_loss},
           {"width", options.search.width},
           {"repeats", options.search.repeats},
           {"min_achieved", options.search.min_achieved},
           {"trial_ns", options.trial.count()},
           {"warm_up_ns", options.warm_up.count()},
           {"drain_ns", config.stream_drain.count()},
           {"finished", finished},
           {"found_share", search.found()},
           {"limited_by", name_of(search.limit())}};
  if (const RateTrial* found = found_trial(search)) out["found"] = to_json_trial(search, *found);
  out["trials"] = Json::array();
  for (const auto& t : search.trials()) out["trials"].push_back(to_json_trial(search, t));
  out["streams"] = Json::array();
  for (const auto& s : config.streams)
    out["streams"].push_back(
        {{"name", s.name},
         {"maximum_rate", format_stream_rate(*s.rate)},
         {"found_rate", search.found() == 0
                            ? Json()
                            : Json(format_stream_rate(
                                  *trial_streams({s}, search.found(), 0, options.trial)[0].rate))},
         {"layer", s.layer == RateLayer::kL1 ? "l1" : "l2"}});
  return out.dump() + "\n";
}

std::string to_json(const std::vector<SizedSearch>& sizes, const RateSearchOptions& options,
                    const GeneratorConfig& config) {
  Json out{{"kind", "rate_search_sizes"}, {"schema_version", kRateSearchSchema}};
  out["sizes"] = Json::array();
  for (const SizedSearch& one : sizes) {
    Json search = Json::parse(to_json(one.search, options, config, one.finished));
    search.erase("kind");
    search.erase("schema_version");
    Json sized{{"frame_bytes", one.frame_bytes}};
    sized.update(search);
    out["sizes"].push_back(std::move(sized));
  }
  return out.dump() + "\n";
}

std::string to_text(const std::vector<SizedSearch>& sizes) {
  std::string text =
      "\nframe bytes        Mpps  Gbit/s (L1)  of the rates       lost  limited by\n";
  for (const auto& [bytes, search, finished] : sizes) {
    const RateTrial* found = found_trial(search);
    if (found == nullptr) {
      text += "    " + std::to_string(bytes) + " bytes: no rate passed" +
              (finished ? "\n" : ", interrupted\n");
      continue;
    }
    const double pps = found->achieved_packets_per_second;
    char line[160];
    std::snprintf(line, sizeof line, "%11u  %10.4f  %11.3f  %10.2f %%  %7.4f %%  %s%s\n", bytes,
                  pps / 1e6, pps * 8 * (bytes + kL1OverFcsBytes) / 1e9, 100 * search.found(),
                  100 * found->loss(), name_of(search.limit()), finished ? "" : " (interrupted)");
    text += line;
  }
  return text;
}

std::string to_text(const RateSearch& search, const RateSearchOptions& options, bool finished) {
  const RateTrial* found = found_trial(search);
  std::string text = finished ? "" : "interrupted; so far: ";
  if (found == nullptr) return text + "no rate passed\n";
  text += std::to_string(search.found() * 100) + " % of the configured rates, " +
          std::to_string(found->achieved_packets_per_second / 1e6) + " Mpps, with at most " +
          std::to_string(options.search.max_loss * 100) + " % lost (" +
          std::to_string(found->lost) + " of " + std::to_string(found->sent) + "); limited by " +
          name_of(search.limit());
  return text + "\n";
}

}  // namespace outrider::tg
