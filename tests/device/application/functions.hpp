// Of a program that is built as docs/gpu.md says: scripts/check-cuda.sh.
#pragma once

#include <ham/device.hpp>

HAM_DEVICE double length(ham::offload::buffer_ptr<float> x, std::size_t n);
HAM_DEVICE_FUNCTION(length, block)
