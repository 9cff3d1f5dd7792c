#include "common/runtime/event_loop.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "common/core/random.h"

namespace outrider::event_loop_test {
namespace {

using namespace std::chrono_literals;

using Fired = std::vector<std::pair<Time, SourceId>>;

// Does what the test says when it fires.
class Source final : public EventSource {
 public:
  Source(EventLoop& loop, Fired& fired) : id(loop.add(*this)), fired_(fired) {}
  Time fire(Time now) noexcept override {
    fired_.emplace_back(now, id);
    return act ? act(now) : kNever;
  }
  SourceId id;
  std::function<Time(Time)> act;

 private:
  Fired& fired_;
};

struct Loop {
  explicit Loop(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sources.push_back(std::make_unique<Source>(loop, fired));
  }
  EventLoop loop;
  Fired fired;
  std::vector<std::unique_ptr<Source>> sources;
};

TEST(EventLoop, FiresByTimeThenById) {
  for (const std::size_t n : {1U, 2U, 3U, 5U, 8U, 17U}) {
    Loop l(n);
    for (SourceId id = 0; id < n; ++id)  // scheduled from the last to the first
      l.loop.schedule(static_cast<SourceId>(n - 1 - id), Time{10ns});
    EXPECT_EQ(l.loop.next(), Time{10ns});
    EXPECT_EQ(l.loop.run_until(Time{9ns}), 0U) << "not due yet";
    EXPECT_EQ(l.loop.run_until(Time{10ns}), n) << "due at the end counts";
    for (SourceId id = 0; id < n; ++id)
      EXPECT_EQ(l.fired[id], std::make_pair(Time{10ns}, id)) << "ties go to the lower id";
    EXPECT_EQ(l.loop.next(), kNever);
  }
}

TEST(EventLoop, EmptyLoopAndIdleSourcesHaveNothingToDo) {
  EventLoop nobody;
  EXPECT_EQ(nobody.next(), kNever);
  EXPECT_EQ(nobody.run_until(kNever), 0U);
  Loop l(3);
  EXPECT_EQ(l.loop.run_until(kNever), 0U) << "kNever is not an instant at which anything fires";
}

TEST(EventLoop, AddingKeepsWhatIsScheduled) {
  Loop l(2);
  l.loop.schedule(0, Time{5ns});
  l.loop.schedule(1, Time{3ns});
  for (int i = 0; i < 5; ++i) l.sources.push_back(std::make_unique<Source>(l.loop, l.fired));
  EXPECT_EQ(l.loop.scheduled(0), Time{5ns});
  l.loop.run_until(kNever - 1ns);
  EXPECT_EQ(l.fired, (Fired{{Time{3ns}, 1}, {Time{5ns}, 0}}));
}

TEST(EventLoop, ScheduleReplacesAndKNeverRemoves) {
  Loop l(3);
  l.loop.schedule(0, Time{5ns});
  l.loop.schedule(0, Time{9ns});
  l.loop.schedule(1, Time{7ns});
  l.loop.schedule(2, Time{6ns});
  l.loop.schedule(2, kNever);
  EXPECT_EQ(l.loop.scheduled(2), kNever);
  l.loop.run_until(Time{100ns});
  EXPECT_EQ(l.fired, (Fired{{Time{7ns}, 1}, {Time{9ns}, 0}}));
}

TEST(EventLoop, SourcesMayScheduleOthersWhileTheyFire) {
  Loop l(4);
  l.sources[1]->act = [&](Time now) {
    l.loop.schedule(0, now);        // now, although its id was passed already
    l.loop.schedule(2, now + 5ns);  // later
    l.loop.schedule(3, kNever);     // not at all any more
    return kNever;
  };
  l.loop.schedule(1, Time{10ns});
  l.loop.schedule(3, Time{11ns});
  l.loop.run_until(Time{100ns});
  EXPECT_EQ(l.fired, (Fired{{Time{10ns}, 1}, {Time{10ns}, 0}, {Time{15ns}, 2}}));
}

TEST(EventLoop, AReturnedInstantFiresAgainEvenAtOnce) {
  Loop l(2);
  int left = 3;
  l.sources[0]->act = [&](Time now) { return --left > 0 ? now : kNever; };
  l.sources[1]->act = [&](Time now) { return now < Time{30ns} ? now + 10ns : kNever; };
  l.loop.schedule(0, Time{10ns});
  l.loop.schedule(1, Time{10ns});
  EXPECT_EQ(l.loop.run_until(Time{20ns}), 5U);
  EXPECT_EQ(
      l.fired,
      (Fired{{Time{10ns}, 0}, {Time{10ns}, 0}, {Time{10ns}, 0}, {Time{10ns}, 1}, {Time{20ns}, 1}}));
  EXPECT_EQ(l.loop.next(), Time{30ns});
}

// Random schedules, also from within fire, against std::map ordered by (time, id).
TEST(EventLoop, BehavesLikeAnOrderedMap) {
  std::uint64_t ties = 0, removed = 0, from_within = 0;
  for (const std::size_t n : {1U, 2U, 3U, 7U, 16U, 33U}) {
    RandomStream random(1, static_cast<std::uint32_t>(n), RandomPurpose::kTest);
    Loop l(n);
    std::map<std::pair<Time, SourceId>, int> model;
    std::vector<Time> at(n, kNever);
    Fired expected;
    const auto put = [&](SourceId id, Time t) {
      if (at[id] != kNever) model.erase({at[id], id});
      removed += t == kNever && at[id] != kNever;
      at[id] = t;
      if (t != kNever) model[{t, id}] = 0;
    };
    // Coarse instants, so that many coincide. What a source does depends on the
    // draw alone, so loop and model stay in step.
    const auto pick = [&](Time now) {
      return random.next_u32() % 5 == 0 ? kNever : now + Duration{random.next_u32() % 6};
    };
    for (auto& s : l.sources) {
      Source* self = s.get();
      s->act = [&, self](Time now) {
        EXPECT_FALSE(model.empty());
        if (model.empty()) return kNever;
        expected.push_back(model.begin()->first);
        ties += model.size() > 1 && std::next(model.begin())->first.first == now;
        put(self->id, kNever);
        const auto other = static_cast<SourceId>(random.next_u32() % n);
        if (other != self->id && random.next_u32() % 2 == 0) {
          const Time t = pick(now);
          l.loop.schedule(other, t);
          put(other, t);
          ++from_within;
        }
        const Time again = pick(now) == kNever ? kNever : now + Duration{1 + random.next_u32() % 9};
        put(self->id, again);
        return again;
      };
    }
    Time now{};
    for (int step = 0; step < 2'000; ++step) {
      const auto id = static_cast<SourceId>(random.next_u32() % n);
      const Time t = pick(now);
      l.loop.schedule(id, t);
      put(id, t);
      ASSERT_EQ(l.loop.next(), model.empty() ? kNever : model.begin()->first.first);
      now += Duration{random.next_u32() % 4};
      l.loop.run_until(now);
      ASSERT_EQ(l.fired, expected) << n << " sources, step " << step;
      ASSERT_TRUE(model.empty() || model.begin()->first.first > now);
      for (SourceId i = 0; i < n; ++i) ASSERT_EQ(l.loop.scheduled(i), at[i]);
      l.fired.clear();
      expected.clear();
    }
  }
  EXPECT_GT(ties, 1'000U);
  EXPECT_GT(removed, 1'000U);
  EXPECT_GT(from_within, 1'000U);
}

}  // namespace
}  // namespace outrider::event_loop_test
