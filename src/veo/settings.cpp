// What the environment says, and to whom.
#include "settings.hpp"

#include <sched.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <string>

#include "base/numbers.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::veo {

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

std::vector<int> usable_cores() {
  cpu_set_t all;
  CPU_ZERO(&all);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &all)) cores.push_back(core);
  }
  return cores;
}

std::optional<std::size_t> core_number() {
  const char* const text = variable("VE_CORE_NUMBER");
  if (text == nullptr) return std::nullopt;
  const auto number = base::parse_integer(text, 0, INT64_MAX);
  if (!number) throw config_error("VE_CORE_NUMBER=" + std::string(text) + " is no number; it counts cores from 0");
  const std::size_t count = usable_cores().size();
  if (static_cast<std::size_t>(*number) >= count) {
    throw config_error("VE_CORE_NUMBER=" + std::string(text) + ", but this process may use " + std::to_string(count) +
                       (count == 1 ? " core" : " cores") + ", which are counted from 0");
  }
  return static_cast<std::size_t>(*number);
}

}  // namespace ham::veo
