#include "common/config/signal_key_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/config/text_file.h"

namespace outrider {
namespace {

constexpr std::string_view kFirstWord = "outrider-signal-key";
constexpr std::string_view kVersion = "1";
constexpr std::uint32_t kLimit_MiB = 1;

ConfigResult<SignalKey> key_fault(std::string problem) { return {{}, {{"", std::move(problem)}}}; }

template <class Number>
bool read_number(std::string_view text, int base, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_secret(std::string_view text, std::span<std::uint8_t> secret) {
  if (text.size() != 2 * secret.size()) return false;
  for (std::size_t i = 0; i < secret.size(); ++i)
    if (!read_number(text.substr(2 * i, 2), 16, secret[i])) return false;
  return true;
}

/// Returns what is wrong with who may use the file.
std::optional<std::string> exposure_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0)
    return std::string("cannot be opened: ") + std::strerror(errno);
  if (!S_ISREG(file.st_mode)) return "is not a regular file";
  if (file.st_uid != geteuid())  // whoever owns it knows the secret, and can exchange it
    return "belongs to user " + std::to_string(file.st_uid) + ", not to user " +
           std::to_string(geteuid()) + ", as whom this program runs; chown " +
           std::to_string(geteuid()) + " " + path + " mends that, if nobody else has its content";
  if ((file.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return "may be used by others than its owner; chmod 600 " + path + " mends that";
  return std::nullopt;
}

}  // namespace

ConfigResult<SignalKey> read_signal_key(const std::string& path) {
  if (auto exposed = exposure_of(path)) return key_fault(std::move(*exposed));
  auto read = read_text_file(path, kLimit_MiB);
  if (!read) return {{}, std::move(read.issues)};
  std::istringstream words(*read.config);
  std::string first, version, id, secret, more;
  words >> first >> version >> id >> secret;
  if (first != kFirstWord)
    return key_fault("is no key file; outrider-switch keygen FILE makes one");
  if (version != kVersion) return key_fault("is a key file of another version than 1");
  SignalKey key;
  if (!read_number(id, 10, key.id))
    return key_fault("has an id that is not a number from 0 to 255");
  if (!read_secret(secret, key.secret))
    return key_fault("has a secret that is not 32 hexadecimal digits");
  if (words >> more) return key_fault("has text behind the secret");
  return {key, {}};
}

std::string signal_key_text(const SignalKey& key) {
  std::string text =
      std::string(kFirstWord) + " " + std::string(kVersion) + " " + std::to_string(key.id) + " ";
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::uint8_t byte : key.secret) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text + "\n";
}

}  // namespace outrider
