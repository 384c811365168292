// What the tests of the offload API share: jobs whose nodes are threads of this process.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "ham/offload.hpp"
#include "thrown_message.hpp"

namespace ham::inline v1::test {

using namespace std::chrono_literals;

[[nodiscard]] inline runtime_options loopback(int targets, bool one_sided = true) {
  runtime_options options;
  options.nodes = "loopback:" + std::to_string(targets);
  options.one_sided = one_sided;
  return options;
}

/// Every test of a suite gets a fresh job with two targets.
class two_targets : public testing::Test {
 protected:
  runtime job{loopback(2)};
};

/// Parameter: whether put and get go around the messages.
class either_way : public testing::TestWithParam<bool> {
 protected:
  runtime job{loopback(2, GetParam())};
};

[[nodiscard]] inline std::string name_of_way(const testing::TestParamInfo<bool>& info) {
  return info.param ? "one_sided" : "messages";
}

/// Waits for a condition that another thread makes true.
template <class Done>
[[nodiscard]] bool eventually(Done done, std::chrono::milliseconds timeout = 20s) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

}  // namespace ham::test
