// What the environment says, and to whom.
#include "settings.hpp"

#include <sched.h>
#include <sys/auxv.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

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
  const std::string_view digits = text;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw config_error("VE_CORE_NUMBER=" + std::string(digits) + " is no number; it counts cores from 0");
  }
  const std::size_t count = usable_cores().size();
  if (number >= count) {
    throw config_error("VE_CORE_NUMBER=" + std::string(digits) + ", but this process may use " + std::to_string(count) +
                       (count == 1 ? " core" : " cores") + ", which are counted from 0");
  }
  return number;
}

}  // namespace ham::veo
