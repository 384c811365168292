// Calls of groups: which node passes them on to which, and how its answer comes together.
#include "ham/offload/group.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <string>

#include "core/batch_reply.hpp"
#include "core/call_stops.hpp"
#include "core/deadline_errors.hpp"
#include "core/peer.hpp"
#include "core/thread_state.hpp"
#include "ham/offload/detail/pool_calls.hpp"
#include "ham/offload/detail/reverse_calls.hpp"
#include "runtime/engine.hpp"
#include "runtime/group_calls.hpp"

namespace ham::inline v1 {

namespace detail {
namespace {

/// Makes the result of the call of a part: the records, as they are. One for each kind, so that is_passed_on and
/// waits_for_others can tell.
template <bool PassedOn, bool HasOthers>
void keep_records(call_slot& slot, msg::reader& reply) {
  const std::span<const std::byte> bytes = reply.view(reply.remaining());
  slot_value<std::vector<std::byte>>::construct(slot, bytes.begin(), bytes.end());
}

[[nodiscard]] std::vector<std::byte> record_of(const std::exception_ptr& why, node_t seen_by, std::uint32_t count) {
  try {
    std::rethrow_exception(why);
  } catch (...) {
    return group_error_record(seen_by, count);
  }
}

constinit std::atomic<int> under_way{0};

/// Nodes that a message is for, and where they are in the group.
struct node_range {
  std::span<const node_t> nodes;
  std::uint32_t first;
};

}  // namespace

int group_calls_under_way() noexcept { return under_way.load(std::memory_order_acquire); }

bool is_passed_on(const call_slot& call) noexcept {
  return call.decode == &keep_records<true, false> || call.decode == &keep_records<true, true>;
}

bool waits_for_others(const call_slot& call) noexcept {
  return call.decode == &keep_records<false, true> || call.decode == &keep_records<true, true>;
}

/// Takes the answers of at most group_fan_out parts, and of the own node; goes when all have come.
class group_gather {
 public:
  /// Of calls that only their node answers, and of those that it passes on.
  struct decoders {
    result_decoder alone;
    result_decoder with_others;
  };
  group_gather(node_t self, const decoders& decode) noexcept : self_(self), decode_(decode) {
    under_way.fetch_add(1, std::memory_order_relaxed);
  }
  group_gather(const group_gather&) = delete;
  group_gather& operator=(const group_gather&) = delete;
  virtual ~group_gather() { under_way.fetch_sub(1, std::memory_order_release); }

  /// The own node answers for itself, with the first of all answers.
  void add_own(std::uint32_t position) noexcept { next().answer = {position, 1, {}}; }
  void own_answer(std::vector<std::byte> record) noexcept { parts_[0].answer.records = std::move(record); }
  void own_error() noexcept { parts_[0].answer.records = record_or_nothing(std::current_exception(), 1); }

  /// Sends a message to the first nodes of the parts of `to`.
  void send(engine& at, const node_range& to, std::uint32_t total, const group_message_bytes& message,
            const group_terms& terms) noexcept {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < group_parts(to.nodes.size()); ++i) {
      const std::size_t count = group_part_size(to.nodes.size(), i);
      send_part(at, {to.nodes.subspan(begin, count), to.first + static_cast<std::uint32_t>(begin)}, total, message,
                terms);
      begin += count;
    }
  }
  /// An answer has come, or, once, the sender is ready.
  void arrived() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    try {
      std::vector<group_answer> answers;
      answers.reserve(used_);
      for (std::size_t i = 0; i < used_; ++i) answers.push_back(std::move(parts_[i].answer));
      finish(answers);
    } catch (...) {
      give_up();
    }
    delete this;
  }

 protected:
  [[nodiscard]] node_t self() const noexcept { return self_; }
  /// The calls to the parts, by their numbers.
  [[nodiscard]] const group_parts_sent& sent() const noexcept { return sent_; }

 private:
  struct part : continuation {
    group_gather* of = nullptr;
    call_slot* call = nullptr;
    std::uint32_t asked = 0;  ///< nodes that the call is for; those before have failed, and are in the records
    group_answer answer;
  };

  virtual void finish(std::vector<group_answer>& parts) = 0;
  /// With the exception that is being handled.
  virtual void give_up() noexcept = 0;

  [[nodiscard]] part& next() noexcept { return parts_[used_++]; }

  /// Without memory for it: no bytes, which the caller finds too few.
  [[nodiscard]] std::vector<std::byte> record_or_nothing(const std::exception_ptr& why, std::uint32_t count) noexcept {
    try {
      return record_of(why, self_, count);
    } catch (...) {
      return {};
    }
  }
  static void append(std::vector<std::byte>& to, const std::vector<std::byte>& more) noexcept {
    try {
      to.insert(to.end(), more.begin(), more.end());
    } catch (...) {
      to.clear();
    }
  }

  /// A node to which nothing can be sent fails for itself; the next one takes its place.
  void send_part(engine& at, const node_range& to, std::uint32_t total, const group_message_bytes& message,
                 const group_terms& terms) noexcept {
    part& one = next();
    one.of = this;
    one.answer = {to.first, static_cast<std::uint32_t>(to.nodes.size()), {}};
    for (std::size_t skipped = 0; skipped < to.nodes.size(); ++skipped) {
      const node_range rest{to.nodes.subspan(skipped), to.first + static_cast<std::uint32_t>(skipped)};
      try {
        one.call = send_call(at, rest, total, message, terms);
        one.asked = static_cast<std::uint32_t>(rest.nodes.size());
      } catch (...) {
        append(one.answer.records, record_or_nothing(std::current_exception(), 1));
        continue;
      }
      sent_.calls[sent_.count++] = one.call->id.load(std::memory_order_relaxed);
      left_.fetch_add(1, std::memory_order_relaxed);
      one.run = [](continuation* self) { static_cast<part*>(self)->of->part_settled(*static_cast<part*>(self)); };
      if (terms.token != nullptr) follow(*one.call, terms);
      attach(*one.call, &one);
      return;
    }
  }

  /// The slot of the call. Throws as begin_call.
  [[nodiscard]] call_slot* send_call(engine& at, const node_range& to, std::uint32_t total,
                                     const group_message_bytes& message, const group_terms& terms) const {
    const call_place where{to.nodes.front(), 0, terms.deadline_ns};
    const std::size_t head_bytes = group_head::bytes(to.nodes.size());
    const result_decoder decode = to.nodes.size() == 1 ? decode_.alone : decode_.with_others;
    const token_of_next_call ends_wait(terms.token);
    call_room room;
    if (begin_call(at, where, message.function, head_bytes + message.arguments.size(), decode, when_full::wait, room)) {
      msg::writer head(room.data, head_bytes);
      head.number(total);
      head.number(to.first);
      head.number(static_cast<std::uint32_t>(to.nodes.size()));
      for (const node_t node : to.nodes) head.number(node);
      if (!message.arguments.empty())
        std::memcpy(room.data + head_bytes, message.arguments.data(), message.arguments.size());
      finish_call(at, room);
    }
    return room.slot;
  }

  static void follow(call_slot& call, const group_terms& terms) noexcept {
    try {
      stop_link::attach(call, *terms.token, terms.how);
    } catch (const std::bad_alloc&) {
      return;  // it is not stopped
    }
  }

  void part_settled(part& which) noexcept {
    auto answered = offload::detail::future_access::make<std::vector<std::byte>>(which.call);
    if (const std::exception_ptr why = answered.error(); why != nullptr)
      append(which.answer.records, record_or_nothing(why, which.asked));
    else if (which.answer.records.empty())
      which.answer.records = answered.get();
    else
      append(which.answer.records, answered.get());
    arrived();
  }

  const node_t self_;
  const decoders decode_;
  group_parts_sent sent_;
  std::atomic<std::uint32_t> left_{1};
  std::size_t used_ = 0;
  std::array<part, group_fan_out + 1> parts_;
};

namespace {

/// On a node of the group: the answer goes to the node that has sent the message.
class passed_on final : public group_gather {
 public:
  passed_on(const incoming_call& call, std::uint32_t nodes, std::unique_ptr<group_merge> merge)
      : group_gather(call.at->self(), {&keep_records<true, false>, &keep_records<true, true>}),
        from_(*call.from),
        nodes_(nodes),
        merge_(std::move(merge)) {
    static_cast<incoming_call&>(call_) = call;
    call_.payload = {};
    if (call.stoppable) call_.stop = static_cast<const stoppable_call&>(call).stop;
    if (call.batch != nullptr) call.batch->share();
  }

 private:
  void finish(std::vector<group_answer>& parts) override { reply(merge_->merge(parts)); }
  void give_up() noexcept override {
    try {
      reply(group_error_record(self(), nodes_));
    } catch (...) {
      reply_exception(call_);
    }
  }
  void reply(const std::vector<std::byte>& records) {
    if (!wants_reply(call_)) return;
    reply_room room;
    begin_reply(call_, records.size(), room);
    if (!records.empty()) std::memcpy(room.data, records.data(), records.size());
    finish_reply(call_, room);
  }

  const peer_hold from_;  // call_ refers to its record
  stoppable_call call_;
  const std::uint32_t nodes_;
  const std::unique_ptr<group_merge> merge_;
};

/// At the caller.
class at_caller final : public group_gather {
 public:
  at_caller(engine& at, call_slot& slot, std::unique_ptr<group_receiver> receiver) noexcept
      : group_gather(at.self(), {&keep_records<false, false>, &keep_records<false, true>}),
        slot_(slot),
        receiver_(std::move(receiver)) {}

  /// All is sent: from here on the future can stop it.
  void list_parts() noexcept {
    try {
      slot_.owner->groups.add(slot_, sent());
    } catch (const std::bad_alloc&) {
      return;  // it cannot
    }
  }

 private:
  void finish(std::vector<group_answer>& parts) override {
    unlist();
    receiver_->settle(slot_, parts);
  }
  void give_up() noexcept override {
    unlist();
    fail_local(slot_, std::current_exception());
  }

  void unlist() noexcept {
    if (engine* const at = slot_.owner) at->groups.remove(slot_);
  }

  call_slot& slot_;
  const std::unique_ptr<group_receiver> receiver_;
};

}  // namespace

group_part_call::group_part_call(incoming_call& call, const group_head& head, const group_message_bytes& message,
                                 std::unique_ptr<group_merge> merge)
    : gather_(new passed_on(call, static_cast<std::uint32_t>(head.nodes.size()), std::move(merge))) {
  gather_->add_own(head.first);
  if (head.nodes.size() == 1) return;
  // What arrives meanwhile for the main queue waits: a later call of the group must not be passed on before this one.
  const only_receiving until_sent;
  gather_->send(*call.at, {std::span(head.nodes).subspan(1), head.first + 1}, head.total, message, {});
}

group_part_call::~group_part_call() { gather_->arrived(); }
void group_part_call::answer(std::vector<std::byte> record) noexcept { gather_->own_answer(std::move(record)); }
void group_part_call::answer_error() noexcept { gather_->own_error(); }

call_slot* start_group(const group_terms& terms, const std::vector<node_t>& nodes, const group_message_bytes& message,
                       std::unique_ptr<group_receiver> receiver) {
  engine& at = engine_of_runtime(terms.runtime);
  call_slot& slot = *make_local_slot(at);
  at_caller* gather = nullptr;
  try {
    gather = new at_caller(at, slot, std::move(receiver));
  } catch (...) {
    at.calls.cancel(slot);
    throw;
  }
  if (terms.token != nullptr && terms.token->stop_requested()) {
    fail_local(slot,
               stopped_call(msg::handler_table::local(), nodes.front(), &message.function, call_outcome::not_run));
    delete gather;
    return &slot;
  }
  gather->send(at, {nodes, 0}, static_cast<std::uint32_t>(nodes.size()), message, terms);
  gather->list_parts();
  gather->arrived();
  return &slot;
}

// ---- the place of a node in a group

namespace {

/// Of the function of a group that the thread executes, at a depth of nesting.
struct group_place {
  std::uint64_t where = 0;  // size, and position in the low half; 0: none
  unsigned depth = 0;
};
constinit thread_local group_place innermost_group;

[[nodiscard]] std::uint64_t group_here() noexcept {
  return innermost_group.depth == this_thread.depth ? innermost_group.where : 0;
}

}  // namespace

group_scope::group_scope(const group_head& where) noexcept
    : before_(std::exchange(innermost_group.where, std::uint64_t{where.total} << 32U | where.first)),
      depth_before_(std::exchange(innermost_group.depth, this_thread.depth)) {}

group_scope::~group_scope() { innermost_group = {before_, depth_before_}; }

}  // namespace detail

namespace offload {

namespace detail {
void nothing_of_barrier() {}
}  // namespace detail

group::group() : group(detail::all_others()) {}

group::group(std::vector<node_t> nodes) : nodes_(std::move(nodes)), runtime_(serial_of(detail::current())) {
  if (nodes_.empty()) throw config_error("a group of no nodes");
  std::set<node_t> seen;
  for (const node_t node : nodes_) {
    if (node < 0) throw config_error("a group with node " + std::to_string(node) + ", which is no node");
    if (!seen.insert(node).second)
      throw config_error("node " + std::to_string(node) + " is in a group twice; list each node once");
  }
}

}  // namespace offload

namespace this_call {

std::optional<std::size_t> group_position() noexcept {
  const std::uint64_t here = detail::group_here();
  if (here == 0) return std::nullopt;
  return static_cast<std::size_t>(here & 0xffffffffU);
}

std::size_t group_size() noexcept { return static_cast<std::size_t>(detail::group_here() >> 32U); }

}  // namespace this_call
}  // namespace ham
