// Keeps the last calls of each thread: kernels tend to be called again.
#include "typed_call.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace ham::inline v1::veo {
namespace {

void warn(const kernel_types& types) {
  if (types.has_warned.exchange(true)) return;
  std::fprintf(stderr,
               "veo: the types of kernel %s are not known: %s. Its arguments are passed as veo_args_set_double, "
               "veo_args_set_float and the others say, and its result is taken as an integer; compile the kernel with "
               "-g, or say the result's type with veo_ham_args_set_result.\n",
               types.name.c_str(), types.why.c_str());
}

void prepare(prepared_call& call, std::uint64_t kernel, kernel_directory& directory,
             const kernel_arguments& arguments) {
  const std::uint32_t generation = directory.generation();
  auto types = directory.types_of(kernel);
  const bool says_result = arguments.result() != result_kind::as_typed;
  if (!types->known && !says_result && std::ranges::any_of(arguments.kinds(), is_floating)) warn(*types);
  call.prepare(kernel, std::move(types), generation, arguments);
}

}  // namespace

prepared_call& prepare_call(std::uint64_t kernel, kernel_directory& directory, const kernel_arguments& arguments) {
  thread_local std::array<prepared_call, 8> calls;
  prepared_call& call = calls[(kernel >> 4U) % calls.size()];
  if (!call.fits(kernel, directory.generation(), arguments)) [[unlikely]]
    prepare(call, kernel, directory, arguments);
  return call;
}

}  // namespace ham::veo
