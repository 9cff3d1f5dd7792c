#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace outrider::tg {

/// Returns true if `word`, the first on the command line, is a command (ndr, pdr,
/// benchmark, calibrate, replay). Without a command the program runs a file.
bool is_stream_command(std::string_view word);

/// @pre is_stream_command(argv[1]). @return the exit status
int run_stream_command(int argc, char** argv);

/// Runs benchmark, without argv[0] and the command. @return the exit status
int start_benchmark(std::vector<std::string> eal, std::vector<std::string> own);

/// Runs replay, without argv[0] and the command. @return the exit status
int start_replay(std::vector<std::string> eal, std::vector<std::string> own);

}  // namespace outrider::tg
