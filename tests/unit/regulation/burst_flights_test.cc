// Goal: the bytes in flight of announced bursts, and the time when a burst has arrived
// completely, are right. Method: literal timelines; then a model in plain maps with random
// events and sequence numbers that wrap.
#include "switch/regulation/windows/burst_flights.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace outrider::burst_flights_test {
namespace {

FlowKey worker(std::uint32_t w) {
  return {0x0A000101U + w, 0x0A000301, static_cast<std::uint16_t>(40'000 + w), 5000};
}

TEST(BurstFlights, CountsWhatIsNotAcknowledged) {
  BurstFlights bursts(4);
  EXPECT_FALSE(bursts.any_open());
  ASSERT_TRUE(bursts.on_start(worker(0), 0xFFFFFF00, 1000));  // wraps within the burst
  EXPECT_TRUE(bursts.any_open());
  EXPECT_EQ(bursts.in_flight_bytes(), 0U);
  EXPECT_EQ(bursts.remaining_bytes(), 1000U);
  bursts.on_payload(worker(0), 0xFFFFFF00, 400);
  EXPECT_EQ(bursts.in_flight_bytes(), 400U);
  bursts.on_payload(worker(0), 0xFFFFFF00, 400);  // sent again
  EXPECT_EQ(bursts.in_flight_bytes(), 400U);
  bursts.on_ack(worker(0), 0xFFFFFF00 + 300);
  bursts.on_ack(worker(0), 0xFFFFFF00 + 200);  // late
  EXPECT_EQ(bursts.in_flight_bytes(), 100U);
  bursts.on_ack(worker(0), 0xFFFFFF00 + 500);  // of data that did not pass this queue
  EXPECT_EQ(bursts.in_flight_bytes(), 100U);
  EXPECT_EQ(bursts.remaining_bytes(), 600U);
  bursts.on_payload(worker(1), 5, 400);  // not announced
  EXPECT_EQ(bursts.in_flight_bytes(), 100U);
  bursts.on_payload(worker(0), 0xFFFFFF00 + 400, 600);
  EXPECT_FALSE(bursts.any_open()) << "its last byte is here";
  EXPECT_EQ(bursts.in_flight_bytes(), 0U);
  EXPECT_EQ(bursts.arrived_whole(), 1U);
}

TEST(BurstFlights, LearnsTheLengthFromTwoStarts) {
  BurstFlights bursts(4);
  bursts.on_start(worker(0), 100, 0);
  EXPECT_EQ(bursts.remaining_bytes(), std::nullopt) << "nobody said";
  bursts.on_payload(worker(0), 100, 5000);
  EXPECT_TRUE(bursts.any_open());
  bursts.close_all();
  bursts.on_start(worker(0), 5100, 0);
  EXPECT_EQ(bursts.remaining_bytes(), 5000U) << "as long as the one before";
  bursts.on_payload(worker(0), 5100, 5000);
  EXPECT_FALSE(bursts.any_open());
  EXPECT_TRUE(bursts.on_payload(worker(0), 10100, 10)) << "longer than that: open again";
  EXPECT_TRUE(bursts.any_open());
  EXPECT_EQ(bursts.in_flight_bytes(), 5010U);
  EXPECT_EQ(bursts.remaining_bytes(), std::nullopt);
  bursts.close_all();
  EXPECT_FALSE(bursts.on_payload(worker(0), 10110, 10)) << "regulation has ended";
  EXPECT_FALSE(bursts.any_open());
}

TEST(BurstFlights, AnnouncedLengthBeatsTheLearnedOne) {
  BurstFlights bursts(4);
  bursts.on_start(worker(0), 0, 700);
  bursts.on_payload(worker(0), 0, 700);
  bursts.on_start(worker(0), 700, 300);
  EXPECT_EQ(bursts.remaining_bytes(), 300U);
  bursts.on_start(worker(0), 700, 300);  // again
  EXPECT_EQ(bursts.remaining_bytes(), 300U);
}

TEST(BurstFlights, EvictsOnlyWhatIsNotOpen) {
  BurstFlights bursts(2);
  EXPECT_TRUE(bursts.on_start(worker(0), 0, 100));
  EXPECT_TRUE(bursts.on_start(worker(1), 0, 100));
  EXPECT_FALSE(bursts.on_start(worker(2), 0, 100));
  bursts.on_payload(worker(1), 0, 100);
  EXPECT_TRUE(bursts.on_start(worker(2), 0, 100)) << "in the place of the one that is over";
  bursts.on_payload(worker(0), 0, 10);
  EXPECT_EQ(bursts.in_flight_bytes(), 10U) << "the open one is still known";
}

struct Model {
  std::uint64_t start = 0, end = 0, acknowledged = 0, length = 0;
  bool open = false;
};

TEST(BurstFlights, AgreesWithAPlainModel) {
  std::mt19937_64 random(7);
  std::uint64_t wholes = 0, reopened = 0;
  for (int run = 0; run < 20; ++run) {
    BurstFlights bursts(8);
    std::map<std::uint32_t, Model> model;
    for (std::uint32_t w = 0; w < 8; ++w) model[w].end = 0xFFFF0000ULL;  // wraps soon
    for (int i = 0; i < 5000; ++i) {
      const auto w = static_cast<std::uint32_t>(random() % 8);
      Model& m = model[w];
      const auto wire = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
      switch (random() % 12) {
        case 0: {
          if (random() % 4 != 0 && m.open) break;
          const std::uint64_t said = random() % 2 != 0 ? 1 + random() % 20'000 : 0;
          const std::uint64_t learned = m.start != 0 ? m.end - m.start : 0;
          if (m.start == m.end) break;  // another START of the same burst
          m = {m.end, m.end, m.end, said != 0 ? said : learned, true};
          ASSERT_TRUE(bursts.on_start(worker(w), wire(m.start), said));
          break;
        }
        case 1: {
          if (random() % 20 != 0) break;
          bursts.close_all();
          for (auto& [key, each] : model) each.open = false;
          break;
        }
        case 2:
        case 3:
        case 4: {
          if (m.start == 0 || m.end == m.acknowledged) break;
          const std::uint64_t ack = m.acknowledged + random() % (m.end - m.acknowledged + 1);
          bursts.on_ack(worker(w), wire(ack));
          m.acknowledged = std::max(m.acknowledged, ack);
          break;
        }
        default: {
          if (m.start == 0) break;
          const std::uint64_t from =
              m.end - std::min<std::uint64_t>(random() % 300, m.end - m.start);
          const auto bytes = static_cast<std::uint32_t>(1 + random() % 1500);
          const bool was_whole = m.length != 0 && m.end - m.start >= m.length;
          bursts.on_payload(worker(w), wire(from), bytes);
          if (from + bytes <= m.end) break;
          m.end = from + bytes;
          if (m.open && m.length != 0 && m.end - m.start >= m.length) {
            m.open = false;
            ++wholes;
          } else if (!m.open && was_whole) {
            m.open = true;
            m.length = 0;
            ++reopened;
          }
        }
      }
      std::uint64_t flight = 0, remaining = 0;
      bool unknown = false, open = false;
      for (const auto& [key, each] : model) {
        if (!each.open) continue;
        open = true;
        flight += each.end - each.acknowledged;
        unknown |= each.length == 0;
        if (each.length != 0) remaining += each.length - (each.end - each.start);
      }
      ASSERT_EQ(bursts.any_open(), open);
      ASSERT_EQ(bursts.in_flight_bytes(), flight);
      ASSERT_EQ(bursts.remaining_bytes(),
                unknown ? std::nullopt : std::optional<std::uint64_t>(remaining));
    }
  }
  EXPECT_GT(wholes, 100U);
  EXPECT_GT(reopened, 100U);
}

}  // namespace
}  // namespace outrider::burst_flights_test
