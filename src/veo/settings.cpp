// What the environment says, and to whom.
#include "settings.hpp"

#include <sys/auxv.h>

#include <cstdlib>
#include <string>

#include "ham/error.hpp"

namespace ham::veo {

const char* variable(const char* name) noexcept {
  const char* const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

bool has_variable(const char* name) noexcept { return std::getenv(name) != nullptr; }

const char* trusted_variable(const char* name) {
  const char* const text = variable(name);
  if (text != nullptr && ::getauxval(AT_SECURE) != 0) {
    throw config_error(std::string(name) +
                       " is set, but this program has privileges that its caller lacks (setuid, setgid or file "
                       "capabilities) and takes no names of programs, code or machines from its caller; unset it");
  }
  return text;
}

}  // namespace ham::veo
