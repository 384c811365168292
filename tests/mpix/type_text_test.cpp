// Types written as text: C's arithmetic types in any order of words, pointers, and what is refused.
#include "mpix/type_text.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "mpix/refusal.hpp"

namespace ham::inline v1::mpix {
namespace {

void expect_type(const char* text, type_kind kind, std::size_t size) {
  const type found = parse_type(text);
  EXPECT_EQ(found.kind, kind) << text;
  EXPECT_EQ(found.size, size) << text;
}

constexpr auto is_signed = type_kind::signed_integer;
constexpr auto is_unsigned = type_kind::unsigned_integer;

TEST(type_text, integers_are_known_in_any_order_of_their_words) {
  for (const char* const text :
       {"int", "signed", "signed int", "int signed", "const int", "int const", "volatile  int "})
    expect_type(text, is_signed, sizeof(int));
  for (const char* const text : {"unsigned", "unsigned int", "int unsigned"})
    expect_type(text, is_unsigned, sizeof(int));
  for (const char* const text :
       {"long", "long int", "int long", "long long", "long long int", "long int long", "signed long"})
    expect_type(text, is_signed, sizeof(long));
  for (const char* const text : {"unsigned long", "long unsigned int", "unsigned long long"})
    expect_type(text, is_unsigned, sizeof(long));
  for (const char* const text : {"short", "short int", "int short", "signed short int"})
    expect_type(text, is_signed, sizeof(short));
  expect_type("unsigned short int", is_unsigned, sizeof(short));
  expect_type("char", std::is_signed_v<char> ? is_signed : is_unsigned, 1);
  expect_type("signed char", is_signed, 1);
  expect_type("unsigned char", is_unsigned, 1);
  expect_type("bool", is_unsigned, 1);
  expect_type("_Bool", is_unsigned, 1);
}

TEST(type_text, names_of_the_standard_headers_and_of_mpi_are_known) {
  expect_type("int8_t", is_signed, 1);
  expect_type("std::uint16_t", is_unsigned, 2);
  expect_type("uint64_t", is_unsigned, 8);
  expect_type("size_t", is_unsigned, sizeof(std::size_t));
  expect_type("std::ptrdiff_t", is_signed, sizeof(std::ptrdiff_t));
  expect_type("MPI_Aint", is_signed, sizeof(std::intptr_t));
}

TEST(type_text, floating_point_numbers_are_known) {
  expect_type("float", type_kind::floating, sizeof(float));
  expect_type("double", type_kind::floating, sizeof(double));
  expect_type("long double", type_kind::floating, sizeof(long double));
  expect_type("double long", type_kind::floating, sizeof(long double));
  for (const char* const text : {"double _Complex", "double complex", "_Complex double", "complex double"})
    expect_type(text, type_kind::complex, 2 * sizeof(double));
  expect_type("float complex", type_kind::complex, 2 * sizeof(float));
}

TEST(type_text, pointers_know_what_they_point_to_if_that_is_one_word) {
  for (const char* const text :
       {"double*", "const double *", "double const* restrict", "double&", "double x[]", "double[3]"}) {
    const type found = parse_type(text);
    EXPECT_EQ(found.kind, type_kind::pointer) << text;
    EXPECT_EQ(found.size, sizeof(void*));
  }
  EXPECT_EQ(parse_type("const double*").pointee, sizeof(double));
  EXPECT_EQ(parse_type("void*").pointee, 0U);
  EXPECT_EQ(parse_type("struct point*").pointee, 0U) << "any size will do";
  EXPECT_EQ(parse_type("unsigned long*").pointee, 0U);
  EXPECT_EQ(parse_type("  int *  ").name, "int *");
}

TEST(type_text, pointers_to_pointers_mean_nothing_elsewhere) {
  for (const char* const text : {"char**", "char* const*", "char* x[]"}) {
    const type found = parse_type(text);
    EXPECT_EQ(found.kind, type_kind::opaque) << text;
    EXPECT_EQ(found.why, "a pointer to pointers: addresses of the caller mean nothing in a child");
  }
}

template <class Parse>
std::string refusal_of(Parse parse) {
  try {
    static_cast<void>(parse());
  } catch (const refusal& why) {
    EXPECT_EQ(why.code(), failure::untyped);
    return why.what();
  }
  return "it was taken";
}

TEST(type_text, what_is_not_known_by_its_name_is_refused) {
  for (const char* const text :
       {"", "point", "struct point", "int int", "short double", "unsigned double", "signed float", "long float",
        "long char", "long long double", "long long long", "signed unsigned", "unsigned size_t", "unsigned bool",
        "complex", "complex int", "int complex", "intt", "std"}) {
    EXPECT_EQ(
        refusal_of([&] { return parse_type(text); }),
        "type \"" + std::string(text) +
            "\" is not known by its name: only arithmetic types and pointers can be written; compile the kernel with "
            "-g instead");
  }
}

TEST(type_text, parameters_are_between_commas) {
  EXPECT_TRUE(parse_parameters("").empty());
  EXPECT_TRUE(parse_parameters("  ").empty());
  EXPECT_TRUE(parse_parameters(" void ").empty());
  const auto found = parse_parameters("double, unsigned int,const char *");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].kind, type_kind::floating);
  EXPECT_EQ(found[1].kind, is_unsigned);
  EXPECT_EQ(found[2].kind, type_kind::pointer);
  EXPECT_EQ(found[2].name, "const char *");
  EXPECT_EQ(parse_parameters("void*").size(), 1U);
}

TEST(type_text, parameters_that_are_missing_or_void_are_refused) {
  EXPECT_EQ(refusal_of([] { return parse_parameters("int, void"); }), "a parameter cannot be void");
  EXPECT_EQ(refusal_of([] { return parse_parameters("void, int"); }), "a parameter cannot be void");
  for (const char* const text : {",", "int,", ",int", "int,,int"})
    EXPECT_NE(refusal_of([&] { return parse_parameters(text); }).find("type \"\" is not known"), std::string::npos)
        << text;
}

TEST(type_text, void_alone_is_a_result) { EXPECT_EQ(parse_type("void").kind, type_kind::nothing); }

}  // namespace
}  // namespace ham::mpix
