// The list of arguments that clients fill.
#pragma once

#include "../call/argument_list.hpp"

struct veo_args : ham::veo::argument_list {};
