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
  Duration warm_up = std::chrono::milliseconds(200);  ///< once, at half the rates; not evaluated
};

/// Returns the streams of trial `number` at a share of their rates, for `duration` from its start.
/// Their ids are unique to the trial, so that packets still in flight from the previous trial count
/// as unknown and not as received. Pure.
std::vector<StreamConfig> trial_streams(std::vector<StreamConfig> streams, double share,
                                        std::uint32_t number, Duration duration);

/// Summarises a trial's report.
RateTrial trial_of(const StreamsReport& report, double share);

/// Searches on real devices until the search is over or a signal comes, and prints a line per trial
/// to stdout. @return true if the search was completed
/// @pre every stream is sent and received by this process
bool run_rate_search(RateSearch& search, const RateSearchOptions& options,
                     const GeneratorConfig& config, StreamProcess& process);

/// Returns one JSON object: criterion, settings, trials, the found rate and what limits it.
std::string to_json(const RateSearch& search, const RateSearchOptions& options,
                    const GeneratorConfig& config, bool finished);
/// Returns the line for the user.
std::string to_text(const RateSearch& search, const RateSearchOptions& options, bool finished);

}  // namespace outrider::tg
