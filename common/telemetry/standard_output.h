#pragma once

namespace outrider {

/// Writes what standard output still holds. A program calls it before it ends, so that results
/// which are redirected to a full disk are not lost in silence. A reader that has gone has read
/// what it wanted: that is no error.
/// @throws std::runtime_error with the cause if anything that was printed could not be written
void flush_standard_output();

}  // namespace outrider
