// ham::cuda::stream(): where there is no GPU, and which one of a GPU's driver.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ham/cuda.hpp"
#include "ham/error.hpp"
#include "ham/offload/context.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/device_calls.hpp"

namespace ham::inline v1::cuda_stream_functions {

std::uintptr_t stream_here() { return reinterpret_cast<std::uintptr_t>(cuda::stream()); }
struct nested_streams {
  std::uintptr_t outer;
  std::uintptr_t nested;  // of a call to the node itself
  bool same_thread;
};
std::thread::id nested_ran_on;
std::uintptr_t nested_stream() {
  nested_ran_on = std::this_thread::get_id();
  return stream_here();
}
nested_streams streams_of_nested_calls() {
  const std::uintptr_t nested = offload::sync(offload::this_node(), fn<&nested_stream>);
  return {stream_here(), nested, nested_ran_on == std::this_thread::get_id()};
}
std::atomic<bool> node_is_busy{false};
std::atomic<bool> node_may_go_on{false};
void keeps_its_node_busy() {
  node_is_busy.store(true);
  while (!node_may_go_on.load()) std::this_thread::yield();
}

}  // namespace ham::cuda_stream_functions

namespace ham::inline v1 {
namespace {

using namespace cuda_stream_functions;

/// A device that executes nothing, and has a stream for each context below 20.
class device_with_streams final : public transport::device_driver {
 public:
  [[nodiscard]] const char* type() const noexcept override { return "streams"; }
  [[nodiscard]] std::span<device::detail::call_queue> queues() noexcept override { return {queue_.get(), 1}; }
  [[nodiscard]] std::span<device::detail::outbox> messages() noexcept override { return {messages_.get(), 1}; }
  [[nodiscard]] bool has(const device::detail::function_entry&) const noexcept override { return false; }
  void upload(std::uint32_t) override {}
  void launch() override {}
  [[nodiscard]] transport::residency state() noexcept override { return transport::residency::absent; }
  [[nodiscard]] failure_report failure() override { return {}; }
  [[nodiscard]] std::uint64_t stage(std::span<const std::byte>) override { throw std::bad_alloc(); }
  void unstage(std::uint64_t) noexcept override {}
  [[nodiscard]] void* stream_of(std::uint32_t context) noexcept override {
    return context < streams.size() ? &streams[context] : nullptr;
  }

  static inline std::array<char, 20> streams{};
  [[nodiscard]] static std::uintptr_t stream(std::uint32_t context) {
    return reinterpret_cast<std::uintptr_t>(&streams.at(context));
  }

 private:
  std::unique_ptr<device::detail::call_queue[]> queue_ = std::make_unique<device::detail::call_queue[]>(1);
  std::unique_ptr<device::detail::outbox> messages_ = std::make_unique<device::detail::outbox>();
};

class owner_of_streams final : public transport::device_owner {
 public:
  [[nodiscard]] std::unique_ptr<transport::device_driver> take_device() override {
    return std::make_unique<device_with_streams>();
  }
  [[nodiscard]] limits device_limits() const noexcept override { return {0, 0}; }
};

/// Node 1 has a GPU, as far as its functions can see.
class cuda_stream_on_a_node : public testing::Test {
 protected:
  cuda_stream_on_a_node() {
    const auto address = offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&detail::current()); });
    calls = std::make_unique<detail::device_calls>(*reinterpret_cast<detail::engine*>(address), owner);
  }

  runtime job{test::loopback(2)};
  owner_of_streams owner;
  std::unique_ptr<detail::device_calls> calls;
};

void expect_refusal(const call_error& problem) {
  EXPECT_NE(std::string(problem.what()).find("HAM_NODES=cuda"), std::string::npos) << problem.what();
}

TEST(cuda_stream, is_refused_outside_of_nodes_with_a_gpu) {
  try {
    static_cast<void>(cuda::stream());
    FAIL() << "this thread executes nothing";
  } catch (const call_error& problem) {
    expect_refusal(problem);
  }
}

TEST_F(cuda_stream_on_a_node, is_one_of_its_own_without_a_context) {
  EXPECT_EQ(offload::sync(1, fn<&stream_here>), device_with_streams::stream(0));
  EXPECT_EQ(offload::sync(1, fn<&stream_here>), device_with_streams::stream(0)) << "always the same one";
  try {
    static_cast<void>(offload::sync(2, fn<&stream_here>));
    FAIL() << "that node has no GPU";
  } catch (const call_error& problem) {
    expect_refusal(problem);
  }
}

TEST_F(cuda_stream_on_a_node, is_that_of_the_context) {
  std::vector<offload::context> contexts;
  std::set<std::uintptr_t> all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    contexts.emplace_back(1);
    const std::uintptr_t found = offload::sync(contexts.back(), fn<&stream_here>);
    EXPECT_EQ(found, device_with_streams::stream(contexts.back().id()));
    all.insert(found);
  }
  all.insert(offload::sync(1, fn<&stream_here>));
  EXPECT_EQ(all.size(), 9U) << "none is shared";
  for (const offload::context& one : contexts)
    EXPECT_EQ(offload::sync(one, fn<&stream_here>), device_with_streams::stream(one.id())) << "it stays the same";
}

TEST_F(cuda_stream_on_a_node, is_not_that_of_the_context_in_a_call_nested_there) {
  const offload::context context(1);
  node_may_go_on = node_is_busy = false;
  auto busy = offload::async(1, fn<&keeps_its_node_busy>);  // so that the context's own thread executes the nested call
  ASSERT_TRUE(test::eventually([] { return node_is_busy.load(); }));
  const nested_streams in_context = offload::sync(context, fn<&streams_of_nested_calls>);
  node_may_go_on = true;
  busy.get();
  EXPECT_EQ(in_context.outer, device_with_streams::stream(context.id()));
  EXPECT_EQ(in_context.nested, device_with_streams::stream(0));
  EXPECT_TRUE(in_context.same_thread);
  const nested_streams plain = offload::sync(1, fn<&streams_of_nested_calls>);
  EXPECT_EQ(plain.outer, device_with_streams::stream(0));
  EXPECT_EQ(plain.nested, device_with_streams::stream(0));
}

}  // namespace
}  // namespace ham
