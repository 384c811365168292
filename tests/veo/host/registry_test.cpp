// Handles that are none: unknown ones are told from those that live, and a helper that cannot start leaves nothing.
#include "veo/host/registry.hpp"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace ham::inline v1::veo {
namespace {

template <class Handle>
Handle* invented() {
  alignas(64) static std::array<std::byte, 64> place{};
  return reinterpret_cast<Handle*>(place.data());
}

TEST(veo_registry, handles_that_were_never_given_out_are_refused) {
  errno = 0;
  EXPECT_EQ(live(static_cast<veo_proc_handle*>(nullptr)), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(live(invented<veo_proc_handle>()), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(live(static_cast<veo_thr_ctxt*>(nullptr)), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(registry::of_this_process().state_of(invented<int>()), life::unknown);
  EXPECT_EQ(registry::of_this_process().state_of(nullptr), life::unknown);
}

TEST(veo_registry, contexts_live_until_they_are_said_to_end) {
  registry& here = registry::of_this_process();
  auto* const context = invented<veo_thr_ctxt>();
  here.add(context);
  EXPECT_EQ(here.state_of(context), life::live);
  EXPECT_EQ(live(context), context);
  here.end(context);
  EXPECT_EQ(here.state_of(context), life::ended);
  errno = 0;
  EXPECT_EQ(live(context), nullptr) << "what the thread remembers is void";
  EXPECT_EQ(errno, EINVAL);
}

TEST(veo_registry, no_process_has_an_identifier_that_was_not_given) {
  for (const int identifier : {-1, 0, 5, INT32_MAX, INT32_MIN})
    EXPECT_EQ(registry::of_this_process().with_identifier(identifier), nullptr) << identifier;
}

TEST(veo_registry, a_helper_that_cannot_start_leaves_nothing) {
  registry& here = registry::of_this_process();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(here.create(0, "/no/such/helper"), error);
    EXPECT_EQ(here.with_identifier(0), nullptr);
  }
}

TEST(veo_registry, a_child_after_fork_has_an_empty_one_of_its_own) {
  registry& mine = registry::of_this_process();
  auto* const context = invented<veo_thr_ctxt>();
  mine.add(context);
  ASSERT_EQ(live(context), context);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool forgotten = live(context) == nullptr && &registry::of_this_process() != &mine &&
                           registry::of_this_process().state_of(context) == life::unknown;
    ::_exit(forgotten ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(live(context), context) << "the parent's stay";
  mine.end(context);
}

}  // namespace
}  // namespace ham::veo
