// A dispatcher without an engine, for tests: calls are taken as if they had just arrived, on one thread, which holds
// the receiving lock as the one that polls does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/batch_records.hpp"
#include "core/callable.hpp"
#include "core/dispatcher.hpp"
#include "core/idle_node.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/recorded_replies.hpp"
#include "core/remote_exception.hpp"

namespace dispatcher_test {

using namespace ham;
using detail::call_slot;
using detail::frame_header;
using detail::peer;
using detail::slot_state;
using detail::stored_message;
using detail::this_thread;
using detail::thread_state;
using detail::wire_kind;
using test::batch_of;
using test::bytes;
using test::callable_key;

constexpr node_t self = 0;
constexpr node_t one = 1;
constexpr node_t two = 2;
constexpr std::int64_t second_ns = 1'000'000'000;

class called_node : public detail::called_node {
 public:
  test::recorded_replies replies;
  std::vector<std::uint32_t> open_contexts;
  std::vector<stored_message> queued;
  std::vector<std::string> lost_pings;
  std::vector<std::string> failed;

  bool queue_for_context(std::uint32_t context, stored_message message) override {
    if (std::find(open_contexts.begin(), open_contexts.end(), context) == open_contexts.end()) return false;
    queued.push_back(std::move(message));
    return true;
  }
  void lose_ping(frame_header, std::span<const std::byte>, std::span<const std::byte> error) noexcept override {
    lost_pings.push_back(detail::describe_exception(error));
  }
  void fail_peer(peer&, const std::string& why) noexcept override { failed.push_back(why); }
};

class dispatcher : public testing::Test {
 protected:
  dispatcher() {
    for (const node_t node : {self, one, two}) peers_.claim(node)->hello_seen = true;
    static_cast<void>(callable_key());
    test::on_call = [this](std::uint32_t id) { run_.push_back(id); };
    idle_.waits.lock();
  }
  ~dispatcher() override {
    idle_.waits.unlock();
    this_thread.depth = 0;
    test::on_call = nullptr;
  }

  peer& at(node_t node) { return peers_[node]; }
  static frame_header call(std::uint32_t id, bool in_context = false) {
    return frame_header::call(callable_key(), id, in_context);
  }
  /// A call arrives.
  void arrive(node_t from, std::uint32_t id) {
    if (calls_.begins_at_once(at(from), call(id)))
      calls_.run_at_once(at(from), call(id), arguments_);
    else
      calls_.take(at(from), call(id), arguments_);
  }
  void arrive_batch(node_t from, std::initializer_list<std::uint32_t> ids) {
    calls_.take(at(from), frame_header::batch(static_cast<std::uint32_t>(ids.size()), false), batch_of(ids));
  }
  /// As a call that waits does, which does not have the lock.
  bool wait_a_little(const call_slot* awaited = nullptr) {
    idle_.waits.lock();
    const bool begun = calls_.run_deferred(awaited);
    idle_.waits.unlock();
    return begun;
  }
  void arrive_meanwhile(node_t from, std::uint32_t id) {
    idle_.waits.lock();
    arrive(from, id);
    idle_.waits.unlock();
  }
  /// A call of this node to `node` is pending.
  static void wait_for(call_slot& slot, node_t node) {
    slot.state = slot_state::pending;
    slot.function = &msg::handler_registrar<test::callable>::entry();
    slot.node = node;
  }
  /// At a time, as a thread that has nothing to do.
  void at_limit(const call_slot* awaited, std::int64_t now_ns) {
    idle_.waits.unlock();
    calls_.wait_at_limit(awaited, now_ns, silent_since_);
    idle_.waits.lock();
  }
  /// Ids of calls that were answered with an error, each of which says `what`.
  std::vector<std::uint32_t> refused(const std::string& what) {
    std::vector<std::uint32_t> ids;
    const auto expect = [&](std::span<const std::byte> error) {
      EXPECT_NE(detail::describe_exception(error).find(what), std::string::npos) << detail::describe_exception(error);
    };
    for (const auto& reply : std::exchange(node_.replies.sent, {})) {
      if (reply.head.kind() == wire_kind::flow) continue;
      if (reply.head.kind() != wire_kind::batch_reply) {
        EXPECT_EQ(reply.head.kind(), wire_kind::reply_error);
        expect(reply.bytes);
        ids.push_back(reply.head.id());
        continue;
      }
      std::span<const std::byte> rest = reply.bytes;
      while (!rest.empty()) {
        const detail::batch_result next(rest);
        if (next.failed) {
          expect(next.bytes);
          ids.push_back(next.call);
        }
        rest = rest.subspan(next.size());
      }
    }
    return ids;
  }
  using numbers = std::vector<std::uint32_t>;

  const bytes arguments_ = bytes(8);
  std::vector<std::uint32_t> run_;
  std::int64_t silent_since_ = 0;
  test::idle_node idle_;
  detail::peer_table peers_{3};
  detail::self_endpoint own_{self, [] {}};
  called_node node_;
  detail::ping_flow room_{peers_, own_, node_.replies};
  detail::ready_queue due_;
  detail::continuation_runner continuations_{nullptr, due_};
  detail::dispatcher calls_{
      node_, {nullptr, self, msg::handler_table::local(), peers_, idle_.waits, room_, node_.replies, continuations_}};
};

}  // namespace dispatcher_test
