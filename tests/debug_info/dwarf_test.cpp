// The tree of entries: every form of attributes, units of all versions, and bytes that make no sense.
#include "debug_info/dwarf.hpp"

#include <gtest/gtest.h>

#include <string>

#include "debug_info/bytes.hpp"
#include "debug_info/made_dwarf.hpp"

namespace ham::inline v1::debug_info {
namespace {

using namespace test;
using tag = dwarf_tag;
using kind = dwarf_value::kind;

/// Sections with one unit whose root has one attribute of a form, and behind it a byte that must be found again.
struct one_form {
  byte_list info, abbrev, str, line_str, str_offsets, loclists;
  unsigned version = 5;
  unsigned address_bytes = 8;

  dwarf_value read(unsigned form, const byte_list& content, const byte_list& behind_form = {}) {
    abbrev.uleb(1).uleb(static_cast<unsigned>(tag::compile_unit)).u8(0).uleb(0x03).uleb(form);
    abbrev.all.insert(abbrev.all.end(), behind_form.all.begin(), behind_form.all.end());
    abbrev.uleb(0x0b).uleb(0x0b).u8(0).u8(0).u8(0);
    info.u32(0).u16(version);
    if (version >= 5)
      info.u8(1).u8(address_bytes).u32(0);
    else
      info.u32(0).u8(address_bytes);
    info.uleb(1);
    info.all.insert(info.all.end(), content.all.begin(), content.all.end());
    info.u8(0x5a);
    info.put(0, static_cast<std::uint32_t>(info.size() - 4));
    const dwarf read({info.all, abbrev.all, str.all, line_str.all, str_offsets.all, loclists.all});
    EXPECT_EQ(read.units().size(), 1U);
    const dwarf_entry root = read.entry(read.units().front(), read.units().front().first);
    EXPECT_EQ(root.number(dwarf_attribute::byte_size), 0x5aU) << "form " << form << " has another length";
    EXPECT_EQ(root.next, info.size());
    const dwarf_value* const found = root.find(dwarf_attribute::name);
    return found == nullptr ? dwarf_value{} : *found;
  }
};

void expect_number(unsigned form, const byte_list& content, std::uint64_t value, const byte_list& behind_form = {}) {
  const dwarf_value found = one_form().read(form, content, behind_form);
  EXPECT_EQ(found.is, kind::number) << form;
  EXPECT_EQ(found.number, value) << form;
}

TEST(dwarf, reads_numbers_of_all_forms) {
  expect_number(0x0b, byte_list().u8(0xfe), 0xfe);
  expect_number(0x05, byte_list().u16(0xfedc), 0xfedc);
  expect_number(0x06, byte_list().u32(0xfedcba98), 0xfedcba98);
  expect_number(0x07, byte_list().u64(0xfedcba9876543210), 0xfedcba9876543210);
  expect_number(0x0c, byte_list().u8(1), 1);
  expect_number(0x0d, byte_list().u8(0x7f), ~std::uint64_t{0});
  expect_number(0x0f, byte_list().u8(0x80).u8(0x01), 128);
  expect_number(0x19, byte_list(), 1);
  expect_number(0x21, byte_list(), static_cast<std::uint64_t>(-2), byte_list().u8(0x7e));
  expect_number(0x16, byte_list().uleb(0x05).u16(7), 7);
  expect_number(0x16, byte_list().uleb(0x16).uleb(0x0b).u8(9), 9);
}

TEST(dwarf, steps_over_what_it_does_not_use) {
  const std::pair<unsigned, std::size_t> forms[] = {{0x01, 8}, {0x1e, 16}, {0x20, 8}, {0x29, 1},
                                                    {0x2a, 2}, {0x2b, 3},  {0x2c, 4}};
  for (const auto& [form, size] : forms) {
    byte_list content;
    for (std::size_t i = 0; i < size; ++i) content.u8(0xee);
    EXPECT_EQ(one_form().read(form, content).is, kind::other) << form;
  }
  for (const unsigned form : {0x1b, 0x22, 0x23})
    EXPECT_EQ(one_form().read(form, byte_list().u8(0x80).u8(1)).is, kind::other) << form;
  one_form narrow;
  narrow.address_bytes = 4;
  EXPECT_EQ(narrow.read(0x01, byte_list().u32(1)).is, kind::other);
}

TEST(dwarf, reads_blocks_of_all_forms) {
  const auto expect_block = [](unsigned form, byte_list content) {
    const dwarf_value found = one_form().read(form, content.u8(0xaa).u8(0xbb));
    EXPECT_EQ(found.is, kind::block) << form;
    ASSERT_EQ(found.block.size(), 2U) << form;
    EXPECT_EQ(found.number, 0U);
  };
  expect_block(0x0a, byte_list().u8(2));
  expect_block(0x03, byte_list().u16(2));
  expect_block(0x04, byte_list().u32(2));
  expect_block(0x09, byte_list().uleb(2));
  expect_block(0x18, byte_list().uleb(2));
}

TEST(dwarf, reads_texts_where_they_are) {
  const auto with_texts = [] {
    one_form result;
    result.str.text("first").text("second");
    result.line_str.text("other").text("line");
    result.str_offsets.u32(12).u16(5).u16(0).u32(0).u32(6);  // a head of 8 bytes in front
    return result;
  };
  EXPECT_EQ(with_texts().read(0x08, byte_list().text("here")).text, "here");
  EXPECT_EQ(with_texts().read(0x0e, byte_list().u32(6)).text, "second");
  EXPECT_EQ(with_texts().read(0x1f, byte_list().u32(6)).text, "line");
  EXPECT_EQ(with_texts().read(0x1a, byte_list().uleb(1)).text, "second");
  EXPECT_EQ(with_texts().read(0x25, byte_list().u8(0)).text, "first");
  EXPECT_EQ(with_texts().read(0x26, byte_list().u16(1)).text, "second");
  EXPECT_EQ(with_texts().read(0x27, byte_list().u8(1).u8(0).u8(0)).text, "second");
  EXPECT_EQ(with_texts().read(0x28, byte_list().u32(1)).text, "second");
  EXPECT_EQ(with_texts().read(0x28, byte_list().u32(1000)).text, "") << "outside of the table";
  EXPECT_EQ(one_form().read(0x1a, byte_list().uleb(0)).text, "") << "there is no table";
  EXPECT_THROW((void)with_texts().read(0x0e, byte_list().u32(100)), malformed);
}

TEST(dwarf, reads_references_from_the_begin_of_their_unit_or_section) {
  const auto expect_reference = [](unsigned form, const byte_list& content) {
    const dwarf_value found = one_form().read(form, content);
    EXPECT_EQ(found.is, kind::reference) << form;
    EXPECT_EQ(found.number, 12U) << form;
  };
  expect_reference(0x11, byte_list().u8(12));
  expect_reference(0x12, byte_list().u16(12));
  expect_reference(0x13, byte_list().u32(12));
  expect_reference(0x14, byte_list().u64(12));
  expect_reference(0x15, byte_list().uleb(12));
  expect_reference(0x10, byte_list().u32(12));
  EXPECT_EQ(one_form().read(0x17, byte_list().u32(12)).is, kind::list);
}

TEST(dwarf, refuses_forms_that_it_does_not_know) {
  EXPECT_THROW((void)one_form().read(0x02, byte_list()), malformed);
  EXPECT_THROW((void)one_form().read(0x1f01, byte_list()), malformed);
  EXPECT_THROW((void)one_form().read(0x16, byte_list().uleb(0x21)), malformed) << "its constant is nowhere";
}

/// A unit with the fields that versions differ in.
byte_list unit(unsigned version, bool wide, unsigned type = 1) {
  byte_list rest;
  rest.u16(version);
  if (version >= 5) rest.u8(type).u8(8);
  if (wide)
    rest.u64(0);
  else
    rest.u32(0);
  if (version < 5) rest.u8(8);
  rest.uleb(1).u8(0x1d);
  byte_list result;
  if (wide)
    result.u32(0xffffffff).u64(rest.size());
  else
    result.u32(static_cast<std::uint32_t>(rest.size()));
  result.all.insert(result.all.end(), rest.all.begin(), rest.all.end());
  return result;
}
byte_list language_only() {
  return byte_list()
      .uleb(1)
      .uleb(static_cast<unsigned>(tag::compile_unit))
      .u8(0)
      .uleb(0x13)
      .uleb(0x0b)
      .u8(0)
      .u8(0)
      .u8(0);
}

TEST(dwarf, knows_units_of_versions_3_to_5_in_both_formats) {
  const byte_list abbrev = language_only();
  for (const unsigned version : {3, 4, 5}) {
    for (const bool wide : {false, true}) {
      const byte_list info = unit(version, wide);
      const dwarf read({info.all, abbrev.all, {}, {}, {}, {}});
      ASSERT_EQ(read.units().size(), 1U) << version << wide;
      EXPECT_EQ(read.units()[0].version, version);
      EXPECT_EQ(read.units()[0].offset_size, wide ? 8U : 4U);
      EXPECT_EQ(read.units()[0].language, 0x1dU);
      EXPECT_EQ(read.units()[0].end, info.size());
    }
  }
}

TEST(dwarf, leaves_out_units_of_other_versions_and_kinds) {
  byte_list info = unit(2, false);
  for (const byte_list& one : {unit(6, false), unit(5, false, 2), unit(5, false, 4), unit(5, false, 3), unit(4, true)})
    info.all.insert(info.all.end(), one.all.begin(), one.all.end());
  const byte_list abbrev = language_only();
  const dwarf read({info.all, abbrev.all, {}, {}, {}, {}});
  ASSERT_EQ(read.units().size(), 2U);
  EXPECT_EQ(read.units()[0].version, 5U) << "a partial unit";
  EXPECT_EQ(read.units()[1].version, 4U);
}

TEST(dwarf, walks_over_children_with_and_without_siblings) {
  const made_dwarf made({{"f",
                          tag::subprogram,
                          {named("f")},
                          {{"a", tag::formal_parameter, {named("a")}},
                           {"block",
                            tag::lexical_block,
                            {refers(dwarf_attribute::sibling, "b")},
                            {{"inner", tag::lexical_block, {}, {{"x", tag::member, {}}}}}},
                           {"b", tag::formal_parameter, {named("b")}}}},
                         {"g", tag::subprogram, {named("g")}}});
  const dwarf read(made.sections());
  const dwarf_unit& only = read.units().front();
  const auto top = read.children(read.entry(only, only.first));
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].text(dwarf_attribute::name), "f");
  EXPECT_EQ(top[1].text(dwarf_attribute::name), "g");
  EXPECT_EQ(top[1].offset, made.place("g"));
  const auto inside = read.children(top[0]);
  ASSERT_EQ(inside.size(), 3U);
  EXPECT_EQ(inside[1].tag, tag::lexical_block);
  EXPECT_EQ(read.after(inside[1]), made.place("b"));
  EXPECT_EQ(inside[2].text(dwarf_attribute::name), "b");
  EXPECT_TRUE(read.children(top[1]).empty());
}

TEST(dwarf, a_sibling_that_leads_back_is_not_believed) {
  const made_dwarf made({{"a", tag::lexical_block, {}, {{"x", tag::member, {}}}},
                         {"b", tag::lexical_block, {refers(dwarf_attribute::sibling, "a")}, {{"y", tag::member, {}}}}});
  const dwarf read(made.sections());
  const dwarf_unit& only = read.units().front();
  EXPECT_EQ(read.children(read.entry(only, only.first)).size(), 2U);
}

TEST(dwarf, follows_references_that_lead_somewhere) {
  const made_dwarf made({{"f", tag::subprogram, {typed("int")}}, {"int", tag::base_type, {named("int"), sized(4)}}});
  const dwarf read(made.sections());
  const dwarf_unit& only = read.units().front();
  const dwarf_entry f = read.entry(only, made.place("f"));
  const dwarf_entry target = read.follow(f, *f.find(dwarf_attribute::type));
  EXPECT_EQ(target.text(dwarf_attribute::name), "int");
  EXPECT_EQ(target.number(dwarf_attribute::byte_size), 4U);
  EXPECT_EQ(target.number(dwarf_attribute::count, 77), 77U);
  EXPECT_FALSE(target.flag(dwarf_attribute::external));
  for (const std::uint64_t wrong : {std::uint64_t{0}, only.first - 1, only.end, ~std::uint64_t{0}})
    EXPECT_THROW((void)read.follow(f, {kind::reference, wrong, {}, {}}), malformed) << wrong;
  EXPECT_THROW((void)read.follow(f, {kind::number, made.place("int"), {}, {}}), malformed);
}

TEST(dwarf, knows_the_first_place_of_a_variable) {
  const auto place_by = [](const byte_list& list) {
    one_form made;
    made.loclists = list;
    byte_list abbrev;
    abbrev.uleb(1).uleb(0x11).u8(0).uleb(0x02).uleb(0x17).u8(0).u8(0).u8(0);
    made.info.u32(0).u16(5).u8(1).u8(8).u32(0).uleb(1).u32(0);
    made.info.put(0, static_cast<std::uint32_t>(made.info.size() - 4));
    const dwarf read({made.info.all, abbrev.all, {}, {}, {}, made.loclists.all});
    const auto found = read.location(read.entry(read.units().front(), read.units().front().first));
    return found.empty() ? 0U : std::to_integer<unsigned>(found.front());
  };
  EXPECT_EQ(place_by(byte_list().u8(0x04).u8(1).u8(2).uleb(1).u8(0x55)), 0x55U);
  EXPECT_EQ(place_by(byte_list().u8(0x02).u8(1).u8(2).uleb(1).u8(0x55)), 0x55U);
  EXPECT_EQ(place_by(byte_list().u8(0x05).uleb(1).u8(0x56)), 0x56U);
  EXPECT_EQ(place_by(byte_list().u8(0x07).u64(1).u64(2).uleb(1).u8(0x57)), 0x57U);
  EXPECT_EQ(place_by(byte_list().u8(0x08).u64(1).u8(2).uleb(1).u8(0x58)), 0x58U);
  EXPECT_EQ(place_by(byte_list().u8(0x01).u8(3).u8(0x06).u64(1).u8(0x04).u8(1).u8(2).uleb(1).u8(0x59)), 0x59U)
      << "behind what only sets the base";
  EXPECT_EQ(place_by(byte_list().u8(0x00)), 0U);
  EXPECT_EQ(place_by(byte_list().u8(0x99)), 0U);
  EXPECT_THROW((void)place_by(byte_list().u8(0x04).u8(1).u8(2).uleb(100)), malformed);
  EXPECT_THROW((void)place_by(byte_list()), malformed);
}

TEST(dwarf, reads_nothing_outside_wherever_its_bytes_end_or_are_changed) {
  const made_dwarf made(
      {{"f", tag::subprogram, {named("f"), typed("int")}, {{"a", tag::formal_parameter, {typed("int")}}}},
       {"int", tag::base_type, {named("int"), sized(4)}}});
  const auto walk = [](const dwarf_sections& sections) {
    try {
      const dwarf read(sections);
      for (const dwarf_unit& one : read.units()) {
        for (const dwarf_entry& entry : read.children(read.entry(one, one.first))) {
          (void)read.children(entry);
          if (const auto* const type = entry.find(dwarf_attribute::type)) (void)read.follow(entry, *type);
        }
      }
    } catch (const malformed&) {
    }
  };
  const dwarf_sections good = made.sections();
  for (std::size_t size = 0; size < good.info.size(); ++size) {
    const std::vector<std::byte> cut(good.info.begin(), good.info.begin() + static_cast<std::ptrdiff_t>(size));
    walk({cut, good.abbrev, {}, {}, {}, {}});
  }
  for (std::size_t size = 0; size < good.abbrev.size(); ++size) {
    const std::vector<std::byte> cut(good.abbrev.begin(), good.abbrev.begin() + static_cast<std::ptrdiff_t>(size));
    walk({good.info, cut, {}, {}, {}, {}});
  }
  std::vector<std::byte> info(good.info.begin(), good.info.end());
  for (std::byte& one : info) {
    for (const unsigned other : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      const std::byte before = std::exchange(one, static_cast<std::byte>(other));
      walk({info, good.abbrev, {}, {}, {}, {}});
      one = before;
    }
  }
  const dwarf_entry nothing;
  EXPECT_EQ(nothing.find(dwarf_attribute::name), nullptr);
  std::vector<std::byte> cut(good.info.begin(), good.info.end() - 1);
  EXPECT_THROW(dwarf({cut, good.abbrev, {}, {}, {}, {}}), malformed) << "a unit is longer than its section";
  EXPECT_THROW(dwarf({good.info, {}, {}, {}, {}, {}}), malformed) << "no abbreviations";
}

}  // namespace
}  // namespace ham::debug_info
