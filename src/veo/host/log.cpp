// Lines on stderr.
#include "log.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ham::veo {
namespace {
const bool tracing = std::getenv("VEO_LOG_DEBUG") != nullptr;
}  // namespace

void say(const std::string& text) noexcept {
  std::fprintf(stderr, "[VH] [PID %d] ERROR: %s\n", ::getpid(), text.c_str());
}

void trace(const std::string& text) noexcept {
  if (tracing) std::fprintf(stderr, "[VH] [PID %d] %s\n", ::getpid(), text.c_str());
}

}  // namespace ham::veo
