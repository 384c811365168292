// Debug information (DWARF 3 to 5): its tree of entries, read as far as types of functions need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace ham::inline v1::debug_info {

class cursor;

struct dwarf_sections {
  std::span<const std::byte> info, abbrev, str, line_str, str_offsets, loclists;
};

/// Value of an attribute, by the class of its form.
struct dwarf_value {
  enum class kind : unsigned char { other, number, reference, text, block, list };
  kind is = kind::other;
  std::uint64_t number = 0;  ///< reference: offset in the section info; list: offset in loclists
  std::string_view text;
  std::span<const std::byte> block;
};

/// The tags and attributes that we look at; values are the standard's.
enum class dwarf_tag : std::uint16_t {
  array_type = 0x01,
  class_type = 0x02,
  enumeration_type = 0x04,
  formal_parameter = 0x05,
  lexical_block = 0x0b,
  member = 0x0d,
  pointer_type = 0x0f,
  reference_type = 0x10,
  compile_unit = 0x11,
  string_type = 0x12,
  structure_type = 0x13,
  subroutine_type = 0x15,
  typedef_type = 0x16,
  union_type = 0x17,
  unspecified_parameters = 0x18,
  inheritance = 0x1c,
  subrange_type = 0x21,
  base_type = 0x24,
  const_type = 0x26,
  subprogram = 0x2e,
  volatile_type = 0x35,
  restrict_type = 0x37,
  rvalue_reference_type = 0x42,
  atomic_type = 0x47
};
enum class dwarf_attribute : std::uint16_t {
  sibling = 0x01,
  location = 0x02,
  name = 0x03,
  byte_size = 0x0b,
  bit_size = 0x0d,
  language = 0x13,
  lower_bound = 0x22,
  upper_bound = 0x2f,
  prototyped = 0x27,
  abstract_origin = 0x31,
  artificial = 0x34,
  calling_convention = 0x36,
  count = 0x37,
  data_member_location = 0x38,
  declaration = 0x3c,
  encoding = 0x3e,
  external = 0x3f,
  specification = 0x47,
  type = 0x49,
  data_location = 0x50,
  linkage_name = 0x6e,
  data_bit_offset = 0x6b,
  str_offsets_base = 0x72,
  mips_linkage_name = 0x2007,
  gnu_vector = 0x2107
};

struct dwarf_unit;

/// One entry: tag, attributes, and where its children or its next sibling start.
struct dwarf_entry {
  const dwarf_unit* unit = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t next = 0;  ///< the entry that follows in the file: the first child if there are any
  dwarf_tag tag{};
  bool is_end = false;  ///< closes a list of children
  bool has_children = false;
  std::vector<std::pair<dwarf_attribute, dwarf_value>> attributes;

  [[nodiscard]] const dwarf_value* find(dwarf_attribute wanted) const noexcept;
  [[nodiscard]] bool flag(dwarf_attribute wanted) const noexcept;
  [[nodiscard]] std::uint64_t number(dwarf_attribute wanted, std::uint64_t otherwise = 0) const noexcept;
  [[nodiscard]] std::string_view text(dwarf_attribute wanted) const noexcept;
};

struct dwarf_abbreviation {
  struct field {
    dwarf_attribute attribute;
    std::uint64_t form;
    std::int64_t constant;
  };
  dwarf_tag tag{};
  bool has_children = false;
  std::vector<field> fields;
};

struct dwarf_unit {
  std::uint64_t begin = 0;  ///< offset of its header
  std::uint64_t first = 0;  ///< offset of its first entry
  std::uint64_t end = 0;
  unsigned version = 0;
  unsigned address_size = 8;
  unsigned offset_size = 4;
  std::uint64_t str_offsets_base = 0;
  std::uint64_t language = 0;
  std::map<std::uint64_t, dwarf_abbreviation> abbreviations;
};

/// All methods throw malformed for bytes that make no sense.
class dwarf {
 public:
  explicit dwarf(const dwarf_sections& sections);

  /// The compilation units.
  [[nodiscard]] const std::vector<dwarf_unit>& units() const noexcept { return units_; }

  [[nodiscard]] dwarf_entry entry(const dwarf_unit& unit, std::uint64_t offset) const;

  /// The entry that an attribute of `from` refers to.
  [[nodiscard]] dwarf_entry follow(const dwarf_entry& from, const dwarf_value& reference) const;

  /// Direct children, in order.
  [[nodiscard]] std::vector<dwarf_entry> children(const dwarf_entry& parent) const;

  /// Offset of what follows an entry and all below it.
  [[nodiscard]] std::uint64_t after(const dwarf_entry& of) const;

  /// The expression that says where a variable is, the first one of a list; none: not known.
  [[nodiscard]] std::span<const std::byte> location(const dwarf_entry& variable) const;

 private:
  void read_unit(cursor& in);
  void read_abbreviations(dwarf_unit& unit, std::uint64_t offset) const;
  [[nodiscard]] dwarf_value value(cursor& in, const dwarf_unit& unit, std::uint64_t form, std::int64_t constant) const;
  [[nodiscard]] std::string_view indexed_text(const dwarf_unit& unit, std::uint64_t index) const;
  [[nodiscard]] std::span<const std::byte> first_of_list(const dwarf_unit& unit, std::uint64_t offset) const;

  dwarf_sections sections_;
  std::vector<dwarf_unit> units_;
};

}  // namespace ham::debug_info
