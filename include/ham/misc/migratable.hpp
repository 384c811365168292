// The place of ham::migratable and ham::is_bitwise_copyable in the published HAM-Offload.
#pragma once

#include "ham/msg/codec.hpp"
#include "ham/msg/migratable.hpp"
