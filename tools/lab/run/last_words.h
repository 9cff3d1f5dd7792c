#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace outrider::lab {

/// Returns what of a program's log says why it ended, each line on one of its own: the last error
/// of one of our programs with all that follows, as such a message quotes libraries over several
/// lines; but at least the last five lines and at most the last twenty. Empty if the log is.
std::string last_words(std::istream& log);

}  // namespace outrider::lab
