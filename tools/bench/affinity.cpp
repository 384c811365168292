// Cores of this process through sched_getaffinity and sched_setaffinity.
#include "affinity.hpp"

#include <sched.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace ham::inline v1::bench {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

void pin_this_thread(int core) { pin_this_thread(std::vector<int>{core}); }

void pin_this_thread(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot pin to " + std::to_string(cores.size()) + " core(s) from core " +
                                std::to_string(cores.empty() ? -1 : cores.front()));
  }
}

}  // namespace ham::bench
