#include "tools/lab/run/packed_text.h"

#include <zlib.h>

#include <array>
#include <limits>
#include <stdexcept>

namespace outrider::lab {
namespace {

constexpr int kGzip = 15 + 16;  ///< the largest window, and gzip's head and checksum
constexpr int kMemory = 8;      ///< zlib's default

using Chunk = std::array<Bytef, 1U << 16>;

/// zlib counts in 32 bits. A run of 4 GiB does not fit into the memory of a session either.
z_stream stream_of(std::string_view text) {
  if (text.size() > std::numeric_limits<uInt>::max())
    throw std::runtime_error("a run of 4 GiB or more cannot be kept");
  z_stream z{};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // is only read
  z.avail_in = static_cast<uInt>(text.size());
  return z;
}

/// Calls `step` until it returns something else than Z_OK, and appends what it has written.
template <class Step>
int drain(z_stream& z, std::string& out, Step step) {
  Chunk chunk;
  int status = Z_OK;
  while (status == Z_OK) {
    z.next_out = chunk.data();
    z.avail_out = static_cast<uInt>(chunk.size());
    status = step(z);
    out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size() - z.avail_out);
  }
  return status;
}

}  // namespace

std::string packed_text(std::string_view text) {
  z_stream z = stream_of(text);
  if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  drain(z, out, [](z_stream& s) { return deflate(&s, Z_FINISH); });
  deflateEnd(&z);
  return out;
}

std::optional<std::string> unpacked_text(std::string_view packed) {
  z_stream z = stream_of(packed);
  if (inflateInit2(&z, kGzip) != Z_OK) throw std::bad_alloc();
  std::string out;
  const int status = drain(z, out, [](z_stream& s) { return inflate(&s, Z_NO_FLUSH); });
  const bool whole = status == Z_STREAM_END && z.avail_in == 0;
  inflateEnd(&z);
  if (!whole) return std::nullopt;
  return out;
}

}  // namespace outrider::lab
