#pragma once

// Only main.cc includes this file, because CLI11 is slow to compile.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "switch/control/keygen.h"

namespace outrider::sw {

/// The command `keygen` as the user gave it.
struct KeygenArguments {
  bool given = false;
  std::string file;
  std::optional<std::uint8_t> id{};
};

inline void add_keygen_command(CLI::App& app, KeygenArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "keygen", "Make a key that signs STARTs, in a new file of mode 0600, and end");
  command->add_option("FILE", arguments.file, "Name of the new file")->required();
  command
      ->add_option_function<unsigned>(
          "--id", [&arguments](unsigned id) { arguments.id = static_cast<std::uint8_t>(id); },
          "0 to 255, unique among the keys of a switch [random]")
      ->type_name("N")
      ->check(CLI::Range(0U, 255U));
  command->callback([&arguments] { arguments.given = true; });
}

}  // namespace outrider::sw
