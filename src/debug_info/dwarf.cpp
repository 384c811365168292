// Reads units, abbreviations and entries of DWARF 3 to 5.
#include "debug_info/dwarf.hpp"

#include "debug_info/bytes.hpp"

#include <algorithm>
#include <utility>

namespace ham::inline v1::debug_info {
namespace {

using kind = dwarf_value::kind;

// Kinds of units and of entries in a location list, numbers of the standard.
constexpr std::uint8_t unit_compile = 1;
constexpr std::uint8_t unit_partial = 3;
constexpr std::uint64_t implicit_constant = 0x21;

std::string_view text_at(std::span<const std::byte> section, std::uint64_t offset) {
  return cursor(section, offset).text();
}

dwarf_value a_number(std::uint64_t number) { return {kind::number, number, {}, {}}; }
dwarf_value a_reference(std::uint64_t offset) { return {kind::reference, offset, {}, {}}; }
dwarf_value a_text(std::string_view text) { return {kind::text, 0, text, {}}; }
dwarf_value a_block(std::span<const std::byte> block) { return {kind::block, 0, {}, block}; }

}  // namespace

const dwarf_value* dwarf_entry::find(dwarf_attribute wanted) const noexcept {
  for (const auto& [attribute, value] : attributes) {
    if (attribute == wanted) return &value;
  }
  return nullptr;
}

bool dwarf_entry::flag(dwarf_attribute wanted) const noexcept { return number(wanted) != 0; }

std::uint64_t dwarf_entry::number(dwarf_attribute wanted, std::uint64_t otherwise) const noexcept {
  const dwarf_value* value = find(wanted);
  return value != nullptr && value->is == kind::number ? value->number : otherwise;
}

std::string_view dwarf_entry::text(dwarf_attribute wanted) const noexcept {
  const dwarf_value* value = find(wanted);
  return value != nullptr ? value->text : std::string_view();
}

dwarf::dwarf(const dwarf_sections& sections) : sections_(sections) {
  cursor in(sections_.info);
  while (!in.at_end()) read_unit(in);
}

void dwarf::read_unit(cursor& in) {
  dwarf_unit unit;
  unit.begin = in.position();
  std::uint64_t length = in.number<std::uint32_t>();
  if (length == 0xFFFFFFFF) {
    unit.offset_size = 8;
    length = in.number<std::uint64_t>();
  }
  if (length > in.left()) throw malformed("a unit is longer than its section");
  unit.end = in.position() + length;
  unit.version = in.number<std::uint16_t>();
  std::uint8_t type = unit_compile;
  std::uint64_t abbreviations = 0;
  if (unit.version >= 5) {
    type = in.number<std::uint8_t>();
    unit.address_size = in.number<std::uint8_t>();
    abbreviations = in.unsigned_of(unit.offset_size);
  } else {
    abbreviations = in.unsigned_of(unit.offset_size);
    unit.address_size = in.number<std::uint8_t>();
  }
  unit.first = in.position();
  in.seek(unit.end);
  // Others hold types on their own or stand for files elsewhere (-fdebug-types-section, -gsplit-dwarf).
  if (unit.version < 3 || unit.version > 5 || (type != unit_compile && type != unit_partial)) return;
  read_abbreviations(unit, abbreviations);
  if (unit.offset_size == 8)
    unit.str_offsets_base = 16;
  else
    unit.str_offsets_base = 8;
  const dwarf_entry root = entry(unit, unit.first);
  // Text of the root entry itself may need the base that only it says, so it is not looked at.
  const auto* base = root.find(dwarf_attribute::str_offsets_base);
  if (base != nullptr) unit.str_offsets_base = base->number;
  unit.language = root.number(dwarf_attribute::language);
  units_.push_back(std::move(unit));
}

void dwarf::read_abbreviations(dwarf_unit& unit, std::uint64_t offset) const {
  cursor in(sections_.abbrev, offset);
  while (const std::uint64_t code = in.uleb()) {
    dwarf_abbreviation& one = unit.abbreviations[code];
    one.tag = static_cast<dwarf_tag>(in.uleb());
    one.has_children = in.number<std::uint8_t>() != 0;
    for (;;) {
      const std::uint64_t attribute = in.uleb();
      const std::uint64_t form = in.uleb();
      const std::int64_t constant = form == implicit_constant ? in.sleb() : 0;
      if (attribute == 0 && form == 0) break;
      one.fields.push_back({static_cast<dwarf_attribute>(attribute), form, constant});
    }
  }
}

dwarf_entry dwarf::entry(const dwarf_unit& unit, std::uint64_t offset) const {
  if (offset < unit.first || offset >= unit.end) throw malformed("an entry is outside of its unit");
  cursor in(sections_.info.first(unit.end), offset);
  dwarf_entry result;
  result.unit = &unit;
  result.offset = offset;
  const std::uint64_t code = in.uleb();
  if (code == 0) {
    result.is_end = true;
  } else {
    const auto found = unit.abbreviations.find(code);
    if (found == unit.abbreviations.end()) throw malformed("an entry of unknown shape");
    result.tag = found->second.tag;
    result.has_children = found->second.has_children;
    result.attributes.reserve(found->second.fields.size());
    for (const auto& field : found->second.fields) {
      result.attributes.emplace_back(field.attribute, value(in, unit, field.form, field.constant));
    }
  }
  result.next = in.position();
  return result;
}

std::string_view dwarf::indexed_text(const dwarf_unit& unit, std::uint64_t index) const {
  cursor table(sections_.str_offsets);
  const std::uint64_t at = unit.str_offsets_base + index * unit.offset_size;
  if (sections_.str_offsets.empty() || at > sections_.str_offsets.size()) return {};
  table.seek(at);
  return text_at(sections_.str, table.unsigned_of(unit.offset_size));
}

dwarf_value dwarf::value(cursor& in, const dwarf_unit& unit, std::uint64_t form, std::int64_t constant) const {
  const auto three_bytes = [&in] {
    const auto bytes = in.take(3);
    return std::to_integer<std::uint64_t>(bytes[0]) | std::to_integer<std::uint64_t>(bytes[1]) << 8U |
           std::to_integer<std::uint64_t>(bytes[2]) << 16U;
  };
  constexpr std::uint64_t indirect = 0x16;
  while (form == indirect) {
    form = in.uleb();
    if (form == implicit_constant) throw malformed("a constant of a form that is told later");
  }
  switch (form) {
    case 0x01: return in.skip(unit.address_size), dwarf_value{};                              // addr
    case 0x03: return a_block(in.take(in.number<std::uint16_t>()));                           // block2
    case 0x04: return a_block(in.take(in.number<std::uint32_t>()));                           // block4
    case 0x05: return a_number(in.number<std::uint16_t>());                                   // data2
    case 0x06: return a_number(in.number<std::uint32_t>());                                   // data4
    case 0x07: return a_number(in.number<std::uint64_t>());                                   // data8
    case 0x08: return a_text(in.text());                                                      // string
    case 0x09:                                                                                // block
    case 0x18: return a_block(in.take(in.uleb()));                                            // exprloc
    case 0x0a: return a_block(in.take(in.number<std::uint8_t>()));                            // block1
    case 0x0b:                                                                                // data1
    case 0x0c: return a_number(in.number<std::uint8_t>());                                    // flag
    case 0x0d: return a_number(static_cast<std::uint64_t>(in.sleb()));                        // sdata
    case 0x0e: return a_text(text_at(sections_.str, in.unsigned_of(unit.offset_size)));       // strp
    case 0x1f: return a_text(text_at(sections_.line_str, in.unsigned_of(unit.offset_size)));  // line_strp
    case 0x0f: return a_number(in.uleb());                                                    // udata
    case 0x10: return a_reference(in.unsigned_of(unit.offset_size));                          // ref_addr
    case 0x11: return a_reference(unit.begin + in.number<std::uint8_t>());                    // ref1
    case 0x12: return a_reference(unit.begin + in.number<std::uint16_t>());                   // ref2
    case 0x13: return a_reference(unit.begin + in.number<std::uint32_t>());                   // ref4
    case 0x14: return a_reference(unit.begin + in.number<std::uint64_t>());                   // ref8
    case 0x15: return a_reference(unit.begin + in.uleb());                                    // ref_udata
    case 0x17: return {kind::list, in.unsigned_of(unit.offset_size), {}, {}};                 // sec_offset
    case 0x19: return a_number(1);                                                            // flag_present
    case 0x1a: return a_text(indexed_text(unit, in.uleb()));                                  // strx
    case 0x1b:                                                                                // addrx
    case 0x22:                                                                                // loclistx
    case 0x23: return in.uleb(), dwarf_value{};                                               // rnglistx
    case 0x1e: return in.skip(16), dwarf_value{};                                             // data16
    case 0x20: return in.skip(8), dwarf_value{};                                              // ref_sig8
    case implicit_constant: return a_number(static_cast<std::uint64_t>(constant));
    case 0x25: return a_text(indexed_text(unit, in.number<std::uint8_t>()));   // strx1
    case 0x26: return a_text(indexed_text(unit, in.number<std::uint16_t>()));  // strx2
    case 0x27: return a_text(indexed_text(unit, three_bytes()));               // strx3
    case 0x28: return a_text(indexed_text(unit, in.number<std::uint32_t>()));  // strx4
    case 0x29: return in.skip(1), dwarf_value{};                               // addrx1
    case 0x2a: return in.skip(2), dwarf_value{};                               // addrx2
    case 0x2b: return in.skip(3), dwarf_value{};                               // addrx3
    case 0x2c: return in.skip(4), dwarf_value{};                               // addrx4
    default: throw malformed("a form of attributes that is not known");
  }
}

dwarf_entry dwarf::follow(const dwarf_entry& from, const dwarf_value& reference) const {
  if (reference.is != kind::reference) throw malformed("a reference to another file");
  const std::uint64_t offset = reference.number;
  if (offset >= from.unit->first && offset < from.unit->end) return entry(*from.unit, offset);
  const auto holds = [offset](const dwarf_unit& unit) { return offset >= unit.first && offset < unit.end; };
  const auto found = std::find_if(units_.begin(), units_.end(), holds);
  if (found == units_.end()) throw malformed("a reference to no unit");
  return entry(*found, offset);
}

std::uint64_t dwarf::after(const dwarf_entry& of) const {
  if (!of.has_children) return of.next;
  const dwarf_value* sibling = of.find(dwarf_attribute::sibling);
  if (sibling != nullptr && sibling->is == kind::reference && sibling->number > of.offset) return sibling->number;
  std::uint64_t at = of.next;
  for (int depth = 1; depth > 0;) {
    const dwarf_entry one = entry(*of.unit, at);
    if (one.is_end)
      --depth;
    else if (one.has_children)
      ++depth;
    at = one.next;
  }
  return at;
}

std::vector<dwarf_entry> dwarf::children(const dwarf_entry& parent) const {
  std::vector<dwarf_entry> result;
  if (!parent.has_children) return result;
  for (std::uint64_t at = parent.next;;) {
    dwarf_entry one = entry(*parent.unit, at);
    if (one.is_end) return result;
    at = after(one);
    result.push_back(std::move(one));
  }
}

std::span<const std::byte> dwarf::location(const dwarf_entry& variable) const {
  const dwarf_value* where = variable.find(dwarf_attribute::location);
  if (where == nullptr) return {};
  if (where->is == kind::block) return where->block;
  return where->is == kind::list && variable.unit->version >= 5 ? first_of_list(*variable.unit, where->number)
                                                                : std::span<const std::byte>();
}

std::span<const std::byte> dwarf::first_of_list(const dwarf_unit& unit, std::uint64_t offset) const {
  cursor in(sections_.loclists, offset);
  for (;;) {
    switch (in.number<std::uint8_t>()) {
      case 0x01: in.uleb(); continue;                           // base_addressx
      case 0x06: in.skip(unit.address_size); continue;          // base_address
      case 0x02:                                                // startx_endx
      case 0x03:                                                // startx_length
      case 0x04: in.uleb(), in.uleb(); break;                   // offset_pair
      case 0x05: break;                                         // default_location
      case 0x07: in.skip(2ULL * unit.address_size); break;      // start_end
      case 0x08: in.skip(unit.address_size), in.uleb(); break;  // start_length
      default: return {};                                       // end_of_list
    }
    return in.take(in.uleb());
  }
}

}  // namespace ham::debug_info
