#pragma once

#include <cstdint>

#include "common/core/hash_key.h"

namespace outrider {

/// Returns a number that nobody can predict, from the kernel's random source. For main() and its
/// programs: components are handed their secrets. @throws std::runtime_error if there is none
std::uint64_t random_word();

/// Returns a key of such numbers for the tables of this process.
HashKey random_hash_key();

}  // namespace outrider
