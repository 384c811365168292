// Finds a function in debug information and turns its parameters into types.
#include "mpix/types/debug_types.hpp"

#include "mpix/refusal.hpp"
#include "mpix/types/bytes.hpp"
#include "mpix/types/dwarf.hpp"
#include "mpix/types/dwarf_types.hpp"
#include "mpix/types/elf_file.hpp"

#include <unistd.h>

#include <vector>

namespace ham::mpix {
namespace {

using attribute = dwarf_attribute;

// An attribute of the entry or of the declaration that it completes.
const dwarf_value* find_with_declaration(const dwarf& info, const dwarf_entry& function, attribute wanted,
                                         dwarf_entry& declaration) {
  if (const dwarf_value* value = function.find(wanted)) return value;
  const dwarf_value* reference = function.find(attribute::specification);
  if (reference == nullptr) return nullptr;
  declaration = info.follow(function, *reference);
  return declaration.find(wanted);
}

bool is_called(const dwarf& info, const dwarf_entry& function, std::string_view name) {
  if (function.flag(attribute::declaration) || function.find(attribute::abstract_origin) != nullptr) return false;
  dwarf_entry declaration;
  for (const attribute candidate : {attribute::linkage_name, attribute::mips_linkage_name, attribute::name}) {
    const dwarf_value* value = find_with_declaration(info, function, candidate, declaration);
    if (value == nullptr) continue;
    if (value->text != name) return false;
    return find_with_declaration(info, function, attribute::external, declaration) != nullptr;
  }
  return false;
}

// Goes into everything but functions: extern "C" may stand in a namespace.
void find_functions(const dwarf& info, const dwarf_unit& unit, std::string_view name, std::vector<dwarf_entry>& found) {
  std::uint64_t at = unit.first;
  while (at < unit.end) {
    dwarf_entry one = info.entry(unit, at);
    const bool is_function = one.tag == dwarf_tag::subprogram;
    at = is_function ? info.after(one) : one.next;
    if (is_function && is_called(info, one, name)) found.push_back(std::move(one));
  }
}

std::optional<signature> types_in(const elf_file& file, std::string_view name, std::string& why) {
  const dwarf_sections sections{file.section(".debug_info"),        file.section(".debug_abbrev"),
                                file.section(".debug_str"),         file.section(".debug_line_str"),
                                file.section(".debug_str_offsets"), file.section(".debug_loclists")};
  if (sections.info.empty()) {
    why = "it was compiled without -g, or stripped";
    return std::nullopt;
  }
  const dwarf info(sections);
  std::vector<dwarf_entry> found;
  for (const dwarf_unit& unit : info.units()) find_functions(info, unit, name, found);
  std::optional<signature> result;
  for (const dwarf_entry& function : found) {
    signature one = signature_of(info, function);
    if (result && !same_call(*result, one)) {
      throw refusal(failure::untyped, "the debug information knows two functions \"" + std::string(name) +
                                          "\": " + to_string(*result) + " and " + to_string(one));
    }
    result = std::move(one);
  }
  if (!result) why = "its debug information does not have this function: its source was compiled without -g";
  return result;
}

}  // namespace

std::optional<signature> debug_types(const std::string& path, std::string_view name, std::string& why) {
  try {
    const elf_file file(path);
    std::optional<signature> result = types_in(file, name, why);
    const std::string separate = result ? std::string() : file.separate_debug_path();
    if (!separate.empty() && ::access(separate.c_str(), R_OK) == 0) result = types_in(elf_file(separate), name, why);
    return result;
  } catch (const malformed& problem) {
    why = std::string("its debug information cannot be read: ") + problem.what();
    return std::nullopt;
  }
}

}  // namespace ham::mpix
