// The list of device functions, and what the table says of each.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>

#include "ham/device/device_code.hpp"
#include "ham/device/function.hpp"

namespace ham::inline v1::listed_device_functions {
double plain(double, int, bool);
void nothing() noexcept;
int of_span(std::span<const float>, const double&);
}  // namespace ham::listed_device_functions

HAM_DEVICE_FUNCTION(ham::listed_device_functions::plain, warp)
HAM_DEVICE_FUNCTION(ham::listed_device_functions::nothing, grid)
HAM_DEVICE_FUNCTION(ham::listed_device_functions::of_span, block)

namespace ham::inline v1::listed_device_functions {
double plain(double x, int, bool) { return x; }
void nothing() noexcept {}
int of_span(std::span<const float> of, const double&) { return static_cast<int>(of.size()); }
}  // namespace ham::listed_device_functions

namespace ham::inline v1::device::detail {
namespace {

using namespace listed_device_functions;

template <auto Function>
function_entry& entry_of() {
  return declared_function<decltype(Function), Function>::entry();
}

TEST(device_functions, have_numbers_of_their_own) {
  const std::uint32_t first = entry_of<&plain>().number();
  const std::uint32_t second = entry_of<&nothing>().number();
  ASSERT_LT(first, count_functions());
  ASSERT_LT(second, count_functions());
  EXPECT_NE(first, second);
  EXPECT_EQ(&function_at(first), &entry_of<&plain>());
  const std::uint32_t count = count_functions();
  entry_of<&plain>().enlist();
  EXPECT_EQ(count_functions(), count) << "once is enough";
}

TEST(device_functions, are_described_by_their_parameters) {
  const table_row& one = entry_of<&plain>().row;
  EXPECT_EQ(one.runs_on, scope::warp);
  EXPECT_EQ(one.min_size, 13U);
  EXPECT_EQ(one.result_size, sizeof(double));
  EXPECT_FALSE(one.varies);
  EXPECT_EQ(entry_of<&nothing>().row.min_size, 0U);
  EXPECT_EQ(entry_of<&nothing>().row.result_size, 0U);
  EXPECT_TRUE(entry_of<&of_span>().row.varies);
  EXPECT_EQ(entry_of<&plain>().symbol(), nullptr) << "no compiler for devices has seen it";
}

TEST(device_functions, of_other_sources_get_their_version_for_devices) {
  static const int variable = 0;
  EXPECT_TRUE(entry_of<&nothing>().set_symbol(&variable));
  EXPECT_EQ(entry_of<&nothing>().symbol(), &variable);
}

TEST(device_functions, of_a_kernel_with_another_layout_of_queues_are_left_out) {
  static const device_code older{};
  EXPECT_TRUE(enlist_device_code(older, queue_layout - 1));
  EXPECT_EQ(device_code_of_process(), nullptr);
  EXPECT_TRUE(device_code_was_left_out());
}

TEST(device_functions, are_known_while_a_device_executes_them) {
  const auto queue = std::make_unique<call_queue>();
  EXPECT_EQ(executed_function(*queue), leave_function);
  send_call(*queue, 0, 7, 0, 0);
  EXPECT_EQ(executed_function(*queue), 7U);
  queue->reply_at(0).what = stamp_of(0);
  EXPECT_EQ(executed_function(*queue), leave_function) << "it has ended";
  constexpr std::uint64_t last_stamp = (1U << 24U) - 2;
  send_call(*queue, last_stamp + 1, 9, 0, 0);
  send_call(*queue, last_stamp, 8, 0, 0);
  EXPECT_EQ(executed_function(*queue), 8U) << "the oldest one, also where stamps begin anew";
}

TEST(device_functions, are_known_while_replies_to_earlier_calls_are_kept) {
  const auto queue = std::make_unique<call_queue>();
  send_call(*queue, 3, 7, 0, 0);
  send_call(*queue, 4, 8, 0, 0);
  send_call(*queue, 5, 9, 0, 0);
  queue->step = step_word(4, 0);
  EXPECT_EQ(executed_function(*queue), 8U);
  EXPECT_TRUE(has_begun(*queue, 4));
  EXPECT_FALSE(has_begun(*queue, 3)) << "it has ended";
  EXPECT_FALSE(has_begun(*queue, 5));
  EXPECT_FALSE(has_begun(*queue, 4 + (1U << 24U))) << "the note may be old";
  queue->reply_at(3).what = stamp_of(3);
  queue->reply_at(4).what = stamp_of(4);
  EXPECT_EQ(executed_function(*queue), 9U) << "it has begun later";
}

TEST(device_functions, are_known_while_a_device_executes_them_in_a_chain) {
  const auto queue = std::make_unique<call_queue>();
  const std::uint64_t calls[] = {chain_step{7, true, 12, 0}.word(), 0, 0,
                                 chain_step{8, false, 8, 1}.word(), 0, chain_step{9, false, 0, 0}.word()};
  std::memcpy(call_room(*queue, 5), calls, sizeof calls);
  send_call(*queue, 5, chain_function, sizeof calls, 0);
  queue->step = step_word(4, 1);  // of an earlier one
  EXPECT_EQ(executed_function(*queue), 7U);
  queue->step = step_word(5, 1);
  EXPECT_EQ(executed_function(*queue), 8U);
  queue->step = step_word(5, 2);
  EXPECT_EQ(executed_function(*queue), 9U);
  queue->step = step_word(5, 0xffff);  // of a device that writes anything
  EXPECT_NE(executed_function(*queue), leave_function);
}

TEST(device_functions, read_what_was_written_for_them) {
  const float values[] = {1, 2, 3};
  std::byte bytes[64];
  argument_writer to(bytes);
  to.put(std::span<const float>(values));
  to.put(2.5);
  argument_reader from(bytes, to.size());
  const std::span<const float> first = from.take(static_cast<std::span<const float>*>(nullptr));
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[2], 3.0F);
  EXPECT_EQ(from.take(static_cast<double*>(nullptr)), 2.5);
  EXPECT_TRUE(from.ok());
  argument_reader cut(bytes, to.size() - 1);
  static_cast<void>(cut.take(static_cast<std::span<const float>*>(nullptr)));
  static_cast<void>(cut.take(static_cast<double*>(nullptr)));
  EXPECT_FALSE(cut.ok());
}

}  // namespace
}  // namespace ham::device::detail
