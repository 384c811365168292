// The free functions of ham::offload that forward to the current runtime, and the context class.
#include <algorithm>

#include "base/clock.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/context.hpp"
#include "ham/offload/detail/late_answer.hpp"
#include "ham/offload/node.hpp"
#include "runtime/always_runs.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/end_of_handle.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine_info.hpp"

std::size_t ham::detail::max_message() { return current().greetings.message_limit(); }

namespace ham::inline v1::offload {

std::size_t num_nodes() { return ham::detail::current().peers.size(); }
node_t this_node() { return ham::detail::current().self(); }
bool is_host() { return is_host(this_node()); }
bool is_host(node_number node) { return node == 0; }

node_descriptor get_node_descriptor(destination node) {
  return ham::detail::describe(ham::detail::engine_for(node), node);
}
bool alive(destination node) { return ham::detail::is_alive(ham::detail::engine_for(node), node); }
node_descriptor get_node_description(destination node) { return get_node_descriptor(node); }

namespace {

/// What the host says.
std::vector<node_t> nodes_of_job() {
  std::vector<node_t> all = ham::detail::current().peers.ready_nodes(-1);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::vector<node_t> nodes() {
  ham::detail::engine& at = ham::detail::current();
  if (at.events.pending()) at.take_notice();
  return at.self() == 0 ? nodes_of_job() : sync(0, fn<&nodes_of_job>);
}
std::vector<node_t> targets() {
  std::vector<node_t> all = nodes();
  std::erase(all, 0);
  return all;
}

namespace {

ham::detail::job& job_to_change() {
  ham::detail::job* const ours = ham::detail::current().owner;
  if (ours == nullptr)
    throw config_error("the nodes of this job cannot change (they live in one process); start it with other HAM_NODES");
  return *ours;
}

}  // namespace

node_t add_node(const std::string& group) { return job_to_change().add(group, base::never_ns); }
node_t add_node(const target_program& program) { return job_to_change().add(program, base::never_ns); }
node_t detail::add_node(const std::string& group, std::int64_t deadline_ns) {
  return job_to_change().add(group, deadline_ns);
}
node_t detail::add_node(const target_program& program, std::int64_t deadline_ns) {
  return job_to_change().add(program, deadline_ns);
}
node_t spawn(const std::string& group, const std::string& program) {
  return job_to_change().spawn(group, program, base::never_ns);
}
node_t detail::spawn(const std::string& group, const std::string& program, std::int64_t deadline_ns) {
  return job_to_change().spawn(group, program, deadline_ns);
}
void remove_node(node_number node) { detail::remove_node(node, 500); }
void detail::remove_node(node_t node, long double timeout_ms) {
  constexpr long double max_ms = 1e12L;
  const long double bounded = timeout_ms < max_ms ? timeout_ms : max_ms;
  job_to_change().remove(node, std::chrono::milliseconds(static_cast<std::int64_t>(bounded)));
}

peer_statistics stats_with(node_number node) { return ham::detail::statistics_with(ham::detail::current(), node); }
statistics stats() { return ham::detail::statistics_of(ham::detail::current()); }

namespace {

std::uint32_t open_context(std::uint64_t stack_bytes) {
  return ham::detail::current().thread_contexts.open(static_cast<std::size_t>(stack_bytes));
}
/// The context's thread has handed calls over to the device of its node, which may not be through with them.
void drain_context() {
  ham::detail::engine& here = ham::detail::current();
  ham::detail::await_calls_on_device(here);
  here.thread_contexts.fail_if_lost();
}
void close_context() {
  ham::detail::current().thread_contexts.close_current();
  drain_context();
}

/// In the process `node`, which `on` names.
std::uint32_t open_on(destination on, node_t node, std::uint64_t runtime, std::size_t stack_bytes,
                      const std::stop_token* token) {
  on.node = detail::engine_for(on).exactly(node);
  const auto close_late = [node, runtime](std::uint32_t late) {
    ham::detail::give_back([&] { return async(destination(node, late, runtime), fn<&close_context>); });
  };
  return ham::detail::sync_or_undo_unless(token, on, close_late, fn<&open_context>,
                                          static_cast<std::uint64_t>(stack_bytes));
}

[[maybe_unused]] const bool always_run = ham::detail::always_run(fn<&drain_context>, fn<&close_context>);

}  // namespace

context::context(destination on) : context(on, 0) {}
context::context(destination on, std::size_t stack_bytes)
    : node_(detail::engine_for(on).process_of_handle(on)), runtime_(detail::serial_of(detail::engine_for(on))) {
  id_ = open_on(on, node_, runtime_, stack_bytes, nullptr);
}
context::context(const stoppable_destination& on, std::size_t stack_bytes)
    : node_(detail::engine_for(on.where()).process_of_handle(on.where(), &on.token())),
      runtime_(detail::serial_of(detail::engine_for(on.where()))) {
  id_ = open_on(on.where(), node_, runtime_, stack_bytes, &on.token());
}

context& context::operator=(context&& other) noexcept {
  if (this == &other) return *this;
  context ending(std::move(*this));
  node_ = other.node_;
  id_ = std::exchange(other.id_, 0);
  runtime_ = other.runtime_;
  return *this;
}

context::~context() {
  if (id_ == 0) return;
  try {
    const destination self = *this;
    ham::detail::engine& at = ham::detail::engine_for(self);  // throws if it has ended, and the node with it
    const ham::detail::engine_scope scope(&at);
    if (node_ == at.self())
      close();
    else
      ham::detail::end_handle(at, node_, "a context", [self] { return try_async(self, fn<&close_context>); });
  } catch (const std::exception&) {
    id_ = 0;  // the node is gone, and its threads with it
  }
}

void context::throw_closed() {
  throw call_error("this context is not open (it was closed or moved from); open another one, or call the node itself",
                   call_error_reason::no_context);
}

void context::drain() { sync(*this, fn<&drain_context>); }
void context::drain(std::chrono::nanoseconds limit) { sync(within(*this, limit), fn<&drain_context>); }

void context::close() {
  if (id_ == 0) return;
  const destination self = *this;
  id_ = 0;
  sync(self, fn<&close_context>);
}

void context::close(std::chrono::nanoseconds limit) {
  if (id_ == 0) return;
  const destination self = within(*this, limit);
  const std::uint32_t id = std::exchange(id_, 0);
  try {
    sync(self, fn<&close_context>);
  } catch (const deadline_exceeded& late) {
    if (late.outcome() == call_outcome::not_run) id_ = id;
    throw;
  }
}

}  // namespace ham::offload
