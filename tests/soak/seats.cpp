#include "soak/seats.hpp"

#include <signal.h>

#include <filesystem>
#include <thread>

#include "soak/plants.hpp"
#include "soak/problems.hpp"

namespace soak {
namespace {

using namespace ham;
using namespace std::chrono_literals;

std::string program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace

seats::seats(std::string spare, std::size_t spares)
    : spare_(std::move(spare)), fixed_(offload::num_nodes() - 1 - spares), sitting_(offload::num_nodes() - 1) {
  for (std::size_t seat = 0; seat < size(); ++seat) {
    const auto node = static_cast<node_t>(seat + 1);
    sitting_[seat] = node;
    ever_.push_back(node);
    pids_.push_back(offload::get_node_descriptor(node).pid());
  }
}

std::vector<std::size_t> seats::started_here() const {
  std::vector<std::size_t> found;
  for (std::size_t seat = fixed_; starts_here() && seat < size(); ++seat) found.push_back(seat);
  return found;
}

bool seats::given_up(node_t node) const {
  const std::lock_guard guard(mutex_);
  return given_up_.contains(node);
}

std::map<node_t, ending> seats::ended() const {
  const std::lock_guard guard(mutex_);
  return given_up_;
}

std::vector<node_t> seats::ever() const {
  const std::lock_guard guard(mutex_);
  return ever_;
}

std::int64_t seats::pid(std::size_t seat) const {
  const std::lock_guard guard(mutex_);
  return pids_[seat];
}

void seats::end(std::size_t seat, node_t node, bool kill) {
  {
    const std::lock_guard guard(mutex_);
    if (!kill || !planted(plant::unannounced_kill)) given_up_.emplace(node, kill ? ending::killed : ending::removed);
  }
  if (!kill) {
    ++removals_;
    offload::remove_node(node);
    return;
  }
  ++kills_;
  if (!planted(plant::unkilled)) ::kill(static_cast<pid_t>(pid(seat)), SIGKILL);
  const auto until = std::chrono::steady_clock::now() + time_limit(plant::unkilled);
  while (offload::alive(node)) {
    if (std::chrono::steady_clock::now() > until) {
      report("node " + std::to_string(node) + " was killed and still counts as alive");
      return;
    }
    std::this_thread::sleep_for(200us);
  }
}

bool seats::replace_one(std::mt19937_64& random) {
  if (fixed_ >= size()) return false;
  while (planted(plant::hanging_replacement)) std::this_thread::sleep_for(1s);
  const std::size_t seat = fixed_ + random() % (size() - fixed_);
  const node_t before = at(seat);
  end(seat, before, random() % 4 != 0);
  const bool spawns = starts_here() && random() % 2 == 0;
  const node_t after = spawns ? offload::spawn(spare_, program()) : offload::add_node(spare_);
  if (spawns) ++spawned_;
  const std::int64_t pid = offload::get_node_descriptor(after).pid();
  const std::lock_guard guard(mutex_);
  pids_[seat] = pid;
  ever_.push_back(after);
  sitting_[seat].store(after);
  return true;
}

}  // namespace soak
