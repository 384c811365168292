// Loading libraries on nodes: what is refused, and what nodes tell of it. With functions in them: tests/library.
#include "ham/offload/library.hpp"

#include <atomic>
#include <string>
#include <thread>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace library_test {

/// A library that every program of this machine can load, without a function that could be called.
constexpr const char* plain = "libm.so.6";

class library : public two_targets {};

std::string try_to_load(node_t node) {
  return message_of<call_error>([node] { static_cast<void>(offload::load_library(node, plain)); });
}

TEST_F(library, is_loaded_once) {
  const offload::library one = offload::load_library(1, plain);
  EXPECT_EQ(one.node(), 1);
  EXPECT_EQ(one.path(), plain);
  EXPECT_TRUE(one.functions().empty());
  EXPECT_EQ(offload::load_library(1, plain).number(), one.number());
  offload::unload_library(one);
  offload::unload_library(one);
  EXPECT_EQ(offload::load_library(1, plain).number(), one.number());
}

TEST_F(library, that_is_not_there_is_an_error_with_the_reason) {
  const std::string why =
      message_of<call_error>([] { static_cast<void>(offload::load_library(2, "/no/such/library.so")); });
  EXPECT_NE(why.find("/no/such/library.so cannot be loaded on node 2"), std::string::npos) << why;
  EXPECT_NE(why.find("No such file"), std::string::npos) << why;
}

TEST_F(library, that_was_never_loaded_cannot_be_unloaded) {
  const offload::library none(1, "none.so", 1'000'000, {});
  const std::string why = message_of<call_error>([&] { offload::unload_library(none); });
  EXPECT_NE(why.find("no library of number 1000000"), std::string::npos) << why;
}

TEST_F(library, is_loaded_for_the_host_and_for_the_node_itself) {
  EXPECT_NE(offload::sync(1, fn<&try_to_load>, node_t{2}).find("only the host may"), std::string::npos);
  EXPECT_NE(offload::sync(1, fn<&try_to_load>, node_t{0}).find("only the host may"), std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(offload::load_library(0, plain)));
}

TEST_F(library, stays_while_pooled_calls_run) {
  const offload::library one = offload::load_library(1, plain);
  static std::atomic<bool> gate{false};
  gate = false;
  auto running = offload::async(1, pooled([] {
                                  while (!gate) std::this_thread::sleep_for(1ms);
                                }));
  offload::sync(1, [] {});  // it has begun, or waits for the pool
  EXPECT_NE(message_of<call_error>([&] { offload::unload_library(one); }).find("pooled calls"), std::string::npos);
  gate = true;
  running.get();
  EXPECT_TRUE(eventually([&] {
    try {
      offload::unload_library(one);
      return true;
    } catch (const call_error&) {
      return false;  // the call has answered, and is about to go
    }
  }));
}

}  // namespace library_test
