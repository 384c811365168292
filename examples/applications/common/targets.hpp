// Which targets an application uses, and calls to all of them.
#pragma once

#include <ham/offload.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "common/program.hpp"

namespace app {

/// The first `common.targets` live targets, or all. Throws bad_input if there are none, or fewer.
[[nodiscard]] std::vector<ham::node_t> chosen_targets(const settings& common);
/// Numbers of targets to measure with: 1 .. n, or powers of two and n if that is more than four.
[[nodiscard]] std::vector<std::size_t> numbers_up_to(std::size_t n);
/// The core that each target is on; -1 for all of them where that does not tell threads of this process where to run:
/// two share one, or they are on another machine.
[[nodiscard]] std::vector<int> cores_of(const std::vector<ham::node_t>& targets);

/// Calls start(0) .. start(count - 1), each of which gives a future, and waits for all: their results, nothing for
/// void. The first failure is thrown at once and the other futures let go: a target that has lost another one may wait
/// for it for ever.
template <class Start>
auto call_all(std::size_t count, Start start) {
  using namespace std::chrono_literals;
  using future = decltype(start(std::size_t{0}));
  using result = typename future::value_type;
  constexpr bool has_result = !std::is_void_v<result>;
  std::vector<future> pending;
  std::vector<std::conditional_t<has_result, result, char>> results(count);
  try {
    for (std::size_t i = 0; i < count; ++i) pending.push_back(start(i));
    for (std::size_t settled = 0; settled < count;) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!pending[i].valid() || !pending[i].test()) continue;
        if constexpr (has_result)
          results[i] = pending[i].get();
        else
          pending[i].get();
        ++settled;
      }
      const auto next = std::find_if(pending.begin(), pending.end(), [](const future& one) { return one.valid(); });
      if (next != pending.end()) (void)next->wait_for(50ms);
    }
  } catch (...) {
    for (future& one : pending) one.detach();
    throw;
  }
  if constexpr (has_result) return results;
}

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace app
