// Lines that device functions print, as the host reads them.
#include "runtime/device_messages.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ham/device/print.hpp"

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;

template <class... Parts>
std::string printed(const Parts&... parts) {
  wire::print_writer line;
  (line.put(parts), ...);
  const std::byte* const bytes = line.finish();
  return printed_text({bytes, line.size()});
}

template <class Part>
concept printable = requires(wire::print_writer line, Part part) {
  line.put(part);
};
static_assert(!printable<const double*> && !printable<void*>, "they would be printed as true");
static_assert(printable<const char*> && printable<bool> && printable<std::int8_t>);

TEST(device_messages, print_texts_and_numbers) {
  EXPECT_EQ(printed(), "");
  EXPECT_EQ(printed("step ", 3, " of ", 7U, ": ", 0.5, ' ', true), "step 3 of 7: 0.5 true");
  EXPECT_EQ(printed(false, 'c', std::int8_t{-3}, std::uint8_t{4}), "falsec-34");
  EXPECT_EQ(printed(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(printed(UINT64_MAX), "18446744073709551615");
}

TEST(device_messages, print_that_a_text_is_not_there) {
  const char* const nothing = nullptr;
  EXPECT_EQ(printed("name: ", nothing, ", ", 3), "name: (null), 3");
  EXPECT_EQ(printed(nothing), "(null)");
}

TEST(device_messages, print_no_more_than_a_message_holds) {
  const std::string text(150, 'x');
  const std::string line = printed(text.c_str(), text.c_str(), 5);
  EXPECT_EQ(line, text + "...");
  const std::string far_too_long(1000, 'y');
  const std::string cut = std::string(wire::max_text, 'y') + "...";
  EXPECT_EQ(printed(far_too_long.c_str()), cut);
  EXPECT_EQ(printed(far_too_long.c_str(), 5, "z"), cut) << "nothing follows what was cut";
  EXPECT_EQ(printed("x", far_too_long.c_str()), "x" + cut);
  const std::string fits(wire::max_text, 'y');
  EXPECT_EQ(printed(fits.c_str(), 'z'), fits + "z");
  wire::print_writer full;
  for (int i = 0; i < 100; ++i) full.put(i);
  static_cast<void>(full.finish());
  EXPECT_LE(full.size(), wire::max_message);
}

TEST(device_messages, that_fail_are_told_now_and_then) {
  line_limiter lines;
  EXPECT_EQ(lines.pass(-5), 0U) << "the first one";
  EXPECT_EQ(lines.pass(-5), std::nullopt);
  EXPECT_EQ(lines.pass(line_limiter::interval_ns - 6), std::nullopt);
  EXPECT_EQ(lines.pass(line_limiter::interval_ns - 5), 2U) << "what was not told is counted";
  EXPECT_EQ(lines.pass(3 * line_limiter::interval_ns), 0U);
}

TEST(device_messages, wait_for_room_also_where_writes_do_not) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  constexpr int page = 4'096;
  ASSERT_GE(::fcntl(ends[1], F_SETPIPE_SZ, page), page);
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
  std::string found;
  std::thread reader([&] {
    std::array<char, 1'024> some{};
    for (ssize_t got = 0; (got = ::read(ends[0], some.data(), some.size())) > 0;)
      found.append(some.data(), static_cast<std::size_t>(got));
  });
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {  // more than the pipe holds
    wire::print_writer line;
    line.put(i);
    line.put(" of some lines that are longer than their numbers");
    const std::byte* const bytes = line.finish();
    wire::print_here(bytes, line.size());
    expected += std::to_string(i) + " of some lines that are longer than their numbers\n";
  }
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(found, expected);
}

TEST(device_messages, end_where_they_cannot_be_read) {
  wire::print_writer line;
  line.put("abc");
  line.put(5);
  const std::byte* const bytes = line.finish();
  EXPECT_EQ(printed_text({bytes, line.size() - 1}), "abc");
  EXPECT_EQ(printed_text({bytes, 2}), "");
  const std::vector<std::byte> nonsense(10, std::byte{0x7f});
  EXPECT_EQ(printed_text(nonsense), "");
}

}  // namespace
}  // namespace ham::detail
