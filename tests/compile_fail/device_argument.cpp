// expect: type_cannot_go_to_a_device<std::
#include <ham/device.hpp>

#include <string>

HAM_DEVICE int length(std::string text);
HAM_DEVICE_FUNCTION(length, thread)
