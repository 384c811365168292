// What the templates of offload::pool call in the library. Internal.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "ham/offload/detail/call_message.hpp"
#include "ham/offload/future.hpp"

namespace ham::inline v1::offload::detail {

class pool_state;

/// Throws ham::config_error.
[[nodiscard]] std::shared_ptr<pool_state> make_pool_state(std::vector<node_t> nodes, std::size_t per_node,
                                                          bool stoppable = false);
/// All nodes of the job but this one.
[[nodiscard]] std::vector<node_t> all_others();
[[nodiscard]] call_place first_place(const pool_state& of) noexcept;
[[nodiscard]] std::size_t pending_tasks(const pool_state& of);
[[nodiscard]] std::size_t living_nodes(const pool_state& of);
/// Waits until no task is pending, or the runtime has ended.
void await_idle(pool_state& of) noexcept;

/// A task's place on a node of a pool, which is given back when this goes: by its owner, or, as the continuation of the
/// task's call, when that settles.
struct pool_ticket : continuation {
  explicit pool_ticket(std::shared_ptr<pool_state> pool) noexcept;
  pool_ticket(const pool_ticket&) = delete;
  pool_ticket& operator=(const pool_ticket&) = delete;
  ~pool_ticket();

  std::shared_ptr<pool_state> of;
  std::size_t place = SIZE_MAX;  ///< none yet
};

/// A place on the least busy node. nullptr: there is none now, and the policy is not to wait. Throws ham::node_failure
/// if no node is left.
[[nodiscard]] std::unique_ptr<pool_ticket> enter_pool(const std::shared_ptr<pool_state>& pool, when_full policy);
/// Its node, in the runtime of the pool.
[[nodiscard]] destination destination_of(const pool_ticket& ticket) noexcept;
/// For who handles an exception of sending: takes the node out of the pool if it is lost, else rethrows.
void exclude_or_rethrow(const pool_ticket& ticket);
/// The place is given back when the call settles.
void leave_when_settled(std::unique_ptr<pool_ticket> ticket, call_slot& call);

/// A call that can be sent more than once.
struct repeatable_call {
  msg::handler_entry* function;
  result_decoder decode;
  /// Moves the outcome of the call, whose slot is given back, to the slot of the task.
  void (*hand_over)(call_slot& call, call_slot& task) noexcept;
  std::vector<std::byte> message;
  std::vector<node_t> handles;  ///< the processes of handles among the arguments
};
/// Sends it to the least busy node, and to others when that is lost. The slot of the task; nullptr as enter_pool().
[[nodiscard]] call_slot* start_repeatable(const std::shared_ptr<pool_state>& pool, when_full policy,
                                          repeatable_call call);

template <class Result>
void hand_result_over(call_slot& call, call_slot& task) noexcept {
  future<Result> settled = future_access::make<Result>(&call);
  fulfil<Result>(task, [&settled]() -> Result { return settled.get(); });
}

/// Its arguments are encoded at once. `where`: a node that it may go to.
template <class Plan, class Callable, class... Args>
[[nodiscard]] repeatable_call make_repeatable([[maybe_unused]] const call_place& where, const Callable& callable,
                                              const Args&... args) {
  using message = typename Plan::call::message;
  using result = typename Plan::result_type;
  repeatable_call made{&message::entry(), &slot_value<result>::decode, &hand_result_over<result>, {}, {}};
  Plan::with(
      [&](const auto& core, const auto&... values) {
#if HAM_CHECK_ADDRESSES
        check_addresses(current(), where, core, values...);
#endif
        made.message.resize(message::size(core, values...));
        append_nodes_of_handles(core, made.handles);
        (append_nodes_of_handles(values, made.handles), ...);
        msg::writer to(made.message.data(), made.message.size());
        message::encode(to, core, values...);
        to.expect_full();
      },
      callable, args...);
  return made;
}

// ---- map

/// The elements of a map, in chunks, and where their results go. Used by the thread of the map.
class map_chunks {
 public:
  /// The end of a chunk that begins at `begin`: behind its first element, at most `end`, and before `max_bytes` are
  /// exceeded.
  [[nodiscard]] virtual std::size_t fit(std::size_t begin, std::size_t end, std::size_t max_bytes) const = 0;
  /// Calls the function of the elements there.
  [[nodiscard]] virtual call_slot* send(const destination& to, std::size_t begin, std::size_t end) = 0;
  /// Takes over the settled call of these elements. Throws what it has failed with.
  virtual void receive(call_slot& answer, std::size_t begin, std::size_t end) = 0;
  /// The same for results that nobody wants any more.
  virtual void drop(call_slot& answer) noexcept = 0;

 protected:
  ~map_chunks() = default;
};

struct map_plan {
  std::size_t total;                                                      ///< elements
  std::size_t chunk;                                                      ///< of one message; 0: the pool decides
  bool may_repeat;                                                        ///< chunks of a lost node
  const std::function<void(std::size_t done, std::size_t)>* on_progress;  ///< never nullptr
};
[[noreturn]] void throw_wrong_count(std::size_t results, std::size_t elements);
void run_map(const std::shared_ptr<pool_state>& pool, map_chunks& chunks, const map_plan& plan);

}  // namespace ham::offload::detail
