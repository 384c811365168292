// By the affinity mask, which also knows of taskset and of cpusets of containers.
#include "common/cores.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

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

namespace {

/// As the kernel lists it: "0-1,8". Nothing: it is not known.
std::vector<int> siblings_of(int core) {
  std::ifstream list("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list");
  std::vector<int> all;
  int first = 0;
  while (list >> first) {
    int last = first;
    if (list.peek() == '-') list.ignore() >> last;
    for (int one = first; one <= last; ++one) all.push_back(one);
    if (list.peek() == ',') list.ignore();
  }
  return all;
}

}  // namespace

int core_apart_from(int taken) {
  const std::vector<int> siblings = siblings_of(taken);
  int second_best = -1;
  for (const int core : usable_cores()) {
    if (core == taken) continue;
    if (std::find(siblings.begin(), siblings.end(), core) == siblings.end()) return core;
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
