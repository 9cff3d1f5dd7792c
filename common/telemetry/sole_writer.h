#pragma once

#include <string>

namespace outrider {

/// Claims a file that is written over a long time, piece by piece: as long as it lives, no other
/// process of Outrider writes the file. The claim ends with the process, however that ends.
class SoleWriter {
 public:
  /// Claims the file, and makes it if it is not there. A pipe or a device is not claimed. An empty
  /// path claims nothing.
  explicit SoleWriter(const std::string& path);
  ~SoleWriter();
  SoleWriter(const SoleWriter&) = delete;
  SoleWriter& operator=(const SoleWriter&) = delete;

  /// @return empty if the file may be written: "FILE: another process is writing it", or why it
  /// cannot be opened, with errno. It must not be emptied then.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  std::string problem_;
  int fd_ = -1;
};

}  // namespace outrider
