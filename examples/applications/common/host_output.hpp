// A file of the host that targets write: what a system call that is forwarded to the host does there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace app::host_output {

/// On the host: opens FILE, or without a name a temporary file that nobody else sees. Throws bad_input.
void open(const std::string& file);
/// On the host: empties it.
void reset();
/// On the host: all that is in it.
std::string content();

/// Writes all of `text`; the seconds that the system calls took. On the host; targets call it there.
double write(std::string_view text);
/// The same for a target that has its text in a string: offload::sync(0, fn<&write_text>, text).
double write_text(const std::string& text);

/// `text` from whichever node, and the part of the time that the file took. Blocking.
double forward(const std::string& text);

}  // namespace app::host_output
