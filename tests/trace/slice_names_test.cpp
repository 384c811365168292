#include "trace/slice_names.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "trace/parts_here.hpp"

namespace {

using namespace ham::trace;
using namespace ham::test;

struct names_of_part {
  names_of_part() { part.functions.push_back("ham::detail::trace_control::ping()"); }
  std::ostringstream out;
  pftrace_writer to{out};
  ham::base::trace_part part = part_of(0, {});
  slice_names names{part, to};
};

TEST(slice_names, are_verbs_and_functions) {
  names_of_part of;
  EXPECT_EQ(of.names.function(1), "g(int)");
  EXPECT_EQ(of.names.of("call ", 1), of.to.intern("call g(int)"));
  EXPECT_EQ(of.names.of("call ", 1), of.names.of("call ", 1));
  EXPECT_NE(of.names.of("call ", 1), of.names.of("ping ", 1));
}

TEST(slice_names, of_functions_that_are_not_known_are_numbers) {
  names_of_part of;
  EXPECT_EQ(of.names.function(77), "function 77");
}

TEST(slice_names, hide_the_library_s_own_calls) {
  names_of_part of;
  EXPECT_FALSE(of.names.hides(0));
  EXPECT_TRUE(of.names.hides(2));
  EXPECT_FALSE(of.names.hides(77));
}

TEST(slice_names, of_the_program_are_its_texts) {
  names_of_part of;
  of.part.texts[5] = "assemble";
  EXPECT_EQ(of.names.of_text(5), of.to.intern("assemble"));
  EXPECT_EQ(of.names.of_text(6), of.to.intern("unnamed"));
}

}  // namespace
