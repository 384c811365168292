#include "runtime/message_transfer.hpp"

#include <atomic>

#include "base/log.hpp"
#include "ham/offload/when.hpp"

namespace ham::inline v1::offload::detail {

namespace {

/// If it is one of this node: that of a call says more.
future<void> named(future<void> made, const one_sided& what) {
  call_slot& slot = *future_access::slot(made);
  if (slot.function == nullptr) slot.position = ham::detail::position_of(what.verb(), what.node);
  return made;
}

}  // namespace

future<void> join(engine& at, const one_sided& what, std::vector<future<void>> parts) {
  if (parts.size() == 1) return named(std::move(parts.front()), what);
  const engine_scope scope(&at);
  auto all_done = when_all(std::move(parts)).then([](std::vector<future<void>> all) {
    std::exception_ptr first;
    for (const auto& one : all) {
      if (std::exception_ptr why = one.error(); first == nullptr) first = std::move(why);
    }
    if (first != nullptr) std::rethrow_exception(first);
  });
  return named(std::move(all_done), what);
}

future<void> join_bounded(engine& at, const one_sided& what, std::vector<future<void>> parts) {
  const engine_scope scope(&at);
  auto all_done = when_all(std::move(parts)).then([what](std::vector<future<void>> all) {
    bool late = false;
    bool begun = false;
    bool stopped = false;
    std::exception_ptr first;  // of another kind
    for (const auto& one : all) {
      try {
        if (std::exception_ptr why = one.error(); why != nullptr) std::rethrow_exception(std::move(why));
        begun = true;
      } catch (const deadline_exceeded& why) {
        late = true;
        begun = begun || why.outcome() != call_outcome::not_run;
      } catch (const operation_cancelled& why) {
        stopped = true;
        begun = begun || why.outcome() != call_outcome::not_run;
      } catch (...) {
        if (first == nullptr) first = std::current_exception();
      }
    }
    if (first != nullptr) std::rethrow_exception(first);
    if (stopped) throw operation_cancelled("stopped", begun ? call_outcome::may_have_run : call_outcome::not_run);
    if (late) throw what.late(begun);
  });
  return named(std::move(all_done), what);
}

future<void> unsent_part(engine& at, const one_sided& what) {
  return ready_or_failed(at, what.verb(), what.node,
                         [] { throw deadline_exceeded("not sent", call_outcome::not_run); });
}

future<void> stopped_part(engine& at, const one_sided& what) {
  return ready_or_failed(at, what.verb(), what.node,
                         [] { throw operation_cancelled("not sent", call_outcome::not_run); });
}

void warn_of_messages(node_t node, std::size_t bytes) {
  constexpr std::size_t noticed_bytes = std::size_t{4} << 20;
  static std::atomic<bool> told{false};
  if (bytes < noticed_bytes || told.exchange(true)) return;
  base::log("runtime", base::log_level::warning,
            "%zu MiB of node %d's memory travel in messages, several times slower than a copy (the memory was "
            "not allocated with ham::offload::allocate); allocate it with offload::allocate<T>(%d, n), if it is "
            "copied often",
            bytes >> 20, node, node);
}

}  // namespace ham::offload::detail
