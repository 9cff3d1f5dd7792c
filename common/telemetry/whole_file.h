#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace outrider {

/// Writes a file completely or not at all: under another name first, PATH.partial, which then
/// replaces `path`. The text is on the disk before it has its name, so that neither a crash nor
/// a loss of power leaves half of it. What stands at PATH.partial is removed and not followed,
/// because somebody else may have put a link there.
/// @param mode  permissions of the file, from which those of the umask are taken
/// @throws std::runtime_error with the path and the cause, with errno: "FILE: cannot be written:
/// No space left on device (errno 28)"
void write_whole_file(const std::string& path, std::string_view text, mode_t mode = 0666);

/// Gives a file that was written under another name its own. The content is on the disk before it
/// has the name, and then the name is: what write_whole_file() does for files that are written
/// piece by piece. @return 0, or errno; `partial` is then left
int publish_file(const std::string& partial, const std::string& path);

}  // namespace outrider
