// By the affinity mask, which also knows of taskset and of cpusets of containers.
#include "common/cores.hpp"

#include <pthread.h>
#include <sched.h>

#include "bench/topology.hpp"

namespace app {

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

int core_apart_from(int taken) {
  const std::vector<int> usable = usable_cores();
  const ham::bench::topology machine(usable);
  int second_best = -1;
  for (const int core : usable) {
    if (core == taken) continue;
    if (machine.kind_of(taken, core) != ham::bench::pair_kind::siblings) return core;
    if (second_best < 0) second_best = core;
  }
  return second_best;
}

std::string target_per_core() {
  const std::vector<int> usable = usable_cores();
  if (usable.empty()) return "shm:1";
  std::string cores;
  for (const int core : usable) cores += (cores.empty() ? "@" : "+") + std::to_string(core);
  return "shm:" + std::to_string(usable.size()) + cores;
}

}  // namespace app
