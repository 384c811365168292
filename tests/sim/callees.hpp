// What the nodes of a simulated job are asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload.hpp"
#include "ham/offload/group.hpp"
#include "ham/offload/pool.hpp"
#include "sim/oracle.hpp"

namespace ham::inline v1::sim {

/// Of the simulation that runs.
extern oracle* the_oracle;
/// Remote objects that exist.
extern int objects_alive;

using call_number = std::uint32_t;

[[nodiscard]] std::int64_t result_of(call_number call, std::int64_t value);
std::int64_t work(call_number call, std::int64_t value, std::int64_t takes_ns);
void note(call_number call, std::int64_t takes_ns);
std::vector<std::int32_t> reversed(call_number call, std::vector<std::int32_t> values);
/// Throws std::runtime_error with these words.
std::int64_t throwing(call_number call);
[[nodiscard]] std::string words_of(call_number call);
/// From node to node; the last one answers. `load` makes the messages longer.
std::int64_t along(call_number call, std::vector<node_t> route, std::vector<call_number> calls, std::vector<char> load);
/// Gives the number of bytes.
std::int64_t swallow(call_number call, std::vector<char> load);
/// Sends so many bytes to another node in each of these calls, all at once; gives the number of bytes.
std::int64_t pump(call_number call, node_t to, std::vector<call_number> calls, std::uint32_t bytes);

/// Polls until it is stopped, or for a while if nobody asks. Gives whether it was.
std::int64_t until_stopped(call_number call);
/// Calls until_stopped on another node, as `inner`; then work, as the next number, which a stopped function cannot;
/// then work behind a shield, as the number after that. Gives whether it was stopped.
std::int64_t until_stopped_there(call_number call, node_t to, call_number inner);

/// The first `deaths` times that it runs, the process is killed in it; then as work.
std::int64_t work_after_deaths(call_number call, std::int64_t value, std::uint32_t deaths);
/// The same, but that it then polls until it is stopped.
std::int64_t until_stopped_behind_deaths(call_number call, std::uint32_t deaths);
/// Calls that by retry(), as `inner`, and then work, as the next number, which a stopped function cannot. Gives whether
/// it was stopped.
std::int64_t until_retry_is_stopped(call_number call, node_t number, call_number inner, std::uint32_t deaths);
inline constexpr unsigned max_retries = 3;
/// Calls work on another node, as `inner`, whose process it tries to end: it has not started that.
std::int64_t end_from_here(call_number call, node_t to, call_number inner, std::int64_t takes_ns);
/// Its process dies when it has answered.
std::int64_t answer_and_die(call_number call);
[[nodiscard]] std::int64_t last_answer_of(call_number call);
/// Does not return as long as its host lives, but after much more time than a node may hang. Gives -1.
std::int64_t hang(call_number call);
/// Takes more time than a node may hang, and gives signs of life meanwhile.
std::int64_t work_long(call_number call, std::int64_t value);

// Of groups: the calls of the nodes have numbers from `first` on, in their order.
std::int64_t work_of_member(call_number first, std::int64_t value, std::int64_t takes_ns);
std::int64_t until_member_is_stopped(call_number first);
/// What is reduced: functions x -> factor * x + sum, one behind the other, modulo 2^64. Their order matters.
using chain_link = std::pair<std::uint64_t, std::uint64_t>;
[[nodiscard]] chain_link link_of(call_number call, std::int64_t value);
[[nodiscard]] chain_link chained(const chain_link& first, const chain_link& then);
chain_link link_of_member(call_number first, std::int64_t value, std::int64_t takes_ns);

// Of graphs: the calls of the stages have numbers from `first` on, in their order.
[[nodiscard]] std::int64_t result_of_stage(call_number first, std::uint32_t index, std::int64_t one,
                                           std::int64_t other);
std::int64_t stage(call_number first, std::uint32_t index, std::int64_t one, std::int64_t other, std::int64_t takes_ns);
/// Of a repeat: the call of an iteration, behind so many. Gives how many there are then.
std::int64_t iteration(call_number first, std::int64_t done, std::int64_t takes_ns);
bool has_iterated(std::int64_t done, std::int64_t wanted);

/// A stage that begins when others have ended; `behind`: those of the calls from `first` on.
std::int64_t stage_behind(call_number first, std::uint32_t index, std::vector<std::uint32_t> behind, std::int64_t one,
                          std::int64_t other);
/// The same that polls until it is stopped, or for a while if nobody asks.
std::int64_t polling_stage(call_number first, std::uint32_t index, std::vector<std::uint32_t> behind, std::int64_t one,
                           std::int64_t other);
/// What goes from iteration to iteration of a repeat.
struct turn {
  std::int64_t done;  ///< iterations
  std::int64_t value;
};
/// Of so many stages of an iteration; the last one ends it.
struct stage_of_turn {
  std::uint32_t index;
  std::uint32_t width;
};
turn first_turn(std::int64_t value);
[[nodiscard]] turn result_of_turn(call_number first, stage_of_turn which, turn one, turn other);
/// Begins when all stages of the iteration before have ended, and those of this one that are in `behind`. `given`, if
/// it is not -1, stands for the value of `other`.
turn stage_of_repeat(call_number first, stage_of_turn which, std::vector<std::uint32_t> behind, turn one, turn other,
                     std::int64_t given, std::int64_t takes_ns);
bool is_last_turn(turn last, std::int64_t wanted);
std::int64_t stage_behind_repeat(call_number first, std::uint32_t index, turn last, std::int64_t given,
                                 std::int64_t takes_ns);
/// Gives the sum of memory of the node, as sum_of; or adds to each element, and gives how many there are.
std::int64_t data_in_stage(call_number first, std::uint32_t index, std::vector<std::uint32_t> behind,
                           offload::buffer_ptr<std::int32_t> at, std::uint64_t count, std::int32_t adds);

/// With a carry that is lost.
[[nodiscard]] constexpr std::int32_t sum_without_carry(std::int32_t one, std::int32_t other) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(one) + static_cast<std::uint32_t>(other));
}

/// A deadline as the caller knows it: it is not earlier, and so much time is left at most; INT64_MAX: there is none.
struct deadline_bounds {
  std::int64_t least_ns = INT64_MAX;
  std::int64_t left_ns = INT64_MAX;
};
/// A call that a function makes.
struct deadline_hop {
  node_t to = 0;
  call_number call = 0;
  std::int64_t own_ns = 0;    ///< time of its own; 0: what the function has
  std::int64_t shielded = 0;  ///< not 0: it has nothing of the function's
};
/// Checks this_call::deadline(), and makes the calls of `route`, each from the function of the one before. The last one
/// waits until its time is over, if `awaits_it`. Gives how many it has made; less than 0: one was late, or stopped.
std::int64_t see_deadline(call_number call, deadline_bounds given, std::vector<deadline_hop> route, bool awaits_it);
/// The same of a member of a group, and of a stage of a graph, which gives how many there were with it.
std::int64_t see_deadline_of_member(call_number first, deadline_bounds given, bool awaits_it);
std::int64_t see_deadline_of_stage(call_number first, std::uint32_t index, deadline_bounds given, std::int64_t stages);

/// A number that depends on each of the values and on their order.
[[nodiscard]] std::int64_t sum_of(const std::int32_t* values, std::size_t count);
/// The same of memory of the node that is called.
std::int64_t sum_at(call_number call, offload::buffer_ptr<std::int32_t> at, std::uint64_t count);

/// For a map: the number of a call, and how long it takes.
struct map_item {
  call_number call;
  std::int64_t takes_ns;
};
std::int64_t work_item(map_item one);

class counter {
 public:
  explicit counter(std::int64_t begin) : value_(begin) { ++objects_alive; }
  ~counter() { --objects_alive; }
  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;
  /// Gives the new value.
  std::int64_t add(call_number call, std::int64_t what);

 private:
  std::int64_t value_;
};
/// Adds to an object from the node that is called.
std::int64_t add_to(call_number call, offload::remote_ref<counter> object, call_number inner, std::int64_t what);

/// What a node that nobody uses any more still has of calls: pending ones, messages that wait to leave or to begin,
/// room that is not given back.
std::string left_over();

/// An execution policy of the user's own.
template <class Message>
struct plain_policy {
  static void handler(void* buffer) { msg::execution_policy_direct<Message>::handler(buffer); }
};

}  // namespace ham::sim
