// By the affinity mask, which also knows of taskset and of cpusets of containers.
#include "cores.hpp"

#include <pthread.h>
#include <sched.h>

namespace cg {

std::vector<int> usable_cores() {
  std::vector<int> cores;
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  }
  return cores;
}

void stay_on(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

}  // namespace cg
