// A job of threads in which node 1 allocates memory of a device whose copies are over when the test says so.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "offload/loopback_job.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/engine.hpp"
#include "runtime/stepped_memory.hpp"

namespace ham::inline v1::test {

/// That many numbers, from 3.
inline std::vector<std::uint32_t> counted(std::size_t n) {
  std::vector<std::uint32_t> result(n);
  std::iota(result.begin(), result.end(), std::uint32_t{3});
  return result;
}

/// Put and get go in messages, as to the process of a device.
class device_node : public testing::Test {
 protected:
  explicit device_node(std::size_t staging_bytes = std::size_t{4} << 20,
                       std::size_t arena_bytes = stepped_memory::arena_bytes) {
    auto made = std::make_unique<stepped_memory>(staging_bytes, arena_bytes);
    memory = made.get();
    node().memory.use_device(std::make_shared<detail::device_heap>(std::move(made)));
  }
  ~device_node() override { memory->allow_all(); }

  [[nodiscard]] static detail::engine& node() {
    return *reinterpret_cast<detail::engine*>(
        offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&detail::current()); }));
  }

  runtime job{loopback(2, false)};
  stepped_memory* memory;
};

}  // namespace ham::test
