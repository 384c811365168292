#include "transport/cuda/bell_page.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(cuda_bell_page, is_seen_by_who_gets_its_file) {
  const bell_page host;
  const bell_page target(base::unique_fd(::dup(host.file.get())), base::make_event());
  EXPECT_EQ(ring_bell(target.of(0), 3), 0U) << "nobody sleeps";
  EXPECT_EQ(host.of(0).attention.load(), 1U);
  EXPECT_EQ(host.of(0).bits[0].load(), 1U << 3U);
  EXPECT_EQ(host.of(1).attention.load(), 0U) << "each node has its own";
  EXPECT_NE(host.event.get(), target.event.get());
}

}  // namespace
}  // namespace ham::transport::cuda
