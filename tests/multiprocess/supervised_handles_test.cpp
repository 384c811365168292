// Handles of a process that has died, once another one has its number.
// link: ham::ham
// timeout: 300
// serial: no
#include "ham/offload/function_by_name.hpp"
#include "ham/offload/graph.hpp"
#include "ham/offload/group.hpp"
#include "ham/offload/pool.hpp"
#include "ham/offload/retry.hpp"
#include "supervised_node.hpp"

#include <memory>

using namespace ham;
using namespace ham::test;

namespace {

int first_of(buffer_ptr<int> where) { return *where; }
int first_of_span(offload::buffer_span<int> where) { return where[0]; }
int first_of_all(const std::vector<buffer_ptr<int>>& where) { return *where.front(); }

/// The new process would take the address for one of its own.
void expect_refused_as_arguments(buffer_ptr<int> old) {
  const std::string said = message_of<buffer_error>([&] { offload::sync(1, fn<&first_of>, old); });
  EXPECT_NE(said.find("node 1 that has died"), std::string::npos) << said;
  EXPECT_THROW(offload::sync(1, fn<&first_of_span>, offload::buffer_span<int>(old, 8)), buffer_error);
  EXPECT_THROW(offload::sync(1, fn<&first_of_all>, std::vector{old}), buffer_error);
  EXPECT_THROW(offload::ping(1, fn<&first_of>, old), buffer_error);
  EXPECT_THROW(offload::sync(offload::retry(1, 3), idempotent(fn<&first_of>), old), buffer_error);
  offload::batch several(1);
  EXPECT_THROW(static_cast<void>(several.add(fn<&first_of>, old)), buffer_error);
  const offload::group alone(std::vector<node_t>{1});
  EXPECT_THROW(offload::sync_all(alone, fn<&first_of>, old), buffer_error);
  EXPECT_THROW(static_cast<void>(offload::reduce_all(alone, fn<&first_of>, std::plus<int>(), old)), buffer_error);
  EXPECT_THROW(offload::function_by_name<int(buffer_ptr<int>)>("supervised_handles_test.no_such")(1, old),
               buffer_error);
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&first_of>, g.input<buffer_ptr<int>>()));
  EXPECT_THROW(step(old).get(), buffer_error);
  offload::pool workers{{1}};
  EXPECT_THROW(workers.async(fn<&first_of>, old).get(), buffer_error);
  EXPECT_THROW(workers.async(idempotent(fn<&first_of>), old).get(), buffer_error);
}

void expect_old_handles_fail(const runtime_options& how) {
  runtime rt(how);
  offload::supervise(1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto old_memory = offload::allocate<int>(1, 8);
    auto old_context = std::make_unique<offload::context>(1);
    auto old_object = offload::make<counter>(1);
    const offload::destination old_queue = *old_context;
    kill_node(1);
    // What the new process has lies where the old one's was.
    offload::buffer<int> fresh(1, 8);
    const offload::context new_context(1);
    const auto new_object = offload::make<counter>(1);
    std::vector<int> values(8, 7), back(8);
    offload::put(values.data(), fresh.ptr(), 8).get();

    const std::vector<int> wrong(8, -1);
    const std::string said = message_of<node_failure>([&] { offload::put(wrong.data(), old_memory, 8).get(); });
    EXPECT_NE(said.find("started again"), std::string::npos) << said;
    EXPECT_THROW(offload::get(old_memory, back.data(), 8).get(), node_failure);
    EXPECT_THROW(offload::free(old_memory), node_failure);
    EXPECT_THROW(offload::sync(old_queue, fn<&echo>, 1), node_failure);
    expect_refused_as_arguments(old_memory);
    EXPECT_EQ(offload::sync(1, fn<&first_of>, fresh.ptr()), 7);
    EXPECT_THROW(old_object.call<&counter::add>(1), error);
    { const auto dropped = std::move(old_context); }  // destructors do not throw, and touch nothing of the new process
    old_object.reset();

    offload::get(fresh.ptr(), back.data(), 8).get();
    EXPECT_EQ(back, values);
    EXPECT_EQ(offload::sync(new_context, fn<&echo>, 2), 2);
    EXPECT_EQ(new_object.call<&counter::add>(3), 3);
  }
}

TEST(supervised_handles, of_the_process_before_are_errors_that_say_so) { expect_old_handles_fail(nodes("shm:1")); }
TEST(supervised_handles, also_where_memory_is_reached_by_messages) {
  runtime_options how = nodes("shm:1");
  how.one_sided = false;
  expect_old_handles_fail(how);
}

/// What an argument may consist of.
struct member_handle {
  int before = 0;
  buffer_ptr<int> memory;
};
struct listed_handle {
  std::string name;
  std::vector<buffer_ptr<int>> memory;
  HAM_FIELDS(name, memory)
};
/// On the next process: what the library does with a handle of the one before is refused, and the handle says itself
/// whose it is.
std::string use_there(buffer_ptr<int> old) {
  int value = 5;
  const auto refused = [](auto use) {
    try {
      use();
    } catch (const node_failure&) {
      return true;
    } catch (const buffer_error&) {
      return true;
    }
    return false;
  };
  if (old.node() == offload::this_node()) return "it is of this process";
  if (!refused([&] { offload::get_sync(old, &value, 1); })) return "get has read " + std::to_string(value);
  if (!refused([&] { offload::put_sync(&value, old, 1); })) return "put has written";
  if (!refused([&] { offload::copy_sync(old, old + 1, 1); })) return "copy has copied";
  if (!refused([&] { offload::free(old); })) return "free has freed";
  return "refused";
}
std::string use_member(const member_handle& of) { return use_there(of.memory); }
std::string use_listed(const listed_handle& of) { return use_there(of.memory.at(0)); }

/// Captures are sent: only put, get, copy and free check them there, not *, [] and ->.
TEST(supervised_handles, inside_of_arguments_reach_nothing_of_the_next_process) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const buffer_ptr<int> old = offload::allocate<int>(1, 8);
    kill_node(1);
    offload::buffer<int> fresh(1, 8);
    while (fresh.ptr().tag() < old.tag()) {  // the next process counts anew
      fresh = {};
      fresh = offload::buffer<int>(1, 8);
    }
    ASSERT_EQ(fresh.ptr().tag(), old.tag());
    const std::vector<int> values(8, 7);
    offload::put_sync(values.data(), fresh.ptr(), 8);
    EXPECT_THROW(offload::sync(1, fn<&use_member>, member_handle{1, old}), buffer_error);
    EXPECT_THROW(offload::sync(1, fn<&use_listed>, listed_handle{"old", {old}}), buffer_error);
    EXPECT_THROW(offload::sync(1, ham::bind(fn<&use_there>, old)), buffer_error);
    EXPECT_THROW(offload::sync(offload::retry(1, 2), idempotent(fn<&use_member>), member_handle{1, old}), buffer_error);
    EXPECT_THROW(offload::sync_all(offload::group({1}), ham::bind(fn<&use_there>, old)), buffer_error);
    EXPECT_EQ(offload::sync(1, [old] { return use_there(old); }), "refused") << "captures are not seen";
    std::vector<int> back(8);
    offload::get_sync(fresh.ptr(), back.data(), 8);
    EXPECT_EQ(back, values);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
