// Turns entries of debug information into types.
#include "debug_info/dwarf_types.hpp"

#include "debug_info/bytes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::debug_info {
namespace {

using attribute = dwarf_attribute;
using tag = dwarf_tag;

constexpr int deepest = 32;  // levels of types in types; more is a loop
constexpr std::size_t max_members = 4096;
constexpr std::size_t max_members_in_all = 65536;  // of a signature, those of members counted wherever they are
constexpr const char* array_with_descriptor = "an array with a descriptor (assumed shape, allocatable or pointer)";

type opaque(std::string name, std::string why, std::size_t size = 0) {
  type result;
  result.kind = type_kind::opaque;
  result.size = size;
  result.name = std::move(name);
  result.why = std::move(why);
  return result;
}

// An address, of something that another process does not have.
type opaque_pointer(std::string name, std::string why) {
  type result = opaque(std::move(name), std::move(why), sizeof(void*));
  result.passed_as = type_kind::pointer;
  return result;
}

// Handles of MPI look like integers or pointers; only their names tell.
bool is_mpi_handle(std::string_view name) {
  constexpr std::array handles{"MPI_Comm", "MPI_Datatype", "MPI_Group",   "MPI_Win",        "MPI_File",   "MPI_Op",
                               "MPI_Info", "MPI_Request",  "MPI_Message", "MPI_Errhandler", "MPI_Session"};
  return std::find(handles.begin(), handles.end(), name) != handles.end();
}

bool is_fortran(std::uint64_t language) {
  constexpr std::array<std::uint64_t, 6> fortran{0x07, 0x08, 0x0e, 0x22, 0x23, 0x2d};
  return std::find(fortran.begin(), fortran.end(), language) != fortran.end();
}

// Elements along one dimension; 0: it does not say.
std::uint64_t extent_of(const dwarf_entry& dimension) {
  const auto is_number = [&dimension](attribute which) {
    const dwarf_value* const value = dimension.find(which);
    return value != nullptr && value->is == dwarf_value::kind::number;
  };
  if (is_number(attribute::count)) return dimension.number(attribute::count);
  const bool has_lower = dimension.find(attribute::lower_bound) != nullptr;
  if (!is_number(attribute::upper_bound) || (has_lower && !is_number(attribute::lower_bound))) return 0;
  const std::uint64_t lower = dimension.number(attribute::lower_bound, is_fortran(dimension.unit->language) ? 1 : 0);
  const std::uint64_t extent = dimension.number(attribute::upper_bound) - lower + 1;  // bounds may be negative
  return static_cast<std::int64_t>(extent) < 0 ? 0 : extent;
}

class reader {
 public:
  explicit reader(const dwarf& info) : info_(info) {}

  // The type that the entry's attribute says; void if there is none.
  type type_of(const dwarf_entry& holder, int depth = 0) const {
    const dwarf_value* reference = holder.find(attribute::type);
    if (reference == nullptr) {
      type nothing;
      nothing.name = "void";
      return nothing;
    }
    if (reference->is != dwarf_value::kind::reference) return opaque("?", "its type is described in another file");
    return convert(info_.follow(holder, *reference), depth + 1);
  }

 private:
  type convert(const dwarf_entry& entry, int depth) const {
    if (depth > deepest) throw malformed("types without end");
    const auto name = std::string(entry.text(attribute::name));
    switch (entry.tag) {
      case tag::typedef_type: return named(entry, name, depth);
      case tag::const_type:
      case tag::volatile_type:
      case tag::restrict_type:
      case tag::atomic_type: return qualified(entry, depth);
      case tag::base_type: return base(entry, name);
      case tag::enumeration_type: return enumeration(entry, name, depth);
      case tag::pointer_type: return pointer(entry, "*", depth);
      case tag::reference_type:
      case tag::rvalue_reference_type: return pointer(entry, "&", depth);
      case tag::structure_type:
      case tag::class_type: return structure(entry, name, depth);
      case tag::array_type: return array(entry, depth);
      case tag::string_type: return bytes(name);
      case tag::union_type: return opaque("union " + name, "a union by value", entry.number(attribute::byte_size));
      case tag::subroutine_type: return opaque("function", "a function");
      default: return opaque(name.empty() ? "?" : name, "a kind of type that kernels cannot take");
    }
  }

  type named(const dwarf_entry& entry, const std::string& name, int depth) const {
    type result = type_of(entry, depth);
    if (is_mpi_handle(name)) {
      type handle = opaque(name, "a handle of MPI: it means nothing in another process", result.size);
      handle.passed_as = register_kind(result);
      return handle;
    }
    result.name = name;
    return result;
  }

  type qualified(const dwarf_entry& entry, int depth) const {
    type result = type_of(entry, depth);
    if (entry.tag == tag::const_type && result.kind != type_kind::pointer) result.name = "const " + result.name;
    return result;
  }

  static type base(const dwarf_entry& entry, const std::string& name) {
    type result;
    result.name = name;
    result.size = entry.number(attribute::byte_size);
    const bool fits_integer = result.size == 1 || result.size == 2 || result.size == 4 || result.size == 8;
    const bool fits_floating = result.size == sizeof(float) || result.size == sizeof(double) ||
                               (result.size == sizeof(long double) && name.find("128") == std::string::npos);
    const bool fits_complex = result.size == 2 * sizeof(float) || result.size == 2 * sizeof(double);
    switch (entry.number(attribute::encoding)) {
      case 0x02:                                                    // boolean
      case 0x07:                                                    // unsigned
      case 0x08:                                                    // unsigned_char
      case 0x10: result.kind = type_kind::unsigned_integer; break;  // UTF
      case 0x05:                                                    // signed
      case 0x06: result.kind = type_kind::signed_integer; break;    // signed_char
      case 0x04: result.kind = type_kind::floating; break;          // float
      case 0x03: result.kind = type_kind::complex; break;           // complex_float
      default: return opaque(name, "a kind of number that kernels cannot take", result.size);
    }
    const bool fits = result.kind == type_kind::floating  ? fits_floating
                      : result.kind == type_kind::complex ? fits_complex
                                                          : fits_integer;
    return fits ? result : opaque(name, "a number of a size that kernels cannot take", result.size);
  }

  type enumeration(const dwarf_entry& entry, const std::string& name, int depth) const {
    type result;
    result.kind = type_kind::unsigned_integer;
    if (entry.find(attribute::type) != nullptr) result = type_of(entry, depth);
    result.size = entry.number(attribute::byte_size, result.size);
    result.name = "enum " + name;
    return result;
  }

  type pointer(const dwarf_entry& entry, const char* sign, int depth) const {
    type result;
    result.kind = type_kind::pointer;
    result.size = sizeof(void*);
    // Only one level is looked at: structures may point to themselves.
    const dwarf_value* reference = entry.find(attribute::type);
    if (reference == nullptr || reference->is != dwarf_value::kind::reference) {
      result.name = std::string("void") + sign;
      return result;
    }
    const auto target = pointee(info_.follow(entry, *reference), depth);
    result.name = target.name + sign;
    result.pointee = target.size;
    if (target.kind == type_kind::pointer) {
      return opaque_pointer(result.name, "a pointer to pointers: addresses of the caller mean nothing in a child");
    }
    if (target.kind == type_kind::opaque && !target.why.empty()) return opaque_pointer(result.name, target.why);
    return result;
  }

  // Size and name of what is pointed to; a structure's members do not matter.
  type pointee(dwarf_entry entry, int depth) const {
    std::string alias;
    for (; depth <= deepest; ++depth) {
      const auto name = std::string(entry.text(attribute::name));
      if (entry.tag == tag::typedef_type && is_mpi_handle(name)) {
        return opaque(name, "points to a handle of MPI: it means nothing in another process");
      }
      if (entry.tag == tag::typedef_type && alias.empty()) alias = name;
      const bool passes = entry.tag == tag::typedef_type || entry.tag == tag::const_type ||
                          entry.tag == tag::volatile_type || entry.tag == tag::restrict_type ||
                          entry.tag == tag::atomic_type;
      const dwarf_value* reference = passes ? entry.find(attribute::type) : nullptr;
      if (passes && reference == nullptr) break;
      if (!passes) return pointee_end(entry, alias.empty() ? name : alias);
      entry = info_.follow(entry, *reference);
    }
    type nothing;
    nothing.name = alias.empty() ? "void" : alias;
    return nothing;
  }

  static type pointee_end(const dwarf_entry& entry, const std::string& name) {
    type result;
    result.name = name;
    result.size = entry.number(attribute::byte_size);
    result.kind = type_kind::structure;
    if (entry.tag == tag::pointer_type || entry.tag == tag::reference_type) {
      result.kind = type_kind::pointer;
      result.name = "?*";
    }
    if (entry.tag == tag::subroutine_type) return opaque("function", "a function of the caller");
    if (is_not_plain(entry)) return opaque(name, "points to a class that is more than its bytes");
    return result;
  }

  // The compiler's word that copies of the class need its constructor.
  static bool is_not_plain(const dwarf_entry& entry) {
    constexpr std::uint64_t pass_by_reference = 4;
    return entry.number(attribute::calling_convention) == pass_by_reference;
  }

  static type bytes(const std::string& name) {
    type result;
    result.kind = type_kind::pointer;
    result.size = sizeof(void*);
    result.name = name.empty() ? "character*" : name;
    return result;
  }

  // A parameter that is an array is the address of its first element: C says so, and so does Fortran.
  type array(const dwarf_entry& entry, int depth) const {
    if (entry.find(attribute::data_location) != nullptr) {
      return opaque_pointer("array descriptor", array_with_descriptor);
    }
    if (entry.flag(attribute::gnu_vector)) return opaque("vector", "a vector register");
    const type element = type_of(entry, depth);
    type result = bytes(element.name + "*");
    result.pointee = element.kind == type_kind::opaque ? 0 : element.size;
    return result;
  }

  type structure(const dwarf_entry& entry, const std::string& name, int depth) const {
    type result;
    result.kind = type_kind::structure;
    result.size = entry.number(attribute::byte_size);
    result.name = name.empty() ? "struct" : "struct " + name;
    if (entry.flag(attribute::declaration)) return opaque(result.name, "a structure that is only declared");
    if (is_not_plain(entry)) return opaque(result.name, "a class that is more than its bytes", result.size);
    std::string why;
    add_members(entry, 0, result, why, depth);
    if (why.empty() && result.members.empty()) why = "an empty structure";
    return why.empty() ? result : opaque(result.name, "a structure with " + why, result.size);
  }

  void add_members(const dwarf_entry& entry, std::size_t base, type& result, std::string& why, int depth) const {
    for (const dwarf_entry& part : info_.children(entry)) {
      if (members_ > max_members_in_all) why = "too many members";
      if (!why.empty()) return;
      if (part.tag != tag::member && part.tag != tag::inheritance) continue;
      if (part.flag(attribute::external) || part.flag(attribute::declaration)) continue;
      if (part.find(attribute::bit_size) != nullptr) {
        why = "bit fields";
        return;
      }
      const std::size_t offset = base + part.number(attribute::data_member_location);
      add_member(part, offset, result, why, depth);
      if (!why.empty()) return;
    }
  }

  static std::size_t members_in(const type& what) {
    std::size_t sum = what.members.size();
    for (const auto& one : what.members) sum += members_in(one.what);
    return sum;
  }

  void add_member(const dwarf_entry& part, std::size_t offset, type& result, std::string& why, int depth) const {
    std::size_t count = 1;
    type what = element_of(part, count, depth + 1);
    if (what.kind == type_kind::pointer) why = "pointers: addresses of the caller mean nothing in a child";
    if (what.kind == type_kind::opaque) why = what.name + " in it (" + what.why + ")";
    if (what.kind == type_kind::nothing || count == 0) why = "a part of unknown size";
    if (count > max_members || result.members.size() + count > max_members) why = "too many members";
    if (!why.empty()) return;
    members_ += count * (1 + members_in(what));  // each is a copy, with its own members
    if (members_ > max_members_in_all) {
      why = "too many members";
      return;
    }
    for (std::size_t i = 0; i < count; ++i) result.members.push_back({offset + i * what.size, what});
  }

  // A member's type; of an array, that of its elements and their number.
  type element_of(const dwarf_entry& holder, std::size_t& count, int depth) const {
    if (depth > deepest) throw malformed("types without end");
    const dwarf_value* reference = holder.find(attribute::type);
    if (reference == nullptr) return {};
    const dwarf_entry target = info_.follow(holder, *reference);
    const bool passes =
        target.tag == tag::typedef_type || target.tag == tag::const_type || target.tag == tag::volatile_type;
    if (passes && !is_mpi_handle(target.text(attribute::name))) return element_of(target, count, depth + 1);
    if (target.tag != tag::array_type || target.flag(attribute::gnu_vector)) return convert(target, depth);
    for (const dwarf_entry& dimension : info_.children(target)) {
      if (dimension.tag != tag::subrange_type) continue;
      count *= std::min<std::uint64_t>(extent_of(dimension), max_members + 1);
      if (count > max_members) count = max_members + 1;
    }
    return element_of(target, count, depth + 1);
  }

  const dwarf& info_;
  mutable std::size_t members_ = 0;  // made so far for this signature
};

enum class passing : unsigned char { by_value, by_reference, not_known };

// gfortran describes a parameter by its own type, whether it comes by value or by reference; where it is tells them
// apart.
passing fortran_passing(std::span<const std::byte> location) {
  constexpr unsigned deref = 0x06;
  constexpr unsigned reg0 = 0x50;
  constexpr unsigned breg0 = 0x70;
  constexpr unsigned regx = 0x90;  // where AArch64 has its floating-point registers
  constexpr unsigned fbreg = 0x91;
  if (location.empty()) return passing::not_known;
  const auto first = std::to_integer<unsigned>(location.front());
  if ((first >= reg0 && first < breg0) || first == regx) return passing::by_value;
  if (first == fbreg && location.size() > 1) {
    cursor in(location, 1);
    in.sleb();
    if (in.at_end()) return passing::by_value;
    return in.number<std::uint8_t>() == deref ? passing::by_reference : passing::not_known;
  }
  // Memory at a register that holds an argument.
  return first >= breg0 && first < regx ? passing::by_reference : passing::not_known;
}

type fortran_parameter(const dwarf& info, const dwarf_entry& entry, type what) {
  if (what.kind == type_kind::pointer) return what;
  if (what.name.find("array_descr") != std::string::npos || what.name.find("descriptor") != std::string::npos) {
    return opaque_pointer(what.name, array_with_descriptor);
  }
  switch (fortran_passing(info.location(entry))) {
    case passing::by_value: return what;
    case passing::not_known:
      return opaque(what.name,
                    "the optimised code does not tell whether it is passed by VALUE; write the types into the kernel's "
                    "name, \"name(double, int*)\", or compile it with -O0");
    case passing::by_reference: break;
  }
  type result;
  result.kind = type_kind::pointer;
  result.size = sizeof(void*);
  result.pointee = what.size;
  result.name = what.name + "&";
  return result;
}

// A declaration of C that says nothing of its parameters. Other languages have none, and do not say so.
bool is_without_prototype(const dwarf_entry& function) {
  constexpr std::array<std::uint64_t, 6> c{0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e};  // C89, C, C99, C11, C17, C23
  return std::find(c.begin(), c.end(), function.unit->language) != c.end() && !function.flag(attribute::prototyped);
}

}  // namespace

signature signature_of(const dwarf& info, const dwarf_entry& function) {
  const reader types(info);
  signature result;
  result.source = "debug information";
  dwarf_entry typed = function;
  const dwarf_value* declaration = function.find(attribute::specification);
  if (function.find(attribute::type) == nullptr && declaration != nullptr) typed = info.follow(function, *declaration);
  result.result = types.type_of(typed);
  result.prototyped = !is_without_prototype(function);
  for (const dwarf_entry& entry : info.children(function)) {
    if (entry.tag == tag::unspecified_parameters) {
      result.parameters.push_back(opaque("...", "a variable number of arguments"));
      result.variadic = true;
    }
    if (entry.tag != tag::formal_parameter) continue;
    type what = types.type_of(entry);
    result.parameters.push_back(is_fortran(function.unit->language) ? fortran_parameter(info, entry, std::move(what))
                                                                    : std::move(what));
  }
  return result;
}

}  // namespace ham::debug_info
