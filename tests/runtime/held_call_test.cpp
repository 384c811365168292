// Calls that are answered later, by a thread of the test's.
#include "runtime/held_call.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>

#include "runtime/device_accesses.hpp"
#include "runtime/device_node.hpp"

namespace ham::inline v1::detail {
namespace {

std::mutex held_mutex;
std::unique_ptr<held_call> held;

int never_runs(int) { throw std::logic_error("it was not taken over"); }
/// Of calls that node 1 takes over.
template <class>
struct keeping {
  [[nodiscard]] static bool take(incoming_call& call) {
    std::lock_guard guard(held_mutex);
    held = std::make_unique<held_call>(call);
    return true;
  }
};
constexpr auto kept = with_policy<keeping>(fn<&never_runs>);

std::unique_ptr<held_call> take_held() {
  for (;;) {
    std::lock_guard guard(held_mutex);
    if (held != nullptr) return std::move(held);
  }
}

using held_calls = test::device_node;

TEST_F(held_calls, are_answered_by_another_thread) {
  auto answer = offload::async(1, kept, 1);
  const auto call = take_held();
  EXPECT_FALSE(answer.test());
  EXPECT_TRUE(wants_reply(call->call()));
  call->answer([](incoming_call& of) { reply_value<int>(of, 42); });
  EXPECT_EQ(answer.get(), 42);
}

TEST_F(held_calls, fail_with_what_their_answer_throws) {
  auto answer = offload::async(1, kept, 1);
  take_held()->answer([](incoming_call&) { throw buffer_error("no such memory"); });
  EXPECT_NE(test::message_of<buffer_error>([&] { answer.get(); }).find("no such memory"), std::string::npos);
}

TEST_F(held_calls, of_nodes_without_a_device_are_executed_as_any) {
  EXPECT_THROW(static_cast<void>(offload::sync(2, kept, 1)), std::exception);
  std::lock_guard guard(held_mutex);
  EXPECT_EQ(held, nullptr);
}

}  // namespace
}  // namespace ham::detail
