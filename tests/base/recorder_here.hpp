// The flight recorder of the testing process: on while this lives, in memory of its own, and what it holds.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "base/memory_file.hpp"
#include "base/recorder.hpp"
#include "base/recording.hpp"

namespace ham::inline v1::test {

class recorder_here {
 public:
  explicit recorder_here(std::int32_t node) {
    base::detach_recorder_after_fork();  // forgets what tests before have done
    base::enable_recorder(node, [](std::uint32_t, std::string_view&) noexcept { return false; });
    EXPECT_TRUE(base::use_recorder_area(file_.get(), 0));
  }
  recorder_here(const recorder_here&) = delete;
  recorder_here& operator=(const recorder_here&) = delete;
  ~recorder_here() { base::detach_recorder_after_fork(); }

  /// Of the calling thread.
  [[nodiscard]] base::recording::thread thread() const {
    const auto all = base::parse_recording(base::read_recorder_area(file_.get(), 0));
    if (all) {
      for (const base::recording::thread& one : all->threads)
        if (one.id == static_cast<std::uint32_t>(::gettid())) return one;
    }
    return {};
  }

 private:
  base::unique_fd file_ = base::make_memory_file("ham-test", base::recorder_area::bytes);
};

}  // namespace ham::test
