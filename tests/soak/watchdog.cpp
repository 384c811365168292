#include "soak/watchdog.hpp"

#include <unistd.h>

#include "base/clock.hpp"
#include "soak/samples.hpp"

namespace soak {

watchdog::watchdog(const std::vector<std::unique_ptr<worker>>& workers, const seats& targets,
                   std::chrono::seconds limit)
    : workers_(workers), seats_(targets), limit_(limit), thread_([this] { watch(); }) {}

watchdog::~watchdog() {
  stop_.store(true);
  thread_.join();
}

void watchdog::watch() {
  while (!stop_.load()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::int64_t now = base::now_ns();
    for (const auto& one : workers_) {
      if (one->verb() != nullptr && now - one->since_ns() > limit_.count()) give_up("a worker", now);
    }
    const std::int64_t since = replacing_since_ns.load();
    if (since != 0 && now - since > limit_.count()) give_up("the thread that replaces targets", now);
  }
}

/// Nothing of the library is asked any more: it may hang as well.
void watchdog::give_up(const char* who, std::int64_t now) const {
  std::string text = std::string(who) + " waits for more than " +
                     std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit_).count()) + " s.";
  for (const auto& one : workers_) {
    const char* const verb = one->verb();
    text += "\n  worker " + std::to_string(one->number()) + ": ";
    if (verb == nullptr) {
      text += "does nothing";
      continue;
    }
    text += "since " + std::to_string((now - one->since_ns()) / 1'000'000) + " ms in " + verb + ", node " +
            std::to_string(one->node());
  }
  if (const std::int64_t since = replacing_since_ns.load(); since != 0)
    text += "\n  the thread that replaces targets: since " + std::to_string((now - since) / 1'000'000) + " ms";
  text += "\n  host, process " + std::to_string(::getpid()) + ": " + describe_process(::getpid());
  for (std::size_t seat = 0; seat < seats_.size(); ++seat) {
    const std::int64_t pid = seats_.pid(seat);
    text += "\n  node " + std::to_string(seats_.at(seat)) + ", process " + std::to_string(pid) + ": " +
            describe_process(pid);
  }
  emit("hang", soak::quoted(text));
  ::_exit(4);
}

}  // namespace soak
