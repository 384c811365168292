// What MPI kernels take from the room debug_info: types of parameters and results.
#pragma once

#include "debug_info/type.hpp"

namespace ham::inline v1::mpix {

using debug_info::member;
using debug_info::signature;
using debug_info::type;
using debug_info::type_kind;

}  // namespace ham::mpix
