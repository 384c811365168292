// Layout texts: how they are joined, and what is read out of them.
#include "ham/msg/layout.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ham/msg/call_layout.hpp"

namespace ham::inline v1::msg {
namespace {

using detail::layout_writer;

void write_i32(std::string& to) { to += "i32"; }
void write_lambda(std::string& to) { to += "object<main::{lambda()#1},8,8:i64@0>"; }
void write_empty(std::string& to) { to += "empty<main::{lambda()#1}>"; }

TEST(layout, parts_are_texts_and_numbers) {
  std::string text = "array<";
  detail::append(text, "f64", ",", std::size_t{3}, std::string(">"));
  EXPECT_EQ(text, "array<f64,3>");
}

TEST(layout, lists_have_commas_between) {
  EXPECT_EQ(detail::join_layouts({}), "");
  const std::array<layout_writer, 2> two{&write_i32, &write_i32};
  EXPECT_EQ(detail::join_layouts(two), "i32,i32");
}

TEST(layout, of_a_call_does_not_name_what_is_called) {
  const std::array<layout_writer, 3> captures{&write_lambda, &write_i32, nullptr};
  EXPECT_EQ(detail::join_call_layout(captures), "object<,8,8:i64@0>,i32->void");
  const std::array<layout_writer, 2> none{&write_empty, &write_i32};
  EXPECT_EQ(detail::join_call_layout(none), "empty->i32");
  const std::array<layout_writer, 3> function{nullptr, &write_i32, &write_i32};
  EXPECT_EQ(detail::join_call_layout(function), "empty,i32->i32");
}

TEST(layout, names_of_types_hold_no_brackets_of_layouts) {
  std::string text;
  detail::append_type_name(text, typeid(std::array<int, 3>));
  EXPECT_EQ(text.find_first_of("<>,"), std::string::npos) << text;
  EXPECT_NE(text.find("std::array["), std::string::npos) << text;
}

TEST(layout, is_portable_without_opaque_bytes) {
  EXPECT_TRUE(layout_is_portable("i32,vector<f64>"));
  EXPECT_FALSE(layout_is_portable("opaque<x,8,8>"));
  EXPECT_TRUE(layout_is_portable("opaque<x,1,1>")) << "one byte has no order";
  EXPECT_FALSE(layout_is_portable("object<x,8,8:i64@0>"));
  EXPECT_TRUE(layout_is_portable("object<x,8,8:i64@0>", true));
  EXPECT_FALSE(layout_is_portable("vector<f80>"));
  EXPECT_TRUE(layout_is_portable("buffer_ptr<opaque<x,8,8>>,i32")) << "what it points to stays where it is";
  EXPECT_FALSE(layout_is_portable("buffer_ptr<i32>,opaque<x,8,8>"));
  EXPECT_TRUE(layout_has_long_double("i32->f80"));
  EXPECT_FALSE(layout_has_long_double("opaque<my::f80x,1,1>"));
}

}  // namespace
}  // namespace ham::msg
