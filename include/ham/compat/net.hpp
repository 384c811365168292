// Namespace ham::net, where the published HAM-Offload first declared the types of nodes and buffers.
#pragma once

#include "ham/misc/types.hpp"
#include "ham/offload/buffer_ptr.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::net {

using ham::node_t;
using offload::buffer_ptr;
using offload::node_descriptor;

}  // namespace ham::net
