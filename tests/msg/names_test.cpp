// Names agree between demanglers and libraries, and read well.
#include "ham/msg/names.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using ham::msg::canonical_name;
using ham::msg::canonical_text;
using ham::msg::pretty_name;

TEST(CanonicalName, FoldsTheNamespacesOfStandardLibraries) {
  EXPECT_EQ(canonical_name(typeid(std::string).name()), "std::string");
  EXPECT_EQ(canonical_text("std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>"),
            "std::string");
  EXPECT_EQ(canonical_text("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"),
            "std::string");
  EXPECT_EQ(canonical_text("std::__ndk1::vector<int, std::__ndk1::allocator<int>>"),
            canonical_name(typeid(std::vector<int>).name()));
  EXPECT_EQ(canonical_text("std::__1::chrono::duration<long long, std::__1::ratio<1l, 1000l>>"),
            "std::chrono::duration<long long,std::ratio<1l,1000l>>");
  EXPECT_EQ(canonical_text("std::chrono::_V2::system_clock"), "std::chrono::system_clock");
  EXPECT_EQ(canonical_text("std::__1::__2::x"), "std::x");
  EXPECT_EQ(canonical_text("std::__1::__fs::filesystem::path"), "std::filesystem::path");
}

TEST(CanonicalName, LeavesOtherNamespacesAlone) {
  EXPECT_EQ(canonical_text("mine::__1::x"), "mine::__1::x");
  EXPECT_EQ(canonical_text("mystd::__1::x"), "mystd::__1::x");
  EXPECT_EQ(canonical_text("std::__detail::x"), "std::__detail::x");
}

TEST(CanonicalName, DoesNotDependOnBlanks) {
  EXPECT_EQ(canonical_text("f<g<int> , unsigned long> (*) (int const &)"), "f<g<int>,unsigned long>(*)(int const&)");
}

TEST(CanonicalName, UnifiesUnnamedTypes) {
  EXPECT_EQ(canonical_text("main::'lambda'(int)"), "main::{lambda(int)#1}");
  EXPECT_EQ(canonical_text("f<main::'lambda0'(int, std::__1::x<int>)>"), "f<main::{lambda(int,std::x<int>)#2}>");
  EXPECT_EQ(canonical_text("main::'unnamed'"), "main::{unnamed type#1}");
}

TEST(CanonicalName, UnifiesBuiltInTypes) {
  EXPECT_EQ(canonical_text("f<decltype(nullptr)>"), "f<std::nullptr_t>");
  EXPECT_EQ(canonical_text("main::{lambda(auto:1, auto:12)#2}"), "main::{lambda(auto,auto)#2}");
  EXPECT_EQ(canonical_text("f(__float128)"), "f(long double)");
}

TEST(CanonicalName, UnifiesAddressesOfFunctions) {
  for (const char* text : {"t<void (*)(int), &(void ns::h<int>(int))>", "t<void(*)(int), &void ns::h<int>(int)>",
                           "t<void (*)(int), (&(void ns::h<int>(int)))>"}) {
    EXPECT_EQ(canonical_text(text), "t<void(*)(int),&void ns::h<int>>");
  }
  for (const char* text :
       {"t<int (*)(ns::e), &ns::f>", "t<int (*)(ns::e), &(ns::f(ns::e))>", "t<int(*)(ns::e), &ns::f(ns::e)>"}) {
    EXPECT_EQ(canonical_text(text), "t<int(*)(ns::e),&ns::f>");
  }
  EXPECT_EQ(canonical_text("t<&ns::c::operator()(int) const, 3>"), "t<&ns::c::operator(),3>");
  EXPECT_EQ(canonical_text("t<&f(int)::local::g(x<a, b>)>"), "t<&f(int)::local::g>");
  EXPECT_EQ(canonical_text("t<&operator<(ns::a, ns::b)>"), "t<&operator<>");
  EXPECT_EQ(canonical_text("t<&(anonymous namespace)::f>"), "t<&(anonymous namespace)::f>");
  EXPECT_EQ(canonical_text("t<(&(anonymous namespace)::f)>"), "t<&(anonymous namespace)::f>");
}

TEST(CanonicalName, SurvivesNonsense) {
  EXPECT_EQ(canonical_name("not mangled"), "not mangled");
  for (const char* text : {"", "<", ">>>", "&(", "(&", "'lambda", "'lambda'(", "std::__1", "::", "::::", "std::__1::",
                           "ham::msg::call_tag<", "ham::msg::call_tag<>", "ham::msg::call_tag<ham::fn_t<,>>",
                           "ham::msg::call_tag<ham::fn_t<*)(,&>>", "ham::msg::call_tag<ham::msg::key_tag<x>>"}) {
    EXPECT_NO_THROW(static_cast<void>(pretty_name(canonical_text(text)))) << text;
  }
  EXPECT_EQ(canonical_text("a\nb\x01"), "a?b?");
}

TEST(CanonicalName, OfAnyLengthHasABoundedOneOfItsOwn) {
  const std::string most(ham::msg::max_name_bytes, 'x');
  EXPECT_EQ(canonical_text(most), most);
  const std::string one = canonical_text(most + "one");
  const std::string other = canonical_text(most + "other");
  EXPECT_EQ(one.size(), ham::msg::max_name_bytes);
  EXPECT_NE(one, other) << "a digest tells them apart";
  EXPECT_EQ(one, canonical_text(most + "one"));
}

TEST(CanonicalName, FoldsTheVersionOfThisLibrary) {
  EXPECT_EQ(canonical_text("ham::v0::msg::call_tag<ham::v0::fn_t<int (*)(ham::v12::offload::buffer_ptr<int>), &f> >"),
            "ham::msg::call_tag<ham::fn_t<int(*)(ham::offload::buffer_ptr<int>),&f>>");
  for (const char* other : {"ham::vec::f", "ham::v::f", "ham::v0x::f", "app::ham::v0::f", "graham::v0::f", "ham::v0"}) {
    EXPECT_EQ(canonical_text(other), other);
  }
}

}  // namespace
