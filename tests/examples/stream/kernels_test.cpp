// The kernels of STREAM against the plain recurrence.
#include "stream/kernels.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace {

struct arrays {
  explicit arrays(std::size_t size) : a(size), b(size), c(size) {
    for (std::size_t i = 0; i < size; ++i) {
      const stream::element start = stream::initial(i);
      a[i] = start.a;
      b[i] = start.b;
      c[i] = start.c;
    }
  }
  void run(stream::kernel which) { stream::run(which, a.data(), b.data(), c.data(), a.size()); }
  std::vector<double> a, b, c;
};

TEST(stream_kernels, every_kernel_does_what_its_name_says) {
  arrays now(37);
  now.run(stream::kernel::copy);
  EXPECT_EQ(now.c, now.a);
  now.run(stream::kernel::scale);
  for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(now.b[i], stream::factor * now.c[i]);
  now.run(stream::kernel::add);
  for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(now.c[i], now.a[i] + now.b[i]);
  now.run(stream::kernel::triad);
  for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(now.a[i], now.b[i] + stream::factor * now.c[i]);
}

TEST(stream_kernels, what_each_leaves_is_what_the_check_expects_however_often_it_runs) {
  arrays now(100);
  for (const stream::kernel which : stream::kernels) {
    for (int pass = 0; pass < 3; ++pass) now.run(which);
    for (std::size_t i = 0; i < 100; ++i) {
      const stream::element right = stream::after(stream::initial(i), which);
      EXPECT_EQ(now.a[i], right.a);
      EXPECT_EQ(now.b[i], right.b);
      EXPECT_EQ(now.c[i], right.c);
    }
  }
}

TEST(stream_kernels, the_triad_has_two_operations_and_three_numbers_per_element) {
  EXPECT_EQ(stream::cost_of(stream::kernel::triad).bytes, 24);
  EXPECT_EQ(stream::cost_of(stream::kernel::triad).flops, 2);
}

}  // namespace
