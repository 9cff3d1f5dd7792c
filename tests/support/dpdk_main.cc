// main() for tests that work on mbufs, with one EAL for all tests of the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <exception>
#include <iostream>
#include <optional>

#include "tests/support/test_eal.h"

namespace {

// Reports are large and are made at every step of some tests. glibc returns their memory to the
// kernel each time, and half of the processor time of all tests went into getting it again.
void keep_freed_memory() {
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
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
