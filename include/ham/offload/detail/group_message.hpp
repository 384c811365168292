// The message of a call of a group: how it goes from node to node along a tree, and how answers come back. Internal.
//
// Each node answers for a part of the group, of which it is the first: it passes the message on to the heads of at most
// group_fan_out parts of the rest, runs the function, and answers when they have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/offload/detail/call_message.hpp"
#include "ham/offload/future.hpp"
#include "ham/offload/group_result.hpp"

namespace ham::inline v1::offload::detail {

void nothing_of_barrier();
using barrier_function = fn_t<void (*)(), &nothing_of_barrier>;

}  // namespace ham::offload::detail

namespace ham::inline v1::detail {

/// A node, the caller too, sends at most that many messages of one call.
#if defined(HAM_GROUP_FAN_OUT)  // of a simulation: its few nodes pass calls on as many nodes do elsewhere
inline constexpr std::size_t group_fan_out = HAM_GROUP_FAN_OUT;
#else
inline constexpr std::size_t group_fan_out = 8;
#endif
/// Into how many parts `nodes` nodes are divided, and the nodes of one of them.
[[nodiscard]] constexpr std::size_t group_parts(std::size_t nodes) noexcept {
  return nodes < group_fan_out ? nodes : group_fan_out;
}
[[nodiscard]] constexpr std::size_t group_part_size(std::size_t nodes, std::size_t part) noexcept {
  const std::size_t parts = group_parts(nodes);
  return nodes / parts + (part < nodes % parts ? 1 : 0);
}

/// Which nodes a message is for: `nodes`, of which the first is its receiver, from position `first` on in a group of
/// `total` nodes.
struct group_head {
  std::uint32_t total = 0;
  std::uint32_t first = 0;
  std::vector<node_t> nodes;

  [[nodiscard]] static constexpr std::size_t bytes(std::size_t nodes) noexcept { return 12 + 4 * nodes; }
  /// Throws ham::protocol_error.
  [[nodiscard]] static group_head read(msg::reader& from);
};

/// What nodes answer: records, which cover nodes of the group one after the other.
enum class group_record : std::uint8_t {
  value,    ///< of one node, or, of a reduction, of several
  error,    ///< why several nodes have none
  left_out  ///< values of a reduction that has failed elsewhere
};

/// Writes the head of a record.
inline void write_group_record(msg::writer& to, group_record kind, std::uint32_t count) {
  to.number(static_cast<std::uint8_t>(kind));
  to.number(count);
}
inline constexpr std::size_t group_record_bytes = 5;
struct group_record_head {
  group_record kind;
  std::uint32_t count;
  /// Throws ham::protocol_error, also if it covers none, or more than `most` nodes.
  [[nodiscard]] static group_record_head read(msg::reader& from, std::size_t most);
};
/// A record of the exception that is being handled, for `count` nodes; `node` has seen it.
[[nodiscard]] std::vector<std::byte> group_error_record(node_t node, std::uint32_t count);
/// The exception of such a record, whose head has been read.
[[nodiscard]] std::exception_ptr read_group_error(msg::reader& from, const msg::handler_entry& function);
[[nodiscard]] std::exception_ptr read_group_error(msg::reader& from, const std::string& function);
/// A record without a value.
[[nodiscard]] std::vector<std::byte> left_out_record(std::uint32_t count);

/// What a part of a group has answered.
struct group_answer {
  std::uint32_t first = 0;  ///< position in the group
  std::uint32_t count = 0;  ///< nodes
  std::vector<std::byte> records;
};

/// How the answers of parts become one.
class group_merge {
 public:
  virtual ~group_merge() = default;
  /// In the order of the group. Throws what an operation throws.
  [[nodiscard]] virtual std::vector<std::byte> merge(std::vector<group_answer>& parts) const;
};

/// What is sent to the nodes of a group.
struct group_message_bytes {
  msg::handler_entry& function;
  std::span<const std::byte> arguments;
};

/// Which runtime calls, how long it may take, and what stops it.
struct group_terms {
  std::uint64_t runtime = 0;
  std::int64_t deadline_ns = 0;
  const std::stop_token* token = nullptr;
  offload::when_stopped how = offload::when_stopped::after_answer;
};

class group_gather;

/// The call of a group as it runs on one of its nodes.
class group_part_call {
 public:
  /// Sends the message on. What cannot be sent becomes an error of its nodes.
  group_part_call(incoming_call& call, const group_head& head, const group_message_bytes& message,
                  std::unique_ptr<group_merge> merge);
  group_part_call(const group_part_call&) = delete;
  group_part_call& operator=(const group_part_call&) = delete;
  /// The answer goes when that of the last other node has come.
  ~group_part_call();
  /// The record of this node.
  void answer(std::vector<std::byte> record) noexcept;
  /// The exception that is being handled.
  void answer_error() noexcept;

 private:
  group_gather* const gather_;
};

/// The same where something else has the function executed, and answers later: the device of the node. Made by
/// start(), and gone when it has its result, which it takes as the sink of call().
class late_group_part final : public result_sink {
 public:
  /// As the constructor of group_part_call. Throws std::bad_alloc.
  [[nodiscard]] static late_group_part& start(incoming_call& call, const group_head& head,
                                              const group_message_bytes& message, std::unique_ptr<group_merge> merge);

  /// What is to be executed: the call, with this as its sink.
  [[nodiscard]] incoming_call& call() noexcept { return call_; }
  /// The encoded result, and then its end: done, or with the exception that is being handled. Any thread, once.
  [[nodiscard]] std::byte* begin(std::size_t size) override;
  void finish() noexcept override;
  void fail() noexcept override;

 private:
  late_group_part(incoming_call& call, const group_head& head, const group_message_bytes& message,
                  std::unique_ptr<group_merge> merge);
  ~late_group_part() = default;

  group_part_call part_;
  stoppable_call call_;
  std::vector<std::byte> record_;
};

/// A barrier as one node takes part in it: it answers when the device of the node, if it has one, has executed the
/// calls without a context that had arrived before, those of groups among them.
void run_barrier(incoming_call& call, msg::handler_entry& function);

/// While it lives, the calling thread executes a function of a group.
class group_scope {
 public:
  explicit group_scope(const group_head& where) noexcept;
  group_scope(const group_scope&) = delete;
  group_scope& operator=(const group_scope&) = delete;
  ~group_scope();

 private:
  std::uint64_t before_;
  unsigned depth_before_;
};

/// The caller's end of a call: takes the answers of all nodes.
class group_receiver {
 public:
  virtual ~group_receiver() = default;
  /// Fills the slot. Called once, from any thread that makes progress.
  virtual void settle(call_slot& slot, std::vector<group_answer>& parts) noexcept = 0;
};
/// Sends the message to the group. Gives the slot of the result. Throws as current().
[[nodiscard]] call_slot* start_group(const group_terms& terms, const std::vector<node_t>& nodes,
                                     const group_message_bytes& message, std::unique_ptr<group_receiver> receiver);

// ---- values

/// The record of a value of one node.
template <class Result>
[[nodiscard]] std::vector<std::byte> group_value_record(const Result& value, std::uint32_t count = 1) {
  std::vector<std::byte> bytes(group_record_bytes + msg::encoded_size(value));
  msg::writer to(bytes.data(), bytes.size());
  write_group_record(to, group_record::value, count);
  msg::encode(to, value);
  to.expect_full();
  return bytes;
}
[[nodiscard]] std::vector<std::byte> group_done_record();

/// Reads what all nodes have answered. Throws ham::protocol_error.
template <class Result>
void read_group_answers(const std::vector<group_answer>& parts, const msg::handler_entry& function,
                        offload::group_result<Result>& out) {
  using access = offload::detail::group_result_access;
  for (const group_answer& part : parts) {
    msg::reader from(part.records);
    for (std::size_t at = part.first, end = at + part.count; at < end;) {
      const group_record_head head = group_record_head::read(from, end - at);
      if (head.kind == group_record::value) {
        if (head.count != 1) msg::detail::throw_malformed("one value for several nodes of a group");
        if constexpr (!std::is_void_v<Result>) access::fill(out, at, msg::decode<Result>(from));
        ++at;
      } else if (head.kind == group_record::error) {
        const std::exception_ptr why = read_group_error(from, function);
        for (std::uint32_t part = 0; part < head.count; ++part) access::fail(out, at++, why);
      } else {
        msg::detail::throw_malformed("a node of a group has left its value out");
      }
    }
    from.expect_end();
  }
}

template <class Result>
class gathered_results final : public group_receiver {
 public:
  gathered_results(std::vector<node_t> nodes, const msg::handler_entry& function)
      : nodes_(std::move(nodes)), function_(function) {}
  void settle(call_slot& slot, std::vector<group_answer>& parts) noexcept override {
    offload::detail::fulfil<offload::group_result<Result>>(slot, [&] {
      offload::group_result<Result> all(std::move(nodes_));
      read_group_answers(parts, function_, all);
      return all;
    });
  }

 private:
  std::vector<node_t> nodes_;
  const msg::handler_entry& function_;
};

// ---- reductions

/// Whether the answer of a part is one value.
[[nodiscard]] bool is_reduced(const group_answer& part) noexcept;
/// For who cannot reduce: the errors, without the values.
[[nodiscard]] std::vector<std::byte> errors_of_parts(const std::vector<group_answer>& parts);

/// op(...op(op(first, second), third)...). All parts are values, and there is at least one.
template <class Result, class Op>
[[nodiscard]] Result reduced_value(const Op& op, const std::vector<group_answer>& parts) {
  std::optional<Result> sum;
  for (const group_answer& part : parts) {
    msg::reader from(part.records);
    static_cast<void>(group_record_head::read(from, part.count));
    Result value = msg::decode<Result>(from);
    from.expect_end();
    if (sum)
      sum.emplace(static_cast<Result>(op(*std::move(sum), std::move(value))));
    else
      sum.emplace(std::move(value));
  }
  return *std::move(sum);
}
[[nodiscard]] std::uint32_t nodes_of(const std::vector<group_answer>& parts) noexcept;
[[nodiscard]] bool all_reduced(const std::vector<group_answer>& parts) noexcept;
/// Throws ham::offload::group_error, ham::protocol_error.
[[noreturn]] void throw_failures(const std::vector<group_answer>& parts, const std::vector<node_t>& nodes,
                                 const msg::handler_entry& function);

template <class Result, class Op>
class reducing_merge final : public group_merge {
 public:
  explicit reducing_merge(Op op) : op_(std::move(op)) {}
  [[nodiscard]] std::vector<std::byte> merge(std::vector<group_answer>& parts) const override {
    if (parts.size() == 1) return std::move(parts.front().records);
    if (!all_reduced(parts)) return errors_of_parts(parts);
    return group_value_record(reduced_value<Result>(op_, parts), nodes_of(parts));
  }

 private:
  Op op_;
};

template <class Result, class Op>
class reduced_result final : public group_receiver {
 public:
  reduced_result(std::vector<node_t> nodes, const msg::handler_entry& function, Op op)
      : nodes_(std::move(nodes)), function_(function), op_(std::move(op)) {}
  void settle(call_slot& slot, std::vector<group_answer>& parts) noexcept override {
    offload::detail::fulfil<Result>(slot, [&]() -> Result {
      if (!all_reduced(parts)) throw_failures(parts, nodes_, function_);
      return reduced_value<Result>(op_, parts);
    });
  }

 private:
  std::vector<node_t> nodes_;
  const msg::handler_entry& function_;
  Op op_;
};

// ---- the message

/// Names the handler of calls of a group.
template <class Tag>
struct group_tag {};
/// The same of a reduction, with the tag of its operation.
template <class Tag, class Op>
struct reduce_tag {};
/// In place of an operation.
struct no_operation {};

template <class Callable>
[[nodiscard]] Callable decode_group_callable([[maybe_unused]] msg::reader& from) {
  if constexpr (msg::is_fn_v<Callable> || std::is_same_v<Callable, no_operation>)
    return Callable{};
  else
    return msg::decode<Callable>(from);
}
template <class Callable>
[[nodiscard]] constexpr std::size_t group_callable_size([[maybe_unused]] const Callable& callable) {
  if constexpr (msg::is_fn_v<Callable> || std::is_same_v<Callable, no_operation>)
    return 0;
  else
    return msg::encoded_size(callable);
}
template <class Callable>
void encode_group_callable([[maybe_unused]] msg::writer& to, [[maybe_unused]] const Callable& callable) {
  if constexpr (!msg::is_fn_v<Callable> && !std::is_same_v<Callable, no_operation>) msg::encode(to, callable);
}

/// An argument as the node's function gets it.
template <class Value>
[[nodiscard]] Value&& placed([[maybe_unused]] const group_head& here, Value&& value) noexcept {
  if constexpr (std::is_same_v<std::remove_cvref_t<Value>, offload::group_place>) value = {here.first, here.total};
  return static_cast<Value&&>(value);
}

/// How the answers of parts become one: by the operation, if it is one.
template <class Result, class Op>
[[nodiscard]] std::unique_ptr<group_merge> make_group_merge([[maybe_unused]] Op&& op) {
  if constexpr (std::is_same_v<Op, no_operation>)
    return std::make_unique<group_merge>();
  else
    return std::make_unique<reducing_merge<Result, Op>>(std::move(op));
}

/// The call as one node runs it, once all of the message is decoded: nothing of a message that cannot be read is passed
/// on. See decoded_call.
template <class Message, class Op, class Callable, class Result, class... Params>
struct decoded_group_call {
  explicit decoded_group_call(incoming_call& call, const group_head& head, std::span<const std::byte> arguments,
                              msg::reader& from, Op&& op, Callable&& callable,
                              msg::decode_result_t<Params>&&... values) {
    from.expect_end();
    call.decoded = true;
    group_part_call part(call, head, {Message::entry(), arguments}, make_group_merge<Result>(std::move(op)));
    const group_scope scope(head);
    HAM_TRY {
      admission<Callable>::check(call);
      if constexpr (std::is_void_v<Result>) {
        callable(placed(head, static_cast<msg::decode_result_t<Params>&&>(values))...);
        part.answer(group_done_record());
      } else {
        const Result result =
            static_cast<Result>(callable(placed(head, static_cast<msg::decode_result_t<Params>&&>(values))...));
        part.answer(group_value_record(result));
      }
    }
    HAM_CATCH_ALL { part.answer_error(); }
  }
};

/// A received message whose function runs in the process. `Message`: as which it is passed on.
template <class Message, class Op, class Callable, class Result, class... Params>
void run_group_call(incoming_call& call) {
  msg::reader from(call.payload);
  const group_head head = group_head::read(from);
  const std::span<const std::byte> arguments = call.payload.last(from.remaining());
  decoded_group_call<Message, Op, Callable, Result, Params...>{call,
                                                               head,
                                                               arguments,
                                                               from,
                                                               decode_group_callable<Op>(from),
                                                               decode_group_callable<Callable>(from),
                                                               msg::decode<Params>(from)...};
}

/// Layout and encoding of what all nodes get.
template <class Op, class Callable, class Result, class... Params>
struct group_message_form {
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static std::string layout() {
    if constexpr (std::is_same_v<Op, no_operation> || msg::is_fn_v<Op>)
      return msg::call_layout<Callable, Result, Params...>();
    else
      return msg::call_layout<Callable, Result, Op, Params...>();
  }

  [[nodiscard]] static std::vector<std::byte> encode(const Op& op, const Callable& callable, const Params&... values) {
    const std::size_t callables = group_callable_size(op) + group_callable_size(callable);
    std::vector<std::byte> bytes((callables + ... + msg::encoded_size(values)));
    msg::writer to(bytes.data(), bytes.size());
    encode_group_callable(to, op);
    encode_group_callable(to, callable);
    (msg::encode(to, values), ...);
    to.expect_full();
    return bytes;
  }
};

/// Registration of the handler. Functions that devices execute have one of their own (device_group.hpp).
template <class Tag, template <class> class Policy, class Op, class Callable, class Result, class... Params>
struct group_message : group_message_form<Op, Callable, Result, Params...> {
  using tag = Tag;
  static void body(incoming_call& call) { run_group_call<group_message, Op, Callable, Result, Params...>(call); }
  static void handler(void* buffer) { handler_under<Policy, &body>::run(buffer); }
  [[nodiscard]] static msg::handler_entry& entry() noexcept { return msg::handler_registrar<group_message>::entry(); }
};

/// A barrier: nothing is run, but what the device of a node has been given comes first.
template <class Tag, template <class> class Policy>
struct group_message<Tag, Policy, no_operation, offload::detail::barrier_function, void>
    : group_message_form<no_operation, offload::detail::barrier_function, void> {
  using tag = Tag;
  static void handler(void* buffer) { run_barrier(*static_cast<incoming_call*>(buffer), entry()); }
  [[nodiscard]] static msg::handler_entry& entry() noexcept { return msg::handler_registrar<group_message>::entry(); }
};

/// The message of a call that a plan describes.
template <class Call, class Op>
struct group_call_of;
template <class Callable, class... Params>
struct group_call_of<call_of<Callable, Params...>, no_operation> {
  using call = call_of<Callable, Params...>;
  using message = group_message<group_tag<msg::tag_for<Callable, Params...>>, msg::policy_of<Callable>::template type,
                                no_operation, typename call::core, typename call::result, Params...>;
};
template <class Callable, class... Params, class Op>
struct group_call_of<call_of<Callable, Params...>, Op> {
  using call = call_of<Callable, Params...>;
  using result = typename call::result;
  using message = group_message<reduce_tag<msg::tag_for<Callable, Params...>, msg::tag_for<Op, result, result>>,
                                msg::policy_of<Callable>::template type, msg::core_type_t<Op>, typename call::core,
                                result, Params...>;
};

}  // namespace ham::detail
