// From the address of a kernel to its library, its names, and its types.
#include "kernel_directory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <string_view>
#include <vector>

#include "debug_info/function_types.hpp"
#include "static_symbols.hpp"

namespace ham::inline v1::veo {
namespace {

using debug_info::signature;
using debug_info::type_kind;

slot_kind integer_kind(bool is_signed, std::size_t bytes) noexcept {
  switch (bytes) {
    case 1: return is_signed ? slot_kind::i8 : slot_kind::u8;
    case 2: return is_signed ? slot_kind::i16 : slot_kind::u16;
    case 4: return is_signed ? slot_kind::i32 : slot_kind::u32;
    case 8: return slot_kind::word;
    default: return slot_kind::as_set;
  }
}

slot_kind kind_of(const debug_info::type& what) noexcept {
  switch (debug_info::register_kind(what)) {
    case type_kind::signed_integer: return integer_kind(true, what.size);
    case type_kind::unsigned_integer: return integer_kind(false, what.size);
    case type_kind::pointer: return slot_kind::pointer;
    case type_kind::floating:
      if (what.size == sizeof(double)) return slot_kind::real;
      return what.size == sizeof(float) ? slot_kind::single : slot_kind::as_set;
    default: return slot_kind::as_set;
  }
}

result_kind returned_as(slot_kind kind) noexcept {
  switch (kind) {
    case slot_kind::i32: return result_kind::i32;
    case slot_kind::i16: return result_kind::i16;
    case slot_kind::i8: return result_kind::i8;
    case slot_kind::u32: return result_kind::u32;
    case slot_kind::u16: return result_kind::u16;
    case slot_kind::u8: return result_kind::u8;
    case slot_kind::real: return result_kind::real;
    case slot_kind::single: return result_kind::single;
    default: return result_kind::bits;
  }
}

void take_over(const signature& from, kernel_types& into) {
  const slot_kind result = kind_of(from.result);
  if (result == slot_kind::as_set && from.result.kind != type_kind::nothing) {
    into.why = "it returns " + from.result.name + ", which may take a hidden argument";
    return;
  }
  into.known = true;
  into.variadic = from.variadic;
  into.result = returned_as(result);
  for (const debug_info::type& parameter : from.parameters) {
    const slot_kind kind = kind_of(parameter);
    // A complex number or a structure may take several of the arguments that are set: from there on which is which is
    // not known, and they go as they are set.
    if (parameter.kind == type_kind::complex || (kind == slot_kind::as_set && parameter.size > sizeof(std::uint64_t)))
      return;
    into.parameters.push_back(!from.prototyped && kind == slot_kind::single ? slot_kind::real : kind);
  }
  if (from.variadic) into.parameters.pop_back();  // it stands for those that follow
}

/// A library that knows of tags takes them off by itself.
bool knows_tags(const debug_info::function_types& file) noexcept {
  constexpr std::array<std::string_view, 3> functions{"veo_is_ve_addr", "veo_get_hmem_addr",
                                                      "veo_get_proc_identifier_from_hmem"};
  for (const std::string_view one : functions) {
    if (file.has_symbol(one)) return true;
  }
  return false;
}

const char* linked_name(std::uint64_t address) noexcept {
  const ham_veo_static_symbol* one = ham_veo_static_symbols;
  for (; one != nullptr && one->name != nullptr; ++one) {
    if (reinterpret_cast<std::uintptr_t>(one->address) == address) return one->name;
  }
  return nullptr;
}

const link_map* record_of(void* library) noexcept {
  const link_map* record = nullptr;
  return ::dlinfo(library, RTLD_DI_LINKMAP, &record) == 0 ? record : nullptr;
}

}  // namespace

/// Where a kernel is: the loader's record, nullptr: nowhere; and names that it may have.
struct kernel_directory::place {
  const link_map* library = nullptr;
  std::vector<std::string> names;

  [[nodiscard]] bool is_program() const noexcept { return library->l_name == nullptr || *library->l_name == '\0'; }
  [[nodiscard]] const char* path() const noexcept { return is_program() ? "/proc/self/exe" : library->l_name; }
};

kernel_directory::kernel_directory() = default;
kernel_directory::~kernel_directory() = default;

void kernel_directory::loaded(void* library) {
  const link_map* const record = record_of(library);
  if (record == nullptr) return;
  std::lock_guard guard(mutex_);
  file& one = files_[record];
  one.was_loaded = true;
  if (one.types == nullptr) one.types = std::make_unique<debug_info::function_types>(record->l_name);
}

void kernel_directory::unloading(void* library, std::uint64_t handle) {
  std::lock_guard guard(mutex_);
  const link_map* const gone = record_of(library);
  std::erase_if(files_, [gone](const auto& one) { return one.first == gone || !one.second.was_loaded; });
  std::erase_if(symbols_, [handle](const auto& one) { return one.second.library == handle; });
  types_.clear();
  generation_.fetch_add(1, std::memory_order_relaxed);
}

void kernel_directory::named(std::uint64_t library, std::uint64_t address, const std::string& name) {
  std::lock_guard guard(mutex_);
  symbols_.insert_or_assign(address, symbol{library, name});
}

std::shared_ptr<const kernel_types> kernel_directory::types_of(std::uint64_t kernel) {
  std::lock_guard guard(mutex_);
  auto& found = types_[kernel];
  if (found == nullptr) found = read(kernel);
  return found;
}

kernel_directory::place kernel_directory::place_of(std::uint64_t kernel) const {
  place found;
  if (const auto asked = symbols_.find(kernel); asked != symbols_.end()) found.names.push_back(asked->second.name);
  if (const char* const name = linked_name(kernel)) found.names.emplace_back(name);
  const auto* const address = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(kernel));  // NOLINT
  Dl_info about{};
  void* record = nullptr;
  if (::dladdr1(address, &about, &record, RTLD_DL_LINKMAP) == 0) return found;
  found.library = static_cast<const link_map*>(record);
  if (about.dli_sname != nullptr && about.dli_saddr == address) found.names.emplace_back(about.dli_sname);
  return found;
}

std::shared_ptr<const kernel_types> kernel_directory::read(std::uint64_t kernel) {
  auto result = std::make_shared<kernel_types>();
  const place where = place_of(kernel);
  if (where.library == nullptr || where.names.empty()) {
    result->name = where.names.empty() ? "without a name" : where.names.front();
    result->why = where.library == nullptr ? "it is in no library" : "its library has no symbol for it";
    return result;
  }
  result->name = where.names.front() + (where.is_program() ? "" : std::string(" in ") + where.path());
  auto& file = files_[where.library].types;
  if (file == nullptr) file = std::make_unique<debug_info::function_types>(where.path());
  if (!where.is_program()) result->keeps_tags = knows_tags(*file);
  if (where.is_program() && &ham_veo_static_keeps_tags != nullptr) result->keeps_tags = ham_veo_static_keeps_tags != 0;
  for (const std::string& name : where.names) {
    try {
      const auto types = file->find(name, result->why);
      if (!types) continue;
      result->why.clear();
      take_over(*types, *result);
      return result;
    } catch (const debug_info::ambiguous& problem) {
      result->why = problem.what();
    }
  }
  return result;
}

}  // namespace ham::veo
