// Finds kernels, and their types.
#include "mpix/find_kernel.hpp"

#include "debug_info/function_types.hpp"
#include "mpix/kernel.hpp"
#include "mpix/kernel_objects.hpp"
#include "mpix/refusal.hpp"
#include "mpix/type_text.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>

namespace ham::inline v1::mpix {
namespace {

// Symbols that MPIX_KERNEL defines: the text of the parameters, and of the result.
constexpr const char* registered_parameters = "mpix_kernel_parameters_";
constexpr const char* registered_result = "mpix_kernel_result_";

found_function function_of(const std::string& name) {
  found_function found = find_function(name);
  if (found.address != nullptr) return found;
  if (found.elsewhere.empty()) {
    throw refusal(failure::unknown,
                  "there is no function \"" + name +
                      "\" in the children's program (it must be extern \"C\" or BIND(C), visible, and "
                      "linked with -rdynamic or in a library given to ham-kernel-host)");
  }
  throw refusal(failure::unknown,
                "the function \"" + name + "\" is in " + found.elsewhere +
                    ", which holds no kernels (they are in the children's program, in libraries given to "
                    "ham-kernel-host or MPIX_Kernel_library, or registered with MPIX_KERNEL)");
}

std::optional<signature> registered_types(const std::string& name) {
  const auto* parameters = static_cast<const char*>(::dlsym(RTLD_DEFAULT, (registered_parameters + name).c_str()));
  const auto* result = static_cast<const char*>(::dlsym(RTLD_DEFAULT, (registered_result + name).c_str()));
  if (parameters == nullptr || result == nullptr) return std::nullopt;
  std::string_view list = parameters;
  if (list.size() >= 2 && list.front() == '(') list = list.substr(1, list.size() - 2);
  signature types;
  types.source = "registration with MPIX_KERNEL";
  types.parameters = parse_parameters(list);
  types.result = parse_type(result);
  return types;
}

std::optional<signature> written_types(std::string_view name) {
  const std::size_t open = name.find('(');
  if (open == std::string_view::npos) return std::nullopt;
  if (name.back() != ')') throw refusal(failure::unknown, "\"" + std::string(name) + "\" lacks its last parenthesis");
  signature types;
  types.source = "types in the call";
  types.parameters = parse_parameters(name.substr(open + 1, name.size() - open - 2));
  types.result.name = "void";
  return types;
}

std::optional<signature> described_types(const std::string& path, const std::string& name, std::string& why) {
  try {
    return debug_info::function_types(path).find(name, why);
  } catch (const debug_info::ambiguous& problem) {
    throw refusal(failure::untyped, problem.what());
  }
}

// gfortran's opaque parameters are those that only the caller can tell.
bool knows_all(const signature& types) {
  for (const type& parameter : types.parameters) {
    if (parameter.kind == type_kind::opaque) return false;
  }
  return true;
}

void expect_same(const std::string& name, const signature& known, const signature& written) {
  if (same_call(known, written)) return;
  throw refusal(failure::mismatch, "kernel \"" + name + "\" is " + to_string(known) + ", says the " + known.source +
                                       "; the call says " + to_string(written));
}

}  // namespace

std::string_view bare_name(std::string_view name) noexcept {
  name = name.substr(0, name.find('('));
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return name;
}

found_kernel find_kernel(std::string_view name) {
  const std::string bare(bare_name(name));
  const found_function function = function_of(bare);
  const link_map* const file = function.file;
  found_kernel found;
  found.function = reinterpret_cast<void (*)()>(function.address);
  const std::optional<signature> written = written_types(name);
  found.types = registered_types(bare);
  if (!found.types && file != nullptr) {
    const std::string path = file->l_name[0] == '\0' ? "/proc/self/exe" : file->l_name;
    found.types = described_types(path, bare, found.why_untyped);
  }
  if (found.types && written && knows_all(*found.types))
    expect_same(bare, *found.types, *written);
  else if (written)
    found.types = written;
  return found;
}

}  // namespace ham::mpix
