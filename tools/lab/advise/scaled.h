#pragma once

#include <string>

#include "tools/lab/advise/advised_file.h"

namespace outrider::lab {

/// Returns an experiment whose bursts have `bytes` times as many bytes, and whose times between
/// them, of computing and of costs are `time` times as long. A model becomes its bytes and the time
/// that it computes. Background and the network stay.
/// @pre the experiment is valid, and closed_loop is AdvisedTraits::closed_loop
[[nodiscard]] ConfigTable scaled(ConfigTable experiment, bool closed_loop, double bytes,
                                 double time);

/// Returns the largest power of two by which bursts may be divided: at least 16 packets stay of
/// what a worker sends to each other one or to each server, and of all what its port sends in four
/// round trips. At least 1.
[[nodiscard]] unsigned most_smaller(const AdvisedFile& advised);

/// Returns the bytes that the workers of a job send in an iteration, each; 0 if a model cannot be
/// read. @param job  of [parameters], or a [[job]]
[[nodiscard]] double burst_bytes_of(const ConfigTable& job);

/// Returns the seconds of a duration, as a text with its unit; 0: there is none.
[[nodiscard]] double seconds_of(const ConfigTable& table, std::string_view key);

/// Returns the number at a key, which may be a text with a unit of bytes; `otherwise` if there is
/// none.
[[nodiscard]] double number_of(const ConfigTable& table, std::string_view key, double otherwise);

}  // namespace outrider::lab
