// Pings of a host that is quicker than its target: every one of them runs.
// link: ham::ham
// env: HAM_MAX_MESSAGE=2M
// serial: no
#include "multiprocess/support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

std::atomic<std::uint64_t> ran{0};
void count(const std::vector<std::byte>&) { ++ran; }
std::uint64_t counted() { return ran.load(); }
void sleep_ms(int ms) { ::usleep(static_cast<useconds_t>(ms) * 1000); }

TEST(pings, to_a_context_that_is_busy_are_not_lost) {
  runtime rt(nodes("shm:1"));
  offload::context queue(1);
  offload::ping(queue, fn<&sleep_ms>, 300);
  constexpr int count_of_pings = 20'000;  // 80 MiB, while 32 may wait
  const std::vector<std::byte> payload(4096);
  for (int i = 0; i < count_of_pings; ++i) offload::ping(queue, fn<&count>, payload);
  queue.drain();
  EXPECT_EQ(offload::sync(1, fn<&counted>), static_cast<std::uint64_t>(count_of_pings));
}

TEST(pings, of_a_node_to_a_context_of_its_own) {
  runtime rt(nodes("shm:1"));
  const auto flood = [](int pings) {
    offload::context queue(offload::this_node());
    const std::vector<std::byte> payload(4096);
    offload::ping(queue, fn<&sleep_ms>, 100);
    for (int i = 0; i < pings; ++i) offload::ping(queue, fn<&count>, payload);
    queue.drain();
    return counted();
  };
  EXPECT_EQ(offload::sync(1, flood, 20'000), 20'000U);
  // A function in the context itself cannot wait for the context.
  offload::context queue(1);
  const auto flood_itself = [](std::uint32_t id, int pings) {
    const offload::destination self(offload::this_node(), id);
    const std::vector<std::byte> payload(4096);
    for (int i = 0; i < pings; ++i) offload::ping(self, fn<&count>, payload);
  };
  EXPECT_THROW(offload::sync(queue, flood_itself, queue.id(), 20'000), call_error);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
