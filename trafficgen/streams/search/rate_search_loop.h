#pragma once

#include <string>

#include "common/core/clock.h"
#include "trafficgen/config/config.h"
#include "trafficgen/streams/run/stream_process.h"
#include "trafficgen/streams/search/rate_search.h"

namespace outrider::tg {

struct RateSearchOptions {
  RateSearch::Config search{};
  Duration trial = std::chrono::seconds(1);
  Duration warm_up = std::chrono::milliseconds(200);  ///< once, at half the rates; not judged
};

/// The streams of trial `number` at a share of their rates: for `duration` from
/// its start, with ids of its own, so that what is still under way from the trial
/// before counts as unknown and not as received. Pure.
std::vector<StreamConfig> trial_streams(std::vector<StreamConfig> streams, double share,
                                        std::uint32_t number, Duration duration);

/// Sums up a trial's report.
RateTrial trial_of(const StreamsReport& report, double share);

/// Searches on real devices, a line to stdout a trial, until the search is over or
/// a signal comes. @return whether it came to its end
/// @pre every stream is sent and received here
bool run_rate_search(RateSearch& search, const RateSearchOptions& options,
                     const GeneratorConfig& config, StreamProcess& process);

/// One object: criterion, settings, trials, what was found and what limits it.
std::string to_json(const RateSearch& search, const RateSearchOptions& options,
                    const GeneratorConfig& config, bool finished);
/// The line for the user.
std::string to_text(const RateSearch& search, const RateSearchOptions& options, bool finished);

}  // namespace outrider::tg
