// Goal: a burst that is expected for an address consists of new payload of any flow to it, and
// is over when as much has come as the previous burst had. Method: literal timelines; then a
// model in plain maps with random events and sequence numbers that wrap.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "switch/regulation/windows/burst_flights.h"

namespace outrider::predicted_flights_test {
namespace {

constexpr std::uint32_t kServer = 0x0A000301;

FlowKey worker(std::uint32_t w, std::uint32_t server = kServer) {
  return {0x0A000101U + w, server, static_cast<std::uint16_t>(40'000 + w), 5000};
}

TEST(PredictedFlights, AreThoseOfAllFlowsToTheAddress) {
  BurstFlights bursts(8);
  ASSERT_TRUE(bursts.on_prediction(kServer, 1000));
  EXPECT_TRUE(bursts.any_open());
  EXPECT_EQ(bursts.remaining_bytes(), 1000U);
  EXPECT_EQ(bursts.in_flight_bytes(), 0U) << "nothing has come";
  bursts.on_payload(worker(0), 0xFFFFFF00, 400);  // wraps within the burst
  bursts.on_payload(worker(1), 7, 100);
  bursts.on_payload(worker(2, kServer + 1), 7, 300);  // another job's
  EXPECT_EQ(bursts.in_flight_bytes(), 500U);
  EXPECT_EQ(bursts.remaining_bytes(), 500U);
  bursts.on_payload(worker(0), 0xFFFFFF00, 400);  // sent again
  EXPECT_EQ(bursts.in_flight_bytes(), 500U);
  bursts.on_ack(worker(0), 0xFFFFFF00 + 300);
  bursts.on_ack(worker(0), 0xFFFFFF00 + 200);  // late
  bursts.on_ack(worker(1), 7);                 // from before the burst
  EXPECT_EQ(bursts.in_flight_bytes(), 200U);
  bursts.on_payload(worker(1), 107, 499);
  EXPECT_EQ(bursts.remaining_bytes(), 1U);
  bursts.on_payload(worker(0), 0xFFFFFF00 + 400, 1);
  EXPECT_FALSE(bursts.any_open()) << "as much as the one before had";
  EXPECT_EQ(bursts.in_flight_bytes(), 0U);
  EXPECT_TRUE(bursts.on_payload(worker(1), 606, 10)) << "longer: open again";
  EXPECT_EQ(bursts.remaining_bytes(), std::nullopt);
  EXPECT_EQ(bursts.in_flight_bytes(), 710U) << "101 of worker 0, 609 of worker 1";
  bursts.close_all();
  EXPECT_FALSE(bursts.on_payload(worker(1), 616, 10)) << "regulation has ended";
  EXPECT_FALSE(bursts.any_open());
}

// Each prediction starts from nothing, because connections may be new, with other sequence numbers.
TEST(PredictedFlights, ForgetTheBurstBefore) {
  BurstFlights bursts(8);
  bursts.on_prediction(kServer, 0);
  EXPECT_EQ(bursts.remaining_bytes(), std::nullopt) << "nobody knows";
  bursts.on_payload(worker(0), 5000, 1000);
  bursts.on_prediction(kServer, 1000);
  EXPECT_EQ(bursts.in_flight_bytes(), 0U);
  bursts.on_payload(worker(0), 100, 600);
  EXPECT_EQ(bursts.in_flight_bytes(), 600U) << "a new connection of the same ports";
  bursts.on_ack(worker(0), 6000);
  EXPECT_EQ(bursts.in_flight_bytes(), 600U) << "of what did not pass here";
  bursts.on_ack(worker(0), 500);
  EXPECT_EQ(bursts.in_flight_bytes(), 200U);
  bursts.on_payload(worker(0), 700, 400);
  EXPECT_FALSE(bursts.any_open());
}

TEST(PredictedFlights, GiveWayToWhatIsAnnounced) {
  BurstFlights bursts(8);
  bursts.on_prediction(kServer, 1000);
  bursts.on_prediction(kServer + 1, 50);
  bursts.on_payload(worker(0), 0, 400);
  ASSERT_TRUE(bursts.on_start(worker(0), 400, 3000));
  EXPECT_EQ(bursts.remaining_bytes(), 3050U) << "the other address's still is";
  EXPECT_EQ(bursts.in_flight_bytes(), 0U);
  bursts.on_payload(worker(0), 400, 100);
  bursts.on_payload(worker(1), 0, 100);  // of the same job, not announced
  EXPECT_EQ(bursts.in_flight_bytes(), 100U);
  ASSERT_TRUE(bursts.on_prediction(kServer, 1000)) << "is heard, and changes nothing";
  EXPECT_EQ(bursts.remaining_bytes(), 2950U);
}

// The end of a prediction does not change what is known about announced bursts.
TEST(PredictedFlights, LeaveAnnouncedBurstsAlone) {
  BurstFlights bursts(8);
  bursts.on_prediction(kServer, 1000);
  bursts.on_start(worker(0), 0, 300);
  bursts.on_payload(worker(0), 0, 300);
  EXPECT_FALSE(bursts.any_open());
  EXPECT_TRUE(bursts.on_payload(worker(0), 300, 10)) << "longer than was said";
  EXPECT_EQ(bursts.in_flight_bytes(), 310U);
  bursts.close_all();
  bursts.on_start(worker(0), 310, 300);
  bursts.on_payload(worker(0), 310, 300);
  bursts.on_prediction(kServer, 1000);
  EXPECT_FALSE(bursts.on_payload(worker(0), 610, 10)) << "of the one that is expected";
  EXPECT_EQ(bursts.remaining_bytes(), 990U);
}

TEST(PredictedFlights, NeedRoom) {
  BurstFlights bursts(2);
  bursts.on_start(worker(0), 0, 100);
  bursts.on_start(worker(1), 0, 100);
  EXPECT_FALSE(bursts.on_prediction(kServer + 1, 1000));
  bursts.on_payload(worker(0), 0, 100);
  bursts.on_payload(worker(1), 0, 100);
  EXPECT_TRUE(bursts.on_prediction(kServer + 1, 1000));
  bursts.on_payload(worker(5, kServer + 1), 0, 300);
  EXPECT_EQ(bursts.in_flight_bytes(), 300U);
  bursts.on_payload(worker(6, kServer + 1), 0, 300);
  EXPECT_EQ(bursts.in_flight_bytes(), 600U) << "in the place of the first";
  bursts.on_ack(worker(5, kServer + 1), 300);
  EXPECT_EQ(bursts.in_flight_bytes(), 600U) << "which is not known any more: too much, never less";
  EXPECT_EQ(bursts.remaining_bytes(), 400U);
}

TEST(PredictedFlights, AgreeWithAPlainModel) {
  std::mt19937_64 random(11);
  std::uint64_t wholes = 0, reopened = 0;
  struct Flow {
    std::uint64_t end = 0xFFFF0000ULL, joined_at = 0, acknowledged = 0;
    bool joined = false;
  };
  for (int run = 0; run < 20; ++run) {
    BurstFlights bursts(16);
    std::array<Flow, 6> flows;
    std::uint64_t length = 0, arrived = 0, flight = 0;
    bool open = false;
    for (int i = 0; i < 5000; ++i) {
      const auto w = static_cast<std::uint32_t>(random() % flows.size());
      Flow& f = flows[w];
      const auto wire = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
      const auto what = random() % 40;
      if (what == 0) {
        for (auto& each : flows) each.joined = false;
        length = random() % 4 != 0 ? 1 + random() % 30'000 : 0;
        arrived = flight = 0;
        open = true;
        ASSERT_TRUE(bursts.on_prediction(kServer, length));
      } else if (what == 1) {
        bursts.close_all();
        open = false;
      } else if (what < 15) {
        if (!f.joined || f.end == f.acknowledged) continue;
        const std::uint64_t ack = f.acknowledged + random() % (f.end - f.acknowledged + 1);
        bursts.on_ack(worker(w), wire(ack));
        flight -= ack - f.acknowledged;
        f.acknowledged = ack;
      } else {
        const std::uint64_t back = f.joined ? random() % 300 : 0;
        const std::uint64_t from = f.end - std::min(back, f.end - f.joined_at);
        const auto bytes = static_cast<std::uint32_t>(301 + random() % 1200);
        const bool reopens = !open && length != 0 && arrived >= length && f.joined;
        ASSERT_EQ(bursts.on_payload(worker(w), wire(from), bytes), reopens);
        if (open && !f.joined) {
          f.joined = true;
          f.joined_at = f.acknowledged = from;
        }
        if (f.joined) {
          arrived += from + bytes - f.end;
          flight += from + bytes - f.end;
        }
        f.end = from + bytes;
        if (reopens) {
          open = true;
          length = 0;
          ++reopened;
        } else if (open && length != 0 && arrived >= length) {
          open = false;
          ++wholes;
        }
      }
      ASSERT_EQ(bursts.any_open(), open);
      ASSERT_EQ(bursts.in_flight_bytes(), open ? flight : 0);
      const auto remaining = open ? length - arrived : 0;
      ASSERT_EQ(bursts.remaining_bytes(),
                open && length == 0 ? std::nullopt : std::optional(remaining));
    }
  }
  EXPECT_GT(wholes, 100U);
  EXPECT_GT(reopened, 100U);
}

}  // namespace
}  // namespace outrider::predicted_flights_test
