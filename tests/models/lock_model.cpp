// The biased lock: mutual exclusion while the owner of the bias, the thread that revokes it, and others take it at
// once.
#include "explorer/production.hpp"
// The production code, with the shadows:
#include "base/biased_lock.hpp"

namespace {

using ham::base::biased_lock;
namespace kernel = model::kernel;

/// A counter that only the lock keeps from races.
struct guarded {
  biased_lock lock;
  std::uint32_t count = 0;
};

void increment(guarded& what) {
  const std::uint32_t before = model::plain_load(&what.count, model::place::current());
  model::plain_store(&what.count, before + 1, model::place::current());
}

void pass(guarded& what, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    what.lock.lock();
    increment(what);
    what.lock.unlock();
  }
}

void try_to_pass(guarded& what, unsigned& passed) {
  if (!what.lock.try_lock()) return;
  increment(what);
  what.lock.unlock();
  ++passed;
}

/// What each thread does: how often it passes the lock. `tries` of them only try.
void start(const std::vector<unsigned>& passes, unsigned tries, bool membarrier = true) {
  kernel::reset(membarrier ? ~0U : 0U);
  auto* own = new guarded;
  auto* passed = new unsigned(0);
  unsigned sum = 0;
  for (const unsigned times : passes) {
    model::start_thread([=] { pass(*own, times); });
    sum += times;
  }
  for (unsigned i = 0; i < tries; ++i) model::start_thread([=] { try_to_pass(*own, *passed); });
  model::at_end([=] {
    model::check(model::plain_load(&own->count, model::place::current()) == sum + *passed, "a passage was lost");
    model::outcome(std::to_string(*passed));
  });
}

void one_thread() { start({3}, 0); }
void two_threads() { start({2, 2}, 0); }
void owner_often() { start({3, 1}, 0); }
void three_threads() { start({1, 1, 1}, 0); }
void with_a_try() { start({2, 1}, 1); }
void without_membarrier() { start({2, 2}, 0, false); }
void three_without_membarrier() { start({1, 1, 1}, 0, false); }

}  // namespace

int main(int argc, char** argv) {
  return model::run(argc, argv,
                    {{"one thread", one_thread},
                     {"two threads", two_threads},
                     {"owner of the bias often", owner_often},
                     {"with one that only tries", with_a_try, {"0", "1"}, 2, 2},
                     {"without membarrier", without_membarrier},
                     {"three threads, no membarrier", three_without_membarrier, {}, 2, 2},
                     {"three threads", three_threads, {}, 2, 2}});
}
