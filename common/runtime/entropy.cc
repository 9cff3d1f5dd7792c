#include "common/runtime/entropy.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace outrider {

std::uint64_t random_word() {
  std::uint64_t word = 0;
  // The kernel hands out as little as this at once, or waits for its first entropy after boot.
  while (getrandom(&word, sizeof word, 0) != sizeof word)
    if (errno != EINTR) throw std::runtime_error(std::string("getrandom: ") + std::strerror(errno));
  return word;
}

HashKey random_hash_key() {
  HashKey key;
  for (std::uint64_t& word : key.words) word = random_word();
  return key;
}

}  // namespace outrider
