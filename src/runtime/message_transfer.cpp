#include "runtime/message_transfer.hpp"

#include <atomic>
#include <cstdio>

#include "ham/offload/when.hpp"

namespace ham::offload::detail {

future<void> join(engine& at, std::vector<future<void>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  const engine_scope scope(&at);
  return when_all(std::move(parts)).then([](std::vector<future<void>> all) {
    for (auto& one : all) one.get();
  });
}

future<void> join_bounded(engine& at, std::vector<future<void>> parts, const one_sided& what) {
  const engine_scope scope(&at);
  return when_all(std::move(parts)).then([what](std::vector<future<void>> all) {
    bool late = false;
    bool begun = false;
    for (auto& one : all) {
      try {
        one.get();
        begun = true;
      } catch (const deadline_exceeded& why) {
        late = true;
        begun = begun || why.outcome() != call_outcome::not_run;
      }
    }
    if (late) throw what.late(begun);
  });
}

future<void> unsent_part(engine& at) {
  return ready_or_failed(at, [] { throw deadline_exceeded("not sent", call_outcome::not_run); });
}

void warn_of_messages(node_t node, std::size_t bytes) {
  constexpr std::size_t noticed_bytes = std::size_t{4} << 20;
  static std::atomic<bool> told{false};
  if (bytes < noticed_bytes || told.exchange(true)) return;
  std::fprintf(stderr,
               "ham: %zu MiB of node %d's memory travel in messages, several times slower than a copy (the memory was "
               "not allocated with ham::offload::allocate); allocate it with offload::allocate<T>(%d, n), if it is "
               "copied often\n",
               bytes >> 20, node, node);
}

}  // namespace ham::offload::detail
