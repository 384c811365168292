// Stands for src/base/home_core.hpp in the models: there are no cores.
#pragma once

namespace ham::inline v1::base {

struct home_core {
  static void go_home() noexcept {}
};

}  // namespace ham::base
