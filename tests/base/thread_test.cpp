// Threads of the library: signals are the application's, and everybody can tell them apart.
#include "base/thread.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>

namespace ham::inline v1::base {
namespace {

struct seen {
  bool of_library = false;
  bool blocks_usual = false;
  bool takes_faults = false;
  std::string name;
};

seen look() {
  seen what;
  what.of_library = on_library_thread;
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  what.blocks_usual = ::sigismember(&now, SIGUSR1) == 1 && ::sigismember(&now, SIGTERM) == 1;
  what.takes_faults = ::sigismember(&now, SIGSEGV) == 0 && ::sigismember(&now, SIGABRT) == 0;
  std::array<char, 16> name{};
  ::prctl(PR_GET_NAME, name.data());
  what.name = name.data();
  return what;
}

void expect_library_thread(const seen& what) {
  EXPECT_TRUE(what.of_library);
  EXPECT_TRUE(what.blocks_usual);
  EXPECT_TRUE(what.takes_faults);
  EXPECT_EQ(what.name, library_thread_name);
}

TEST(thread, of_the_library_takes_no_signals_of_the_application) {
  seen inside;
  start_thread([&] { inside = look(); }).join();
  expect_library_thread(inside);
  const seen outside = look();
  EXPECT_FALSE(outside.of_library);
  EXPECT_FALSE(outside.blocks_usual) << "the caller's are as they were";
}

TEST(thread, has_the_stack_that_was_asked_for) {
  seen inside;
  std::size_t bytes = 0;
  constexpr std::size_t wanted = std::size_t{64} << 20;  // more than usual
  sized_thread one(
      [&] {
        inside = look();
        pthread_attr_t attributes;
        ::pthread_getattr_np(::pthread_self(), &attributes);
        ::pthread_attr_getstacksize(&attributes, &bytes);
        ::pthread_attr_destroy(&attributes);
      },
      wanted);
  one.join();
  expect_library_thread(inside);
  EXPECT_GE(bytes, wanted);
}

TEST(thread, that_cannot_be_started_says_what_to_look_at) {
  try {
    sized_thread none([] {}, 1);  // less than any thread needs
    FAIL();
  } catch (const std::system_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("ulimit -u"), std::string::npos) << problem.what();
  }
  EXPECT_FALSE(look().blocks_usual);
}

TEST(thread, may_own_what_it_works_with) {
  auto box = std::make_unique<int>(5);
  std::atomic<int> got{0};
  start_thread([box = std::move(box), &got] { got = *box; }).join();
  EXPECT_EQ(got, 5);
}

}  // namespace
}  // namespace ham::base
