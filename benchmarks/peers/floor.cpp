// The floor: a cache line from one process to another and back, both spinning; nothing else.
#include "common/program.hpp"
#include "common/shared_slots.hpp"

namespace {

using namespace ham::peers;

struct spinning {
  static void await(const std::atomic<std::uint32_t>& number, std::uint32_t wanted) {
    while (number.load(std::memory_order_acquire) != wanted) {
    }
  }
  static void notify(const std::atomic<std::uint32_t>&) {}
};

}  // namespace

int main(int argc, char** argv) {
  auto& area = shared_area<spinning>::make();
  return run_forked(
      argc, argv, {"floor", "-", "64-byte slots in shared memory, both sides spin"},
      [&](const server_process::announce& ready) {
        ready();
        serve_shared(area);
      },
      [&](description&) { return std::make_unique<shared_client<spinning>>(area); });
}
