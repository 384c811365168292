// dlopen of libveo.
#include "transport/common/libveo.hpp"

#include <dlfcn.h>

#include <string>

#include "base/program_file.hpp"
#include "base/settings.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::veo {
namespace {

template <class Function>
void find(void* library, const std::string& file, const char* name, Function& to) {
  to = reinterpret_cast<Function>(::dlsym(library, name));
  if (to == nullptr) {
    throw config_error("the VEO library " + file + " has no function " + name +
                       " (another version); name one of API version 16 in HAM_VEO_LIBRARY");
  }
}

libveo load() {
  if (base::is_fully_static()) {
    throw config_error(
        "cannot load a VEO library (this program was linked with -static, and the library would bring a second C "
        "library into it); link dynamically");
  }
  const std::string named = base::text_of(base::setting::veo_library);
  const std::string file = named.empty() ? "libveo.so.1" : named;
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    throw config_error("cannot load the VEO library " + file + " (" + (why == nullptr ? "?" : why) +
                       "); install one, or name it in HAM_VEO_LIBRARY");
  }
  libveo result{};
  const auto each = [&](const char* name, auto& to) { find(library, file, name, to); };
  each("veo_proc_create", result.proc_create);
  each("veo_proc_destroy", result.proc_destroy);
  each("veo_load_library", result.load_library);
  each("veo_get_sym", result.get_sym);
  each("veo_context_open", result.context_open);
  each("veo_args_alloc", result.args_alloc);
  each("veo_args_set_u64", result.args_set_u64);
  each("veo_args_free", result.args_free);
  each("veo_call_async", result.call_async);
  each("veo_call_peek_result", result.call_peek_result);
  each("veo_alloc_mem", result.alloc_mem);
  each("veo_read_mem", result.read_mem);
  each("veo_write_mem", result.write_mem);
  return result;
}

}  // namespace

const libveo& libveo::get() {
  static const libveo loaded = load();
  return loaded;
}

}  // namespace ham::transport::veo
