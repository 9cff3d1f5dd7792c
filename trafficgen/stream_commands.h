#pragma once

#include <string_view>

namespace outrider {

/// Is `word`, the first on the command line, a command of its own (ndr, pdr,
/// calibrate)? Without one the program runs a file.
bool is_stream_command(std::string_view word);

/// @pre is_stream_command(argv[1]). @return the exit status
int run_stream_command(int argc, char** argv);

}  // namespace outrider
