// Steps in which the host waits in an event loop.
#include <sys/epoll.h>

#include <memory>
#include <utility>

#include "base/cpu.hpp"
#include "base/event_fds.hpp"
#include "ham/offload/event_fd.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {

/// Calls whose continuations the loop runs: each one once, and before the next step. One thread has the loop; between
/// its turns it takes all other steps, too.
void actor::event_loop(random_source& random) {
  if (number_ % max_threads != 0) return;
  const base::unique_fd loop = base::make_epoll();
  base::watch(loop.get(), offload::event_fd(), random.once_in(2) ? EPOLLIN : EPOLLIN | EPOLLET, nullptr);
  // A continuation that another thread has begun may end behind the loop's turn, which sees nothing of it.
  const base::unique_fd told_elsewhere = base::make_event();
  base::watch(loop.get(), told_elsewhere.get(), EPOLLIN, nullptr);
  struct watched {
    pending one;
    unsigned told = 0;
  };
  std::vector<std::unique_ptr<watched>> calls;
  std::size_t left = 0;
  const std::uint64_t count = 1 + random.below(8);
  for (std::uint64_t i = 0; i < count; ++i) {
    const node_t node = any_node(random);
    const call_number call = the_oracle->issue(node, stream_to(node));
    const std::int64_t takes = some_time(random);
    const bool throws = random.once_in(6);
    const bool takes_future = random.once_in(2);
    attempt(call, false, [&] {
      auto& added = *calls.emplace_back(std::make_unique<watched>());
      added.one = {throws ? offload::async(node, fn<&throwing>, call)
                          : offload::async(node, fn<&work>, call, std::int64_t{11}, takes),
                   call,
                   result_of(call, 11),
                   false,
                   throws,
                   false};
      ++left;
      const auto note_told = [&added, &left, elsewhere = told_elsewhere.get()] {
        if (++added.told != 1) running->fail("a continuation of an event loop runs twice");
        --left;
        base::signal_event(elsewhere);
      };
      if (takes_future) {
        std::move(added.one.result).on_result([&added, note_told](offload::future<std::int64_t> result) {
          added.one.result = std::move(result);
          note_told();
        });
      } else {
        added.one.result.on_ready(note_told);
      }
    });
  }
  constexpr unsigned max_turns = 64;  // in a row: news that another thread handles are news for the loop as well
  for (unsigned turn = 1; left != 0; ++turn) {
    if (turn % max_turns == 0) base::yield();
    epoll_event event{};
    const int ready = ::epoll_wait(loop.get(), &event, 1, -1);
    base::drain_event(told_elsewhere.get());
    if (ready == 1) offload::serve_event_fd();
  }
  for (const auto& each : calls) {
    if (each->told == 0) continue;  // it was not made
    if (!each->one.result.test()) running->fail("a continuation of an event loop runs before its future has settled");
    settle(each->one);
  }
}

}  // namespace ham::sim
