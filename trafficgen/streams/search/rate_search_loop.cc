#include "trafficgen/streams/search/rate_search_loop.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

namespace outrider::tg {

std::vector<StreamConfig> trial_streams(std::vector<StreamConfig> streams, double share,
                                        std::uint32_t number, Duration duration) {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    StreamConfig& s = streams[i];
    const double scaled = std::round(static_cast<double>(s.rate->value) * share);
    s.rate->value = std::max<std::uint64_t>(static_cast<std::uint64_t>(scaled), 1);
    s.id = static_cast<std::uint32_t>((number * streams.size() + i) % kMaxStreams);
    s.start.reset();
    s.duration = duration;
    s.packets.reset();
  }
  return streams;
}

Parsed<std::vector<std::uint32_t>> parse_frame_sizes(std::string_view text) {
  if (text == "rfc2544")
    return {std::vector<std::uint32_t>{64, 128, 256, 512, 1024, 1280, 1518}, {}};
  std::vector<std::uint32_t> sizes;
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    std::uint32_t bytes = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), bytes);
    if (error != std::errc{} || end != one.data() + one.size() || bytes < kMinStreamFrameBytes ||
        bytes > kMaxStreamFrameBytes)
      return {{},
              "must be rfc2544, or sizes from " + std::to_string(kMinStreamFrameBytes) + " to " +
                  std::to_string(kMaxStreamFrameBytes) + " bytes with commas"};
    sizes.push_back(bytes);
    if (one.size() == text.size()) return {std::move(sizes), {}};
    text.remove_prefix(one.size() + 1);
  }
}

GeneratorConfig with_frame_bytes(GeneratorConfig config, std::uint32_t frame_bytes) {
  for (StreamConfig& s : config.streams) {
    s.frame_bytes = frame_bytes;
    s.imix.reset();
  }
  return config;
}

RateTrial trial_of(const StreamsReport& report, double share) {
  RateTrial trial{.share = share};
  for (const auto& s : report.streams) {
    trial.requested_packets_per_second += s.requested_packets_per_second;
    trial.achieved_packets_per_second += s.achieved_packets_per_second;
    trial.achieved_bits_per_second += s.achieved_bits_per_second;
    trial.sent += s.sent;
    trial.lost += s.lost;
  }
  return trial;
}

bool run_rate_search(RateSearch& search, const RateSearchOptions& options,
                     const GeneratorConfig& config, Trials& trials, std::uint32_t& number,
                     const TrialProgress& say) {
  const auto run = [&](double share, Duration duration) {
    return trials.run({trial_streams(config.streams, share, number++, duration), {}, duration});
  };
  if (options.warm_up > Duration::zero() && !run(0.5, options.warm_up)) return false;
  while (const auto share = search.next()) {
    const auto result = run(*share, options.trial);
    if (!result) return false;
    const RateTrial trial = trial_of(result->report, *share);
    const bool passed = search.passes(trial);
    search.on_trial(trial);
    std::ostringstream line;
    line << "  " << *share * 100 << " %: sent " << trial.sent << ", lost " << trial.lost
         << ", asked for " << trial.requested_packets_per_second / 1e6 << " Mpps, achieved "
         << trial.achieved_packets_per_second / 1e6 << (passed ? "; passed" : "; failed");
    say(line.str());
  }
  return true;
}

}  // namespace outrider::tg
