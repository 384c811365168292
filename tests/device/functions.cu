// The versions for GPUs, with the resident kernel: compiled by scripts/check-cuda.sh, and run by gpu_test.cpp.
#include "functions.hpp"
