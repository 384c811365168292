// expect: compiles
#include <ham/device.hpp>

#include <span>

struct plain {
  double x[3];
};
HAM_DEVICE plain scaled(plain what, const double& by, std::span<const float> of, ham::offload::buffer_ptr<int> to);
HAM_DEVICE_FUNCTION(scaled, grid)
HAM_DEVICE void nothing() noexcept;
HAM_DEVICE_FUNCTION(nothing, warp)
