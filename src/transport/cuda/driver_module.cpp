#include "transport/cuda/driver_module.hpp"

#include "base/privileges.hpp"
#include "transport/common/module_file.hpp"

namespace ham::inline v1::transport::cuda {

driver_module& load_driver_module() {
  static driver_module& loaded = []() -> driver_module& {
    base::refuse_if_privileged("a GPU is asked for, and CUDA itself takes names of code from the environment");
    return *open_module<driver_module_entry>("transport cuda", "libham_cuda.so", "ham_gpu_module", driver_interface);
  }();
  return loaded;
}

}  // namespace ham::transport::cuda
