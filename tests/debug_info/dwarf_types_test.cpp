// Types out of entries: what fits into registers, what cannot cross to another process, and types without end.
#include "debug_info/dwarf_types.hpp"

#include <gtest/gtest.h>

#include <string>

#include "debug_info/bytes.hpp"
#include "debug_info/made_dwarf.hpp"

namespace ham::inline v1::debug_info {
namespace {

using namespace test;
using tag = dwarf_tag;
using attribute = dwarf_attribute;

constexpr unsigned c99 = 0x0c;
constexpr unsigned cxx14 = 0x21;
constexpr unsigned fortran = 0x22;

signature signature_in(const made_dwarf& made) {
  const dwarf read(made.sections());
  return signature_of(read, read.entry(read.units().front(), made.place("f")));
}

made_entry base(const std::string& name, unsigned encoding, std::uint64_t bytes) {
  return {name, tag::base_type, {named(name), sized(bytes), number_of(attribute::encoding, encoding)}};
}
made_entry integer() { return base("int", 0x05, 4); }
made_entry real() { return base("double", 0x04, 8); }

/// The type of the only parameter of a function in C++, which has the type `label` of these.
type parameter(const std::string& label, std::vector<made_entry> types) {
  types.push_back({"f", tag::subprogram, {named("f")}, {{"the parameter", tag::formal_parameter, {typed(label)}}}});
  const signature found = signature_in(made_dwarf(std::move(types), cxx14));
  EXPECT_EQ(found.parameters.size(), 1U);
  return found.parameters.empty() ? type{} : found.parameters.front();
}

TEST(dwarf_types, numbers_have_their_kind_if_their_size_is_one) {
  const std::pair<unsigned, type_kind> kinds[] = {
      {0x02, type_kind::unsigned_integer}, {0x07, type_kind::unsigned_integer}, {0x08, type_kind::unsigned_integer},
      {0x10, type_kind::unsigned_integer}, {0x05, type_kind::signed_integer},   {0x06, type_kind::signed_integer},
      {0x04, type_kind::floating},         {0x03, type_kind::complex}};
  for (const auto& [encoding, kind] : kinds) {
    const type found =
        parameter("t", {{"t", tag::base_type, {named("t"), sized(8), number_of(attribute::encoding, encoding)}}});
    EXPECT_EQ(found.kind, kind) << encoding;
    EXPECT_EQ(found.size, 8U);
    EXPECT_EQ(found.name, "t");
  }
  EXPECT_EQ(parameter("t", {base("t", 0x05, 16)}).kind, type_kind::opaque) << "of 128 bits";
  EXPECT_EQ(parameter("t", {base("t", 0x05, 3)}).kind, type_kind::opaque);
  EXPECT_EQ(parameter("_Float16", {base("_Float16", 0x04, 2)}).kind, type_kind::opaque);
  EXPECT_EQ(parameter("__float128", {base("__float128", 0x04, 16)}).kind, type_kind::opaque);
  EXPECT_EQ(parameter("t", {base("t", 0x03, 32)}).kind, type_kind::opaque);
  EXPECT_EQ(parameter("t", {base("t", 0x0f, 8)}).why, "a kind of number that kernels cannot take") << "decimal";
}

TEST(dwarf_types, a_function_has_a_result_and_parameters) {
  const signature found = signature_in(made_dwarf({integer(),
                                                   real(),
                                                   {"f",
                                                    tag::subprogram,
                                                    {named("f"), typed("double"), flag_of(attribute::prototyped)},
                                                    {{"a", tag::formal_parameter, {typed("int")}},
                                                     {"b", tag::lexical_block, {}},
                                                     {"c", tag::formal_parameter, {typed("double")}}}}},
                                                  c99));
  EXPECT_EQ(found.result.kind, type_kind::floating);
  ASSERT_EQ(found.parameters.size(), 2U);
  EXPECT_EQ(found.parameters[0].kind, type_kind::signed_integer);
  EXPECT_EQ(found.parameters[1].size, 8U);
  EXPECT_TRUE(found.prototyped);
  EXPECT_FALSE(found.variadic);
  EXPECT_EQ(found.source, "debug information");
}

TEST(dwarf_types, only_c_has_functions_without_a_prototype) {
  const std::vector<made_entry> function{{"f", tag::subprogram, {named("f")}}};
  EXPECT_FALSE(signature_in(made_dwarf(function, c99)).prototyped);
  EXPECT_TRUE(signature_in(made_dwarf(function, cxx14)).prototyped);
  EXPECT_EQ(signature_in(made_dwarf(function, cxx14)).result.kind, type_kind::nothing);
}

TEST(dwarf_types, more_arguments_are_said) {
  const signature found = signature_in(
      made_dwarf({integer(),
                  {"f",
                   tag::subprogram,
                   {},
                   {{"a", tag::formal_parameter, {typed("int")}}, {"b", tag::unspecified_parameters, {}}}}}));
  EXPECT_TRUE(found.variadic);
  ASSERT_EQ(found.parameters.size(), 2U);
  EXPECT_EQ(found.parameters[1].why, "a variable number of arguments");
}

TEST(dwarf_types, a_definition_may_leave_its_result_to_the_declaration) {
  const signature found =
      signature_in(made_dwarf({integer(),
                               {"declared", tag::subprogram, {typed("int")}},
                               {"f", tag::subprogram, {refers(attribute::specification, "declared")}}}));
  EXPECT_EQ(found.result.kind, type_kind::signed_integer);
}

TEST(dwarf_types, names_and_qualifiers_change_nothing_but_the_name) {
  const type found = parameter("alias", {integer(),
                                         {"const", tag::const_type, {typed("int")}},
                                         {"alias", tag::typedef_type, {named("count_t"), typed("const")}}});
  EXPECT_EQ(found.kind, type_kind::signed_integer);
  EXPECT_EQ(found.name, "count_t");
  EXPECT_EQ(parameter("const", {integer(), {"const", tag::const_type, {typed("int")}}}).name, "const int");
}

TEST(dwarf_types, enumerations_are_integers) {
  const type found =
      parameter("e", {integer(), {"e", tag::enumeration_type, {named("colour"), sized(4), typed("int")}}});
  EXPECT_EQ(found.kind, type_kind::signed_integer);
  EXPECT_EQ(found.name, "enum colour");
  const type untyped = parameter("e", {{"e", tag::enumeration_type, {named("colour"), sized(2)}}});
  EXPECT_EQ(untyped.kind, type_kind::unsigned_integer);
  EXPECT_EQ(untyped.size, 2U);
}

TEST(dwarf_types, pointers_know_how_much_they_point_to) {
  const type to_double = parameter("p", {real(), {"p", tag::pointer_type, {typed("double")}}});
  EXPECT_EQ(to_double.kind, type_kind::pointer);
  EXPECT_EQ(to_double.pointee, 8U);
  EXPECT_EQ(to_double.name, "double*");
  const type to_void = parameter("p", {{"p", tag::pointer_type, {}}});
  EXPECT_EQ(to_void.kind, type_kind::pointer);
  EXPECT_EQ(to_void.pointee, 0U);
  EXPECT_EQ(to_void.name, "void*");
  EXPECT_EQ(parameter("r", {real(), {"r", tag::reference_type, {typed("double")}}}).name, "double&");
}

TEST(dwarf_types, what_points_to_the_callers_memory_cannot_cross) {
  const type to_pointer =
      parameter("pp", {real(), {"p", tag::pointer_type, {typed("double")}}, {"pp", tag::pointer_type, {typed("p")}}});
  EXPECT_EQ(to_pointer.kind, type_kind::opaque);
  EXPECT_EQ(to_pointer.passed_as, type_kind::pointer);
  const type to_function =
      parameter("p", {{"function", tag::subroutine_type, {}}, {"p", tag::pointer_type, {typed("function")}}});
  EXPECT_EQ(to_function.why, "a function of the caller");
  const type with_pointer =
      parameter("s", {real(),
                      {"p", tag::pointer_type, {typed("double")}},
                      {"s", tag::structure_type, {named("s"), sized(8)}, {{"m", tag::member, {typed("p")}}}}});
  EXPECT_EQ(with_pointer.kind, type_kind::opaque);
  EXPECT_EQ(with_pointer.why, "a structure with pointers: addresses of the caller mean nothing in a child");
}

TEST(dwarf_types, handles_of_mpi_are_told_by_their_names) {
  const type found = parameter("h", {integer(), {"h", tag::typedef_type, {named("MPI_Comm"), typed("int")}}});
  EXPECT_EQ(found.kind, type_kind::opaque);
  EXPECT_EQ(found.passed_as, type_kind::signed_integer);
  EXPECT_EQ(found.why, "a handle of MPI: it means nothing in another process");
  const type to_one = parameter(
      "p",
      {integer(), {"h", tag::typedef_type, {named("MPI_Comm"), typed("int")}}, {"p", tag::pointer_type, {typed("h")}}});
  EXPECT_EQ(to_one.kind, type_kind::opaque);
  EXPECT_EQ(parameter("h", {integer(), {"h", tag::typedef_type, {named("MPI_Aint"), typed("int")}}}).kind,
            type_kind::signed_integer);
}

/// A member of type `label` at an offset.
made_entry member_at(std::uint64_t offset, const std::string& label) {
  return {
      "m" + std::to_string(offset), tag::member, {typed(label), number_of(attribute::data_member_location, offset)}};
}

TEST(dwarf_types, structures_have_their_members_with_arrays_spread_out) {
  const type found = parameter(
      "s",
      {integer(),
       real(),
       {"array", tag::array_type, {typed("int")}, {{"n", tag::subrange_type, {number_of(attribute::upper_bound, 2)}}}},
       {"s", tag::structure_type, {named("s"), sized(24)}, {member_at(0, "double"), member_at(8, "array")}}});
  ASSERT_EQ(found.kind, type_kind::structure) << found.why;
  EXPECT_EQ(found.size, 24U);
  ASSERT_EQ(found.members.size(), 4U);
  EXPECT_EQ(found.members[0].what.kind, type_kind::floating);
  EXPECT_EQ(found.members[3].offset, 16U);
  EXPECT_EQ(found.members[3].what.kind, type_kind::signed_integer);
}

TEST(dwarf_types, arrays_in_structures_may_begin_at_another_number) {
  const auto members = [](std::vector<made_attribute> bounds, unsigned language) {
    const signature found = signature_in(
        made_dwarf({integer(),
                    {"array", tag::array_type, {typed("int")}, {{"n", tag::subrange_type, std::move(bounds)}}},
                    {"s", tag::structure_type, {named("s"), sized(24)}, {member_at(0, "array")}},
                    {"f", tag::subprogram, {typed("s")}}},
                   language));
    return found.result.members.size();
  };
  const auto upper = [](std::uint64_t bound) { return number_of(attribute::upper_bound, bound); };
  const auto lower = [](std::int64_t bound) {
    return number_of(attribute::lower_bound, static_cast<std::uint64_t>(bound));
  };
  EXPECT_EQ(members({upper(3)}, cxx14), 4U);
  EXPECT_EQ(members({upper(3)}, fortran), 3U) << "Fortran counts from 1";
  EXPECT_EQ(members({lower(0), upper(3)}, fortran), 4U);
  EXPECT_EQ(members({lower(-2), upper(3)}, fortran), 6U);
  EXPECT_EQ(members({lower(2), upper(3)}, cxx14), 2U);
  EXPECT_EQ(members({lower(5), upper(3)}, fortran), 0U) << "none: a part of unknown size";
}

TEST(dwarf_types, structures_that_are_more_than_their_bytes_say_why) {
  const auto why = [](std::vector<made_attribute> attributes, std::vector<made_entry> members) {
    attributes.push_back(named("s"));
    return parameter("s", {integer(), {"s", tag::structure_type, std::move(attributes), std::move(members)}}).why;
  };
  EXPECT_EQ(why({flag_of(attribute::declaration)}, {}), "a structure that is only declared");
  EXPECT_EQ(why({sized(1)}, {}), "a structure with an empty structure");
  EXPECT_EQ(why({sized(4), number_of(attribute::calling_convention, 4)}, {member_at(0, "int")}),
            "a class that is more than its bytes");
  EXPECT_EQ(why({sized(4)}, {{"b", tag::member, {typed("int"), number_of(attribute::bit_size, 3)}}}),
            "a structure with bit fields");
  EXPECT_EQ(why({sized(4)}, {{"m", tag::member, {}}}), "a structure with a part of unknown size");
  EXPECT_EQ(why({sized(4)}, {member_at(0, "int"), {"s2", tag::member, {typed("int"), flag_of(attribute::external)}}}),
            "")
      << "a static member is not in it";
}

TEST(dwarf_types, sizes_that_nobody_passes_take_no_memory) {
  const auto huge = [](std::uint64_t count) {
    return parameter("s", {integer(),
                           {"array",
                            tag::array_type,
                            {typed("int")},
                            {{"n", tag::subrange_type, {number_of(attribute::count, count)}},
                             {"k", tag::subrange_type, {number_of(attribute::count, count)}}}},
                           {"s", tag::structure_type, {named("s"), sized(8)}, {member_at(0, "array")}}});
  };
  EXPECT_EQ(huge(60).kind, type_kind::structure);
  EXPECT_EQ(huge(100).why, "a structure with too many members");
  EXPECT_EQ(huge(~std::uint64_t{0}).why, "a structure with too many members");
  EXPECT_EQ(huge(0).why, "a structure with a part of unknown size");
}

TEST(dwarf_types, arrays_are_addresses_of_their_elements) {
  const type found = parameter("a", {real(), {"a", tag::array_type, {typed("double")}}});
  EXPECT_EQ(found.kind, type_kind::pointer);
  EXPECT_EQ(found.pointee, 8U);
  EXPECT_EQ(found.name, "double*");
  EXPECT_EQ(parameter("a", {real(), {"a", tag::array_type, {typed("double"), flag_of(attribute::gnu_vector)}}}).why,
            "a vector register");
  EXPECT_EQ(
      parameter("a", {real(), {"a", tag::array_type, {typed("double"), block_of(attribute::data_location, {0x97})}}})
          .why,
      "an array with a descriptor (assumed shape, allocatable or pointer)");
}

TEST(dwarf_types, types_without_end_are_malformed) {
  EXPECT_THROW((void)parameter("t", {{"t", tag::typedef_type, {named("t"), typed("t")}}}), malformed);
  EXPECT_THROW((void)parameter("s", {{"s", tag::structure_type, {named("s"), sized(8)}, {member_at(0, "s")}}}),
               malformed);
  EXPECT_THROW((void)parameter("a", {{"a", tag::array_type, {typed("a")}}}), malformed);
  const type pointer = parameter("p", {{"c", tag::const_type, {typed("c")}}, {"p", tag::pointer_type, {typed("c")}}});
  EXPECT_EQ(pointer.kind, type_kind::pointer) << "what it points to does not matter";
}

TEST(dwarf_types, fortran_says_by_the_place_whether_a_parameter_comes_by_value) {
  const auto passed = [](std::vector<unsigned> location) {
    std::vector<made_attribute> attributes{typed("double")};
    if (!location.empty()) attributes.push_back(block_of(attribute::location, std::move(location)));
    const signature found = signature_in(made_dwarf(
        {real(), {"f", tag::subprogram, {}, {{"p", tag::formal_parameter, std::move(attributes)}}}}, fortran));
    return found.parameters.at(0);
  };
  EXPECT_EQ(passed({0x61}).kind, type_kind::floating) << "in a register";
  EXPECT_EQ(passed({0x90, 0x40}).kind, type_kind::floating);
  EXPECT_EQ(passed({0x91, 0x58}).kind, type_kind::floating) << "in the frame";
  const type referred = passed({0x91, 0x58, 0x06});
  EXPECT_EQ(referred.kind, type_kind::pointer);
  EXPECT_EQ(referred.pointee, 8U);
  EXPECT_EQ(referred.name, "double&");
  EXPECT_EQ(passed({0x75, 0x00}).kind, type_kind::pointer) << "at a register";
  EXPECT_EQ(passed({}).kind, type_kind::opaque);
  EXPECT_NE(passed({0x03}).why.find("by VALUE"), std::string::npos);
}

}  // namespace
}  // namespace ham::debug_info
