// expect: type_cannot_come_from_a_device<std::
#include <ham/device.hpp>

#include <vector>

HAM_DEVICE std::vector<int> numbers(int count);
HAM_DEVICE_FUNCTION(numbers, block)
