// Debug information made by hand: what no compiler here writes, and what is wrong.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "debug_info/dwarf.hpp"

namespace ham::inline v1::debug_info::test {

/// Bytes in the machine's order, as readers of its own files expect them.
class byte_list {
 public:
  template <class T>
  byte_list& number(T value) {
    for (const std::byte one : std::bit_cast<std::array<std::byte, sizeof(T)>>(value)) all.push_back(one);
    return *this;
  }
  byte_list& u8(unsigned value) { return number(static_cast<std::uint8_t>(value)); }
  byte_list& u16(unsigned value) { return number(static_cast<std::uint16_t>(value)); }
  byte_list& u32(std::uint32_t value) { return number(value); }
  byte_list& u64(std::uint64_t value) { return number(value); }
  byte_list& uleb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    return u8(static_cast<unsigned>(value));
  }
  byte_list& text(const std::string& value) {
    for (const char one : value) u8(static_cast<unsigned char>(one));
    return u8(0);
  }
  byte_list& bytes(const std::vector<unsigned>& values) {
    for (const unsigned one : values) u8(one);
    return *this;
  }
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(all.data() + at, &value, sizeof value);
  }
  [[nodiscard]] std::size_t size() const { return all.size(); }

  std::vector<std::byte> all;
};

struct made_attribute {
  dwarf_attribute what{};
  unsigned form = 0;
  std::uint64_t number = 0;
  std::string text;  // or the label of what is referred to
  std::vector<unsigned> block;
};
inline made_attribute number_of(dwarf_attribute what, std::uint64_t value) { return {what, 0x07, value, {}, {}}; }
inline made_attribute text_of(dwarf_attribute what, std::string value) { return {what, 0x08, 0, std::move(value), {}}; }
inline made_attribute named(std::string value) { return text_of(dwarf_attribute::name, std::move(value)); }
inline made_attribute sized(std::uint64_t bytes) { return number_of(dwarf_attribute::byte_size, bytes); }
inline made_attribute flag_of(dwarf_attribute what) { return {what, 0x19, 1, {}, {}}; }
inline made_attribute refers(dwarf_attribute what, std::string label) { return {what, 0x13, 0, std::move(label), {}}; }
inline made_attribute typed(std::string label) { return refers(dwarf_attribute::type, std::move(label)); }
inline made_attribute block_of(dwarf_attribute what, std::vector<unsigned> bytes) {
  return {what, 0x18, 0, {}, std::move(bytes)};
}

struct made_entry {
  std::string label;
  dwarf_tag tag{};
  std::vector<made_attribute> attributes;
  std::vector<made_entry> children = {};
};

/// One unit of DWARF 4 with these entries below its root.
class made_dwarf {
 public:
  explicit made_dwarf(std::vector<made_entry> entries, std::uint64_t language = 0x1d) {
    info_.u32(0).u16(4).u32(0).u8(8);
    add({"root", dwarf_tag::compile_unit, {number_of(dwarf_attribute::language, language)}, std::move(entries)});
    abbrev_.u8(0);
    info_.put(0, static_cast<std::uint32_t>(info_.size() - 4));
    for (const auto& [at, label] : references_) info_.put(at, static_cast<std::uint32_t>(places_.at(label)));
  }
  [[nodiscard]] dwarf_sections sections() const { return {info_.all, abbrev_.all, {}, {}, {}, {}}; }
  [[nodiscard]] std::uint64_t place(const std::string& label) const { return places_.at(label); }

 private:
  void add(const made_entry& one) {
    places_[one.label] = info_.size();
    abbrev_.uleb(++codes_).uleb(static_cast<std::uint64_t>(one.tag)).u8(one.children.empty() ? 0 : 1);
    info_.uleb(codes_);
    for (const made_attribute& each : one.attributes) {
      abbrev_.uleb(static_cast<std::uint64_t>(each.what)).uleb(each.form);
      add(each);
    }
    abbrev_.u8(0).u8(0);
    for (const made_entry& each : one.children) add(each);
    if (!one.children.empty()) info_.u8(0);
  }
  void add(const made_attribute& one) {
    switch (one.form) {
      case 0x07: info_.u64(one.number); break;
      case 0x08: info_.text(one.text); break;
      case 0x13:
        references_.emplace_back(info_.size(), one.text);
        info_.u32(0);
        break;
      case 0x18: info_.uleb(one.block.size()).bytes(one.block); break;
      default: break;  // a flag
    }
  }

  byte_list info_, abbrev_;
  std::uint64_t codes_ = 0;
  std::map<std::string, std::uint64_t> places_;
  std::vector<std::pair<std::size_t, std::string>> references_;
};

}  // namespace ham::debug_info::test
