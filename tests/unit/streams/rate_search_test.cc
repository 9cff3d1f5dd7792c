// Goal: the search finds the knee of a device, from below, whatever the noise;
// and the trials that feed it count no packet of another trial. Method: simulated
// devices with a known knee, then real packets through a bottleneck in memory.
#include "trafficgen/streams/search/rate_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/core/random.h"
#include "common/core/units.h"
#include "tests/support/pool.h"
#include "tests/unit/streams/stream_fixture.h"
#include "trafficgen/streams/engine/stream_engine.h"
#include "trafficgen/streams/search/rate_search_loop.h"

namespace outrider::rate_search_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// Loses what is above `knee` (a share of 1 Mpps) in a trial of a second.
RateTrial trial_with_knee(double share, double knee, double achieved = 1) {
  RateTrial t{.share = share, .requested_packets_per_second = share * 1e6};
  t.achieved_packets_per_second = t.requested_packets_per_second * achieved;
  t.sent = static_cast<std::uint64_t>(share * 1e6);
  t.lost = share > knee ? static_cast<std::uint64_t>((share - knee) * 1e6) : 0;
  return t;
}

TEST(RateSearch, FindsTheKneeFromBelowWithinItsWidth) {
  for (const double knee : {0.003, 0.1, 0.333, 0.5, 0.77, 0.9999}) {
    RateSearch search({.width = 0.002});
    while (const auto share = search.next()) search.on_trial(trial_with_knee(*share, knee));
    EXPECT_LE(search.found(), knee);
    EXPECT_GT(search.found(), knee - 0.002);
    EXPECT_EQ(search.limit(), RateLimit::kPath);
    EXPECT_LE(search.trials().size(), 2 + std::ceil(std::log2(1 / 0.002)));
  }
}

TEST(RateSearch, AllowsTheShareOfLossAskedFor) {
  RateSearch search({.max_loss = 0.005, .width = 0.0005});
  while (const auto share = search.next()) search.on_trial(trial_with_knee(*share, 0.5));
  // (share - 0.5) / share == 0.005
  EXPECT_NEAR(search.found(), 0.5 / 0.995, 0.0006);
}

TEST(RateSearch, NamesWhatLimitsIt) {
  RateSearch all({});
  all.on_trial(trial_with_knee(1, 2));
  EXPECT_EQ(all.next(), std::nullopt);
  EXPECT_EQ(all.found(), 1);
  EXPECT_EQ(all.limit(), RateLimit::kMaximum);

  RateSearch none({.width = 0.1});
  while (const auto share = none.next()) none.on_trial(trial_with_knee(*share, -1));
  EXPECT_EQ(none.found(), 0);
  EXPECT_EQ(none.limit(), RateLimit::kUnfound);

  RateSearch slow({.width = 0.01});
  while (const auto share = slow.next())
    slow.on_trial(trial_with_knee(*share, 2, *share > 0.6 ? 0.6 / *share : 1));
  EXPECT_NEAR(slow.found(), 0.6, 0.011);
  EXPECT_EQ(slow.limit(), RateLimit::kGenerator);

  RateSearch disturbed({.width = 0.01});
  for (int n = 0; const auto share = disturbed.next(); ++n)
    disturbed.on_trial(trial_with_knee(*share, 0.7, n % 3 == 0 ? 0.9 : 1));
  EXPECT_NEAR(disturbed.found(), 0.7, 0.011) << "spoilt trials are run again";
  EXPECT_EQ(disturbed.limit(), RateLimit::kPath);

  RateSearch silent({.width = 0.3});
  while (const auto share = silent.next()) silent.on_trial({.share = *share});
  EXPECT_EQ(silent.found(), 0) << "a trial that sent nothing passes nothing";
}

TEST(RateSearch, NoiseMakesTheAnswerLowerNeverHigher) {
  double sum[2] = {};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::uint32_t repeats : {1U, 4U}) {
      RandomStream chance(seed, repeats, RandomPurpose::kTest);
      RateSearch search({.width = 0.01, .repeats = repeats});
      while (const auto share = search.next()) {
        RateTrial t = trial_with_knee(*share, 0.7);
        // Near its knee the device loses a few packets in half of the trials.
        if (*share > 0.6 && chance.uniform() < 0.5) t.lost += 3;
        search.on_trial(t);
      }
      EXPECT_LE(search.found(), 0.7);
      EXPECT_GT(search.found(), 0.58);
      sum[repeats == 1 ? 0 : 1] += search.found();
    }
  }
  EXPECT_LT(sum[1], sum[0]) << "more repeats trust less to luck";
}

TEST(RateSearch, RepeatsMustAllPass) {
  RateSearch search({.repeats = 3});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(search.next(), 1.0);
    search.on_trial(trial_with_knee(1, i == 2 ? 0.5 : 2));
  }
  EXPECT_EQ(search.next(), 0.5) << "the third failed";
}

/// A path in memory: a queue of 64 packets before a link of a known rate, then
/// 100 us of wire. Keeps what it did not deliver.
struct Bottleneck {
  struct Waiting {
    Time arrives;
    Packet* packet;
  };
  mutable std::vector<Waiting> wire;
  mutable Serializer link{BitRate{1'000'000'000}, RateLayer::kL1};
  mutable Time now{};
  mutable std::uint64_t dropped = 0;

  std::uint16_t tx(Packet** packets, std::uint16_t n) const {
    for (std::uint16_t i = 0; i < n; ++i) {
      const Duration backlog = link.free_at() > now ? link.free_at() - now : Duration{};
      if (backlog > 64 * link.duration_of(60)) {
        ++dropped;
        release(packets[i]);
        continue;
      }
      const Time sent =
          link.transmit(rte_pktmbuf_pkt_len(packets[i]), std::max(now, link.free_at()));
      wire.push_back({sent + 100us, packets[i]});
    }
    return n;
  }
};

struct BottleneckPath {
  Bottleneck bottleneck;
  [[nodiscard]] const Bottleneck& port(std::size_t) const { return bottleneck; }
};

/// Runs one trial through the path, from where the path's time stands.
StreamsReport run_trial(const BottleneckPath& path, const std::vector<StreamConfig>& streams,
                        Duration trial, Duration drain, rte_mempool& pool) {
  StreamEngine engine({.streams = streams, .devices = {{"d"}}}, pool);
  auto& wire = path.bottleneck.wire;
  const Time begin = path.bottleneck.now;
  for (Time now = begin; now < begin + trial + drain; now += 200ns) {
    path.bottleneck.now = now;
    const auto ticks = static_cast<std::uint64_t>(now.time_since_epoch().count());
    engine.send(path, {Time{now - begin}, ticks});
    std::size_t arrived = 0;
    for (; arrived < wire.size() && wire[arrived].arrives <= now; ++arrived) {
      engine.receive(*wire[arrived].packet, ticks);
      release(wire[arrived].packet);
    }
    wire.erase(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(arrived));
  }
  engine.finish();
  const StreamsReport report = engine.report();
  EXPECT_TRUE(balanced(report));
  return report;
}

StreamConfig three_gigabits() {
  StreamConfig s = stream();
  s.receive_device = "d";
  s.rate = StreamRate{StreamRate::Unit::kBits, 3'000'000'000};
  s.flows = 10;
  return s;
}

TEST(RateSearch, FindsTheRateOfABottleneckWithRealPackets) {
  TestPool pool(4096, 128);
  const BottleneckPath path{};
  RateSearch search({.width = 0.002});
  std::uint32_t number = 0;
  while (const auto share = search.next()) {
    const auto streams = trial_streams({three_gigabits()}, *share, number++, 20ms);
    search.on_trial(trial_of(run_trial(path, streams, 20ms, 1ms, pool.get()), *share));
  }
  EXPECT_NEAR(search.found(), 1.0 / 3, 0.003) << "1 of 3 Gbit/s";
  EXPECT_EQ(search.limit(), RateLimit::kPath);
  EXPECT_GT(path.bottleneck.dropped, 0U);
}

TEST(RateSearch, ATrialTakesNothingOfTheOneBefore) {
  TestPool pool(4096, 128);
  const BottleneckPath path{};
  const auto run = [&](std::uint32_t number, Duration drain) {
    return run_trial(path, trial_streams({three_gigabits()}, 0.2, number, 2ms), 2ms, drain,
                     pool.get());
  };
  // The wire takes 100 us: what a drain of 50 us leaves there arrives in the next trial.
  const StreamsReport cut_short = run(0, 50us);
  EXPECT_GT(cut_short.streams[0].lost, 0U);
  const StreamsReport next = run(1, 1ms);
  EXPECT_EQ(next.streams[0].lost, 0U);
  EXPECT_EQ(next.streams[0].duplicated, 0U);
  EXPECT_EQ(next.ends.unknown_flow, cut_short.streams[0].lost);
}

TEST(FrameSizes, AreAListOrThoseOfTheRfc) {
  EXPECT_EQ(parse_frame_sizes("64,1518").value, (std::vector<std::uint32_t>{64, 1518}));
  EXPECT_EQ(parse_frame_sizes("9018").value, (std::vector<std::uint32_t>{9018}));
  EXPECT_EQ(parse_frame_sizes("rfc2544").value->size(), 7U) << "section 9.1";
  for (const char* wrong : {"", ",", "64,", "63", "9019", "64;128", "-64", "1e3", "rfc2889"})
    EXPECT_FALSE(parse_frame_sizes(wrong).value) << wrong;
}

TEST(FrameSizes, ReplaceThoseOfEveryStream) {
  GeneratorConfig config;
  config.streams = {{.name = "a", .imix = simple_imix()}, {.name = "b", .frame_bytes = 64}};
  for (const StreamConfig& stream : with_frame_bytes(config, 512).streams) {
    EXPECT_EQ(stream.frame_bytes, 512U);
    EXPECT_FALSE(stream.imix);
  }
}

TEST(FrameSizes, EachHasALineWithItsRateOnTheWire) {
  SizedSearch sized{1000, RateSearch({.width = 0.5}), true};
  while (const auto share = sized.search.next())
    sized.search.on_trial(trial_with_knee(*share, 0.5));
  const std::string text = to_text({sized, {64, RateSearch({}), false}});
  EXPECT_NE(text.find("       1000      0.5000        4.080       50.00 %   0.0000 %  path"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("64 bytes: no rate passed, interrupted"), std::string::npos) << text;
}

}  // namespace
}  // namespace outrider::rate_search_test
