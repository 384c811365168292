// Cores for nodes, and how jobs of one machine keep out of each other's way.
#include "job/placement.hpp"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <set>

#include "base/core_list.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {

placement_wish parse_placement(const std::string& text) {
  if (text.empty() || text == "auto") return {};
  if (text == "none") return {false, {}};
  try {
    return {false, base::parse_cores(text, ',')};
  } catch (const config_error& problem) {
    throw config_error(std::string(problem.what()) + "; auto and none are the other settings of the affinity");
  }
}

std::vector<int> order_cores(std::vector<int> usable, int current, const std::map<int, std::vector<int>>& siblings) {
  std::sort(usable.begin(), usable.end());
  const auto here = std::find(usable.begin(), usable.end(), current);
  if (here != usable.end()) std::rotate(usable.begin(), here, usable.end());
  std::vector<int> first;
  std::vector<int> later;
  std::set<int> in_use;
  for (const int core : usable) {
    (in_use.contains(core) ? later : first).push_back(core);
    const auto shared = siblings.find(core);
    if (shared != siblings.end()) in_use.insert(shared->second.begin(), shared->second.end());
  }
  first.insert(first.end(), later.begin(), later.end());
  return first;
}

std::vector<int> cores_to_hand_out() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::vector<int> usable;
  std::map<int, std::vector<int>> siblings;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(static_cast<unsigned>(core), &set)) continue;
    usable.push_back(core);
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list");
    std::string text;
    if (!std::getline(file, text)) continue;
    try {
      siblings[core] = base::parse_cores(text, ',');
    } catch (const config_error&) {  // then it has none that we know of
    }
  }
  return order_cores(std::move(usable), ::sched_getcpu(), siblings);
}

bool core_claims::take(int core) {
  if (held_.contains(core)) return false;
  base::unique_fd claim(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!claim) return false;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "ham/core/" + std::to_string(core);
  std::memcpy(name.sun_path + 1, text.data(), text.size());  // a 0 in front: in no file system
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (::bind(claim.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) return false;
  held_.emplace(core, std::move(claim));
  return true;
}

std::vector<int> core_claims::take(std::size_t count, const std::vector<int>& from) {
  std::vector<int> taken;
  for (const int core : from) {
    if (taken.size() == count) break;
    if (take(core)) taken.push_back(core);
  }
  if (taken.size() == count) return taken;
  for (const int core : taken) release(core);
  return {};
}

}  // namespace ham::detail
