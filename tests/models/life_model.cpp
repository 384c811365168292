// The life word: a process that holds it and dies at any moment, and processes that watch it. Production life_watch,
// with the kernel's part of robust futexes and futex_waitv as a shadow.
#include "explorer/production.hpp"
// System headers that the source below includes:
#include <sched.h>
#include <sys/resource.h>

#include "shadow/futex.hpp"
#define syscall model_syscall
// The production code, with the shadows:
#include "base/life_word.cpp"

void ham::base::sleep_ns(std::int64_t) noexcept { model::check(false, "futex_waitv is refused"); }

namespace {

using namespace ham::base;

struct job {
  model::futexes kernel;
  life_word held{0};
  life_word own[2]{};
  std::atomic<unsigned> told[2]{};
};

job* make() {
  auto* const own = new job;
  model::the_futexes = &own->kernel;
  return own;
}

/// A process that is killed when it holds its word.
void live_and_die(job& own) {
  new life_watch(own.held, [](std::uint64_t) { model::check(false, "a death that nobody died"); });
  own.kernel.holder_dies(&own.held);
}

/// A process that watches the word, and must be told.
void watch(job& own, unsigned which) {
  auto* const watching = new life_watch(own.own[which], [&own, which](std::uint64_t cookie) {
    model::check(cookie == 7, "the death of another one");
    own.told[which].fetch_add(1);
  });
  watching->watch(own.held, 7);
  while (own.told[which].load() == 0) model::pause();
}

void told_once(job& own, unsigned watchers) {
  for (unsigned i = 0; i < watchers; ++i) model::check(own.told[i].load() == 1, "it was told another number of times");
}

void start(unsigned watchers) {
  job* const own = make();
  for (unsigned i = 0; i < watchers; ++i) model::start_thread([=] { watch(*own, i); });
  model::start_thread([=] { live_and_die(*own); });
  model::at_end([=] { told_once(*own, watchers); });
}
void one_watcher() { start(1); }
void two_watchers() { start(2); }

}  // namespace

int main(int argc, char** argv) {
  return model::run(argc, argv, {{"one watcher", one_watcher, {}, 3, 2}, {"two watchers", two_watchers, {}, 2, 0}});
}
