// The biased lock: mutual exclusion while the owner of the bias, the thread that revokes it, and others take it at
// once. The spin lock whose holder may take it again.
#include "explorer/production.hpp"
// The production code, with the shadows:
#include "base/biased_lock.hpp"
#include "base/recursive_spin_lock.hpp"

namespace {

using ham::base::biased_lock;
using ham::base::recursive_spin_lock;
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

/// Its holder takes it again.
struct guarded_again {
  recursive_spin_lock lock;
  std::uint32_t count = 0;

  void increment() {
    const std::uint32_t before = model::plain_load(&count, model::place::current());
    model::plain_store(&count, before + 1, model::place::current());
  }
  void pass() {
    lock.lock();
    pass_again();
    lock.unlock();
  }
  void try_to_pass(unsigned& passed) {
    if (!lock.try_lock()) return;
    pass_again();
    lock.unlock();
    ++passed;
  }

 private:
  void pass_again() {
    increment();
    lock.lock();
    increment();
    lock.unlock();
    increment();
  }
};

void start_again(unsigned threads, unsigned passes, unsigned tries) {
  auto* own = new guarded_again;
  auto* passed = new unsigned(0);
  for (unsigned i = 0; i < threads; ++i) {
    model::start_thread([=] {
      for (unsigned pass = 0; pass < passes; ++pass) own->pass();
    });
  }
  for (unsigned i = 0; i < tries; ++i) model::start_thread([=] { own->try_to_pass(*passed); });
  model::at_end([=] {
    const std::uint32_t sum = 3 * (threads * passes + *passed);
    model::check(model::plain_load(&own->count, model::place::current()) == sum, "a passage was lost");
    model::check(!own->lock.held(), "it was not given back");
    model::outcome(std::to_string(*passed));
  });
}
void two_take_it_again() { start_again(2, 2, 0); }
void again_with_a_try() { start_again(1, 2, 1); }

/// Whoever has the lock uses what was there when it was taken; who removes that waits until nobody has the lock.
void announced() {
  struct removable {
    recursive_spin_lock lock;
    std::atomic<bool> there{true};
    std::uint32_t members = 0;
  };
  auto* own = new removable;
  model::start_thread([=] {
    if (!own->lock.try_lock()) return;
    if (own->there.load(std::memory_order_seq_cst)) {
      static_cast<void>(model::plain_load(&own->members, model::place::current()));
      model::outcome("used");
    }
    own->lock.unlock();
  });
  model::start_thread([=] {
    own->there.store(false, std::memory_order_seq_cst);
    if (own->lock.held()) return;
    model::plain_store(&own->members, 1, model::place::current());
    model::outcome("removed");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return model::run(argc, argv,
                    {{"one thread", one_thread},
                     {"two threads", two_threads},
                     {"owner of the bias often", owner_often},
                     {"with one that only tries", with_a_try, {"0", "1"}, 2, 2},
                     {"without membarrier", without_membarrier},
                     {"three threads, no membarrier", three_without_membarrier, {}, 2, 2},
                     {"three threads", three_threads, {}, 2, 2},
                     {"taken again", two_take_it_again},
                     {"taken again, with a try", again_with_a_try, {"0", "1"}},
                     {"announced by the lock", announced, {"used", "removed"}}});
}
