#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/quantities.h"
#include "common/core/clock.h"
#include "trafficgen/config/config.h"
#include "trafficgen/streams/search/rate_search.h"
#include "trafficgen/streams/search/trials.h"

namespace outrider::tg {

struct RateSearchOptions {
  RateSearch::Config search{};
  Duration trial = std::chrono::seconds(1);
  Duration warm_up = std::chrono::milliseconds(200);  ///< once, at half the rates; not evaluated
};

/// Returns the streams of trial `number` at a share of their rates, for `duration` from its start.
/// Their ids are unique to the trial, so that packets still in flight from the previous trial count
/// as unknown and not as received. Pure.
std::vector<StreamConfig> trial_streams(std::vector<StreamConfig> streams, double share,
                                        std::uint32_t number, Duration duration);

/// Summarises a trial's report.
RateTrial trial_of(const StreamsReport& report, double share);

/// Is told a line about each trial.
using TrialProgress = std::function<void(const std::string&)>;

/// Searches until the search is over or a trial is interrupted. @return true if it was completed
/// @param number  of the next trial, see trial_streams(); it is moved on
/// @pre every stream is sent and received by this process
bool run_rate_search(RateSearch& search, const RateSearchOptions& options,
                     const GeneratorConfig& config, Trials& trials, std::uint32_t& number,
                     const TrialProgress& say);

/// A search with frames of one size.
struct SizedSearch {
  std::uint32_t frame_bytes = 0;  ///< FCS included
  RateSearch search;
  bool finished = false;
};

/// Parses "64,512,1518", or "rfc2544": the sizes of RFC 2544, section 9.1, for Ethernet.
Parsed<std::vector<std::uint32_t>> parse_frame_sizes(std::string_view text);

/// Returns the configuration with frames of one size in all streams, whatever sizes it has.
GeneratorConfig with_frame_bytes(GeneratorConfig config, std::uint32_t frame_bytes);

/// Returns one JSON object: criterion, settings, trials, the found rate and what limits it.
std::string to_json(const RateSearch& search, const RateSearchOptions& options,
                    const GeneratorConfig& config, bool finished);
/// Returns one JSON object with those of all sizes.
std::string to_json(const std::vector<SizedSearch>& sizes, const RateSearchOptions& options,
                    const GeneratorConfig& config);
/// Returns a table for the user, a line a size.
std::string to_text(const std::vector<SizedSearch>& sizes);

/// Returns the line for the user.
std::string to_text(const RateSearch& search, const RateSearchOptions& options, bool finished);

}  // namespace outrider::tg
