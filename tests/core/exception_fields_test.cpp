// Error codes and outcomes of calls arrive with their exceptions; those of a peer are checked.
#include "core/exception_fields.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <sstream>

#include "core/exceptions_as_bytes.hpp"
#include "core/node_loss.hpp"
#include "core/remote_exception.hpp"
#include "ham/error_info.hpp"
#include "ham/offload/exceptions.hpp"

namespace ham::inline v1::detail {
namespace {

using test::bytes_of;
using test::through_bytes;

TEST(exception_fields, failures_of_nested_calls_keep_their_details) {
  const auto lost = through_bytes<node_failure>([] {
    throw node_failure("node 2 failed", {2, "there", 77, "g(int)", 5, call_outcome::not_run});
  });
  EXPECT_STREQ(lost.what(), "node 2 failed");
  EXPECT_EQ(lost.node(), 2);
  EXPECT_EQ(lost.host(), "there");
  EXPECT_EQ(lost.pid(), 77);
  EXPECT_EQ(lost.function(), "g(int)");
  EXPECT_EQ(lost.call(), 5U);
  EXPECT_EQ(lost.outcome(), call_outcome::not_run);
  for (const call_outcome outcome : {call_outcome::not_run, call_outcome::may_have_run}) {
    const auto stopped = through_bytes<operation_cancelled>([&] { throw operation_cancelled("stopped", outcome); });
    EXPECT_EQ(stopped.outcome(), outcome);
    EXPECT_STREQ(stopped.what(), "stopped");
    const auto late = through_bytes<deadline_exceeded>([&] { throw deadline_exceeded("too late", outcome); });
    EXPECT_STREQ(late.what(), "too late");
    EXPECT_EQ(late.outcome(), outcome);
  }
}

TEST(exception_fields, failures_of_processes_that_end_say_so) {
  const auto ending = through_bytes<ending_failure>([] {
    throw ending_failure("node 3 failed", {3, "there", 78, "f(int)", 6, call_outcome::may_have_run});
  });
  EXPECT_STREQ(ending.what(), "node 3 failed");
  EXPECT_EQ(ending.node(), 3);
  EXPECT_EQ(ending.pid(), 78);
  EXPECT_EQ(ending.outcome(), call_outcome::may_have_run);
  node_failure::details of_node_3;
  of_node_3.node = 3;
  const auto decoded = [](auto thrown) {
    try {
      throw thrown;
    } catch (...) {
      return decode_exception(encode_current_exception(), "f()", {});
    }
  };
  const std::exception_ptr said = decoded(ending_failure("it ends", of_node_3));
  EXPECT_EQ(ending_process(said), 3);
  EXPECT_EQ(ham::describe_error(said).type, "ham::node_failure");
  EXPECT_EQ(ending_process(decoded(node_failure("it was lost", of_node_3))), -1);
}

TEST(exception_fields, what_has_come_from_another_node_already_says_so) {
  const remote_error::origin first{4, "there", 79, "f(int)", "app::trouble", "no more"};
  const auto same = through_bytes<remote_error>([&] { throw remote_error("trouble on node 4", first); });
  EXPECT_STREQ(same.what(), "trouble on node 4");
  EXPECT_EQ(same.node(), 4);
  EXPECT_EQ(same.host(), "there");
  EXPECT_EQ(same.pid(), 79);
  EXPECT_EQ(same.function(), "f(int)");
  EXPECT_EQ(same.type(), "app::trouble");
  EXPECT_EQ(same.message(), "no more");
  struct derived : remote_error {
    using remote_error::remote_error;
  };
  const auto other = through_bytes<remote_error>([&] { throw derived("of another type", first); });
  EXPECT_NE(other.type().find("derived"), std::string::npos) << other.type();
  EXPECT_EQ(other.message(), "of another type");
}

TEST(exception_fields, details_from_a_peer_are_checked) {
  EXPECT_THROW(decode_exception(bytes_of(field_code::remote, "", "", ""), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(field_code::remote, "", "", std::string(80, '\xff')), "f()", {}),
               protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(field_code::ending, "", "", ""), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(field_code::failure, "", "", ""), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(field_code::failure, "", "", std::string(60, '\xff')), "f()", {}),
               protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(field_code::cancelled, "", "", ""), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(field_code::deadline, "", "", ""), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(field_code::deadline, "", "", "\x03"), "f()", {}), protocol_error);
}

TEST(exception_fields, those_with_an_error_code_keep_it) {
  using std::filesystem::filesystem_error;
  const filesystem_error file("cannot read", "a/b", "c d", std::make_error_code(std::errc::io_error));
  const auto same_file = through_bytes<filesystem_error>([&] { throw file; });
  EXPECT_STREQ(same_file.what(), file.what());
  EXPECT_EQ(same_file.code(), file.code());
  EXPECT_EQ(same_file.path1(), file.path1());
  EXPECT_EQ(same_file.path2(), file.path2());

  const auto stream = through_bytes<std::ios_base::failure>([] {
    std::istringstream empty;
    empty.exceptions(std::ios::eofbit);
    empty.get();
  });
  EXPECT_EQ(stream.code(), std::io_errc::stream);

  const auto broken = through_bytes<std::future_error>([] { throw std::future_error(std::future_errc::no_state); });
  EXPECT_EQ(broken.code(), std::future_errc::no_state);

  for (const char* extra : {"5:generic", "", "x"}) {
    EXPECT_THROW((void)decode_exception(bytes_of(field_code::file, "", "", extra), "f()", {}), protocol_error) << extra;
  }
}

TEST(exception_fields, a_system_error_needs_its_code) {
  for (const char* extra : {"", "generic", ":generic", "x:generic", "1x:generic", " 1:generic", "99999999999:system"}) {
    EXPECT_THROW((void)decode_exception(bytes_of(field_code::system, "", "", extra), "f()", {}), protocol_error)
        << extra;
  }
  try {
    std::rethrow_exception(decode_exception(bytes_of(field_code::system, "", "", "2:generic"), "f()", {}));
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), 2);
  }
}

TEST(exception_fields, nothing_else_has_them) {
  for (int code = 0; code < 256; ++code)
    EXPECT_EQ(has_fields(static_cast<std::uint8_t>(code)), (code >= 241 && code <= 248) || code == 250) << code;
  try {
    throw std::runtime_error("plain");
  } catch (...) {
    EXPECT_FALSE(take_fields_apart("std::runtime_error"));
  }
}

}  // namespace
}  // namespace ham::detail
