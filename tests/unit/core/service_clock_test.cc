// Goal: what a transmitter did between two instants is known to the nanosecond, by
// class and for the owner that asks. Method: literal timelines, and a comparison with
// a plain list of services.
#include "common/core/service_clock.h"

#include <gtest/gtest.h>

#include "common/core/random.h"

namespace outrider::service_clock_test {
namespace {

constexpr Time at(std::int64_t ns) { return Time{Duration{ns}}; }
constexpr auto kBackground = TrafficClass::kBackground;
constexpr auto kSignal = TrafficClass::kSignal;

void expect_reading(const ServiceClock::Reading& r, std::int64_t background, std::int64_t signal,
                    std::int64_t ddl, std::int64_t own) {
  EXPECT_EQ(r.background.count(), background);
  EXPECT_EQ(r.signal.count(), signal);
  EXPECT_EQ(r.ddl.count(), ddl);
  EXPECT_EQ(r.own.count(), own);
}

TEST(ServiceClock, CountsThePacketInServiceUpToTheReading) {
  ServiceClock clock(2);
  clock.on_service(kBackground, 0, at(100), at(220));
  expect_reading(clock.read(1, at(100)), 0, 0, 0, 0);
  expect_reading(clock.read(1, at(130)), 30, 0, 0, 0);
  expect_reading(clock.read(1, at(220)), 120, 0, 0, 0);
  expect_reading(clock.read(1, at(999)), 120, 0, 0, 0);
  clock.on_service(kBackground, 1, at(220), at(320));  // an owner's packet is DDL
  expect_reading(clock.read(1, at(270)), 120, 0, 50, 50);
  expect_reading(clock.read(2, at(270)), 120, 0, 50, 0);
  clock.on_service(kSignal, 0, at(400), at(410));
  expect_reading(clock.read(1, at(405)), 120, 5, 100, 100);
}

TEST(ServiceClock, AReadingBeforeAServiceThatIsAlreadyKnownLeavesItOut) {
  ServiceClock clock(1);
  clock.on_service(kBackground, 0, at(500), at(600));  // starts later, by the send jitter
  expect_reading(clock.read(1, at(450)), 0, 0, 0, 0);
}

TEST(ServiceClock, AgreesWithAListOfServices) {
  struct Service {
    std::uint32_t kind;  // 0 background, 1 signal, 2.. owner kind - 1
    std::int64_t start, finish;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kImpairment);
    ServiceClock clock(3);
    std::vector<Service> list;
    std::int64_t now = 0;
    for (int i = 0; i < 500; ++i) {
      const std::uint32_t kind = random.next_u32() % 5;
      const std::int64_t start = now + (random.next_u32() % 3 == 0 ? random.next_u32() % 50 : 0);
      now = start + 1 + random.next_u32() % 100;
      clock.on_service(kind == 1 ? kSignal : kBackground, kind < 2 ? 0 : kind - 1, at(start),
                       at(now));
      list.push_back({kind, start, now});
      const std::int64_t reading = start + random.next_u32() % 150;
      std::int64_t background = 0, signal = 0, ddl = 0, own = 0;
      for (const auto& s : list) {
        const std::int64_t served =
            std::max<std::int64_t>(std::min(reading, s.finish) - s.start, 0);
        (s.kind == 0 ? background : s.kind == 1 ? signal : ddl) += served;
        if (s.kind == 3) own += served;
      }
      expect_reading(clock.read(2, at(reading)), background, signal, ddl, own);
    }
  }
}

}  // namespace
}  // namespace outrider::service_clock_test
