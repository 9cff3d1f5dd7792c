// Goal: bytes that stay missing are lost, once each; bytes that arrive late are not.
// Method: literal timelines of what is missing.
#include "trafficgen/mlt/settled_loss.h"

#include <gtest/gtest.h>

namespace outrider::settled_loss_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr Time kStart = Time{} + 1s;
constexpr Duration kWindow = 25us;
constexpr std::uint32_t kAny = 1'000'000;

/// One to which a packet has come late at kStart.
SettledLoss reordered() {
  SettledLoss loss;
  (void)loss.on_report(1, kAny, kWindow, kStart - 2us);
  (void)loss.on_report(0, kAny, kWindow, kStart - 1us);
  (void)loss.on_report(0, kAny, kWindow, kStart + kWindow);  // ends the first window
  return loss;
}

TEST(SettledLoss, InOrderWhatIsMissingIsLostAtOnce) {
  SettledLoss loss;
  EXPECT_EQ(loss.on_report(0, kAny, kWindow, kStart), 0U);
  EXPECT_EQ(loss.on_report(3, kAny, kWindow, kStart + 1us), 3U);
  EXPECT_EQ(loss.on_report(3, kAny, kWindow, kStart + 2us), 0U);
  EXPECT_EQ(loss.on_report(5, kAny, kWindow, kStart + 3us), 2U);
}

TEST(SettledLoss, WhatArrivesWithinTheWindowIsNotLost) {
  SettledLoss loss = reordered();
  for (int i = 1; i <= 200; ++i) {
    const Time at = kStart + kWindow + i * 1us;
    EXPECT_EQ(loss.on_report(i % 10, kAny, kWindow, at), 0U) << i;
  }
}

TEST(SettledLoss, WhatStaysMissingIsLostWithinTwoWindows) {
  SettledLoss loss = reordered();
  const Time lost_at = kStart + kWindow + 1us;
  std::uint32_t told = 0;
  for (Time at = lost_at; at < lost_at + 2 * kWindow; at += 1us) {
    const std::uint32_t now = loss.on_report(4, kAny, kWindow, at);
    if (now != 0) {
      EXPECT_GE(at - lost_at, kWindow - 1us);
    }
    told += now;
  }
  EXPECT_EQ(told, 4U) << "once";
}

TEST(SettledLoss, TellsNoMoreThanTheReportCovers) {
  SettledLoss loss = reordered();
  const Time late = kStart + 4 * kWindow;
  (void)loss.on_report(7, kAny, kWindow, kStart + kWindow + 1us);
  EXPECT_EQ(loss.on_report(7, 3, kWindow, late - kWindow), 0U) << "not missing for a whole window";
  EXPECT_EQ(loss.on_report(7, 3, kWindow, late), 3U);
  EXPECT_EQ(loss.on_report(7, 3, kWindow, late + 1us), 3U);
  EXPECT_EQ(loss.on_report(7, 3, kWindow, late + 2us), 1U);
  EXPECT_EQ(loss.on_report(7, 3, kWindow, late + 3us), 0U);
}

// Packets in flight when a burst begins count as missing at first, and then arrive in order.
TEST(SettledLoss, ABeginIsNoReordering) {
  SettledLoss loss;
  loss.begin(9);
  EXPECT_EQ(loss.on_report(0, kAny, kWindow, kStart), 0U);
  EXPECT_EQ(loss.on_report(2, kAny, kWindow, kStart + 1us), 2U) << "at once";
}

}  // namespace
}  // namespace outrider::settled_loss_test
