#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace outrider {

/// Says why there can be no file of this name, "is a directory; name a file"; empty if there can.
/// Its directory must be there and writable, and a file must not take the place of a device, a
/// pipe, a socket, or a link to one: root would replace /dev/null. Ask before work whose result
/// goes there; the functions below refuse the latter too, because it may come meanwhile.
std::string why_no_file(const std::string& path);

/// Returns a name beside `path` for a file that is not whole yet: PATH.0123456789abcdef.partial,
/// with digits that are drawn for each call. Several writers of one file thus never write into, or
/// publish, what another has begun. One that is killed leaves its partial file, which nothing
/// reads; see remove_partial_files().
std::string partial_name(const std::string& path);

/// Removes what killed writers have left in a directory. @pre nobody else writes there
void remove_partial_files(const std::string& directory);

/// Writes a file completely or not at all: under its partial_name() first, which then replaces
/// `path`. The text is on the disk before it has its name, so that neither a crash nor a loss of
/// power leaves half of it. Of several writers, the last one's text stays, whole.
/// @param mode  permissions of the file, from which those of the umask are taken
/// @throws std::runtime_error with the path and the cause, with errno: "FILE: cannot be written:
/// No space left on device (errno 28)"
void write_whole_file(const std::string& path, std::string_view text, mode_t mode = 0666);

/// Gives a file that was written under another name its own. The content is on the disk before it
/// has the name, and then the name is: what write_whole_file() does for files that are written
/// piece by piece. @return 0, or errno; `partial` is then left
int publish_file(const std::string& partial, const std::string& path);

}  // namespace outrider
