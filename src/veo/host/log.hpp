// What the library says to people, on stderr.
#pragma once

#include <string>

namespace ham::inline v1::veo {

void say(const std::string& text) noexcept;
/// Only if VEO_LOG_DEBUG was set when the library was loaded.
void trace(const std::string& text) noexcept;

}  // namespace ham::veo
