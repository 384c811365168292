// Notes the functions that debug information describes, and turns their parameters into types when they are asked for.
#include "debug_info/function_types.hpp"

#include "debug_info/bytes.hpp"
#include "debug_info/dwarf.hpp"
#include "debug_info/dwarf_types.hpp"
#include "debug_info/elf_file.hpp"

#include <unistd.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ham::inline v1::debug_info {
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

// The name by which the linker knows a function that the entry defines; "": it defines none that others see.
std::string_view linker_name(const dwarf& info, const dwarf_entry& function) {
  if (function.flag(attribute::declaration) || function.find(attribute::abstract_origin) != nullptr) return {};
  dwarf_entry declaration;
  for (const attribute candidate : {attribute::linkage_name, attribute::mips_linkage_name, attribute::name}) {
    const dwarf_value* value = find_with_declaration(info, function, candidate, declaration);
    if (value == nullptr) continue;
    const std::string_view name = value->text;
    const bool is_external = find_with_declaration(info, function, attribute::external, declaration) != nullptr;
    return is_external ? name : std::string_view();
  }
  return {};
}

dwarf_sections sections_of(const elf_file& file) {
  return {file.section(".debug_info"),     file.section(".debug_abbrev"),      file.section(".debug_str"),
          file.section(".debug_line_str"), file.section(".debug_str_offsets"), file.section(".debug_loclists")};
}

}  // namespace

class function_types::file {
 public:
  explicit file(const std::string& path) : elf_(path) {}

  [[nodiscard]] const elf_file& elf() const noexcept { return elf_; }

  std::optional<signature> find(std::string_view name, std::string& why) {
    if (!read_) read();
    if (!unreadable_.empty()) {
      why = unreadable_;
      return std::nullopt;
    }
    const auto [first, last] = functions_.equal_range(name);
    std::optional<signature> result;
    for (auto one = first; one != last; ++one) {
      const dwarf_entry function = info_->entry(*one->second.unit, one->second.offset);
      if (lacks_types(function)) {
        why = "it was compiled with -g1, which leaves types out";
        return std::nullopt;
      }
      signature found = signature_of(*info_, function);
      if (result && !same_call(*result, found)) {
        throw ambiguous("the debug information knows two functions \"" + std::string(name) +
                        "\": " + to_string(*result) + " and " + to_string(found));
      }
      result = std::move(found);
    }
    if (!result) why = "its debug information does not have this function: its source was compiled without -g";
    return result;
  }

 private:
  struct place {
    const dwarf_unit* unit;
    std::uint64_t offset;
  };

  void read() {
    read_ = true;
    try {
      const dwarf_sections sections = sections_of(elf_);
      if (sections.info.empty()) {
        unreadable_ = "it was compiled without -g, or stripped";
        return;
      }
      info_ = std::make_unique<dwarf>(sections);
      for (const dwarf_unit& unit : info_->units()) note_functions(unit);
    } catch (const malformed& problem) {
      unreadable_ = std::string("its debug information cannot be read: ") + problem.what();
    }
  }

  // With -g1, GCC describes every function as if it had neither parameters nor result.
  [[nodiscard]] bool lacks_types(const dwarf_entry& function) const {
    if (!units_without_types_.contains(function.unit) || function.flag(attribute::prototyped)) return false;
    return function.find(attribute::type) == nullptr && function.find(attribute::specification) == nullptr &&
           info_->children(function).empty();
  }

  // Goes into everything but functions: extern "C" may stand in a namespace.
  void note_functions(const dwarf_unit& unit) {
    units_without_types_.insert(&unit);
    std::uint64_t at = unit.first;
    while (at < unit.end) {
      const dwarf_entry one = info_->entry(unit, at);
      const bool is_function = one.tag == dwarf_tag::subprogram;
      at = is_function ? info_->after(one) : one.next;
      if (one.tag == dwarf_tag::base_type) units_without_types_.erase(&unit);
      if (!is_function) continue;
      if (const std::string_view name = linker_name(*info_, one); !name.empty()) {
        functions_.emplace(name, place{&unit, one.offset});
      }
    }
  }

  elf_file elf_;
  std::unique_ptr<dwarf> info_;
  std::unordered_multimap<std::string_view, place> functions_;  // names lie in the file
  std::unordered_set<const dwarf_unit*> units_without_types_;
  bool read_ = false;
  std::string unreadable_;
};

function_types::function_types(const std::string& path) {
  try {
    main_ = std::make_unique<file>(path);
  } catch (const malformed& problem) {
    unreadable_ = std::string("its debug information cannot be read: ") + problem.what();
  }
}

function_types::~function_types() = default;

std::optional<signature> function_types::find(std::string_view name, std::string& why) {
  try {
    if (main_ == nullptr) {
      why = unreadable_;
      return std::nullopt;
    }
    if (auto result = main_->find(name, why)) return result;
    if (!looked_for_separate_) {
      looked_for_separate_ = true;
      const std::string path = main_->elf().separate_debug_path();
      if (!path.empty() && ::access(path.c_str(), R_OK) == 0) separate_ = std::make_unique<file>(path);
    }
    return separate_ == nullptr ? std::nullopt : separate_->find(name, why);
  } catch (const malformed& problem) {
    why = std::string("its debug information cannot be read: ") + problem.what();
    return std::nullopt;
  }
}

bool function_types::has_symbol(std::string_view name) const noexcept {
  try {
    return main_ != nullptr && main_->elf().has_symbol(name);
  } catch (const malformed&) {
    return false;
  }
}

}  // namespace ham::debug_info
