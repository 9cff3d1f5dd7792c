// main() for tests that work on mbufs, with one EAL for all tests of the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <iostream>
#include <optional>

#include "tests/support/test_eal.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  std::optional<outrider::TestEal> eal;
  try {
    if (!GTEST_FLAG_GET(list_tests)) eal.emplace();
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
  return RUN_ALL_TESTS();
}
