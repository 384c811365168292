// Lines on stderr.
#include "log.hpp"

#include <unistd.h>

#include <cstdio>

#include "settings.hpp"

namespace ham::inline v1::veo {
namespace {
const bool tracing = has_variable("VEO_LOG_DEBUG");
}  // namespace

void say(const std::string& text) noexcept {
  std::fprintf(stderr, "[VH] [PID %d] ERROR: %s\n", ::getpid(), text.c_str());
}

void trace(const std::string& text) noexcept {
  if (tracing) std::fprintf(stderr, "[VH] [PID %d] %s\n", ::getpid(), text.c_str());
}

}  // namespace ham::veo
