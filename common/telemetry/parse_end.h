#pragma once

// Includes CLI11, which is slow to compile: for command lines alone.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/core/shortened.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/standard_output.h"

namespace outrider {

/// Parses a command line without its first word, and refuses an empty argument: it comes from a
/// variable that a script has not set, and would choose a default without a word.
/// @throws CLI::ParseError
inline void parse_arguments(CLI::App& app, std::vector<std::string> own) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string& text = own[i];
    const bool of_option = text.starts_with("--") && text.find('=') == text.size() - 1;
    if (!text.empty() && !of_option) continue;
    const bool after_option = !of_option && i > 0 && own[i - 1].starts_with('-');
    throw CLI::ValidationError(of_option      ? text.substr(0, text.size() - 1)
                               : after_option ? own[i - 1]
                                              : "argument " + std::to_string(i + 1),
                               "must not be empty; leave it out for its default");
  }
  std::ranges::reverse(own);  // CLI11 takes arguments from the back
  app.parse(std::move(own));
}

/// Names a word that stands where a command of the program should, and the commands that there are:
/// CLI11 says only that a command is missing, or that the word was not expected. Empty if no word
/// stands there.
inline std::string unknown_command(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto words = app.remaining();
  if (commands.empty() || !app.get_subcommands().empty()) return {};
  if (words.empty() || words.front().starts_with('-')) return {};
  std::string text = shortened(words.front(), kShownProblem_bytes / 2) + " is no command of " +
                     app.get_name() + ", which has: ";
  for (const auto* command : commands)
    text += (command == commands.front() ? "" : ", ") + command->get_name();
  return text + "\nRun with --help for more information.\n";
}

/// Prints why a command line is not run: the help that it asked for, or its fault, of which an
/// argument of any size shows its beginning.
/// @return exit status
inline int end_of_parsing(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream fault;
  if (app.exit(error, std::cout, fault) == 0) {
    try {
      flush_standard_output();
    } catch (const std::exception& failed) {
      std::cerr << app.get_name() << ": " << failed.what() << '\n';
      std::cout.clear();  // told; the program's end flushes again
      std::clearerr(stdout);
      return kExitFailure;
    }
    return kExitOk;
  }
  std::string text = unknown_command(app);
  if (text.empty()) text = std::move(fault).str();
  if (text.size() > kShownProblem_bytes) text = shortened(text, kShownProblem_bytes) + '\n';
  std::cerr << text;
  return kExitUsage;
}

}  // namespace outrider
