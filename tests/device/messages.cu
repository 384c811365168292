// What device functions send to hosts, as nvcc compiles it; and calls of device functions in such a source.
#include "ham/device.hpp"
#include "ham/offload.hpp"

namespace device_messages {

struct progress {
  std::uint32_t step;
  double residual;
};
void report(progress now) { static_cast<void>(now); }
double damping(std::uint32_t step) { return 1.0 / (1.0 + step); }
void tell(std::uint32_t thread, double value) noexcept {
  static_cast<void>(thread);
  static_cast<void>(value);
}

HAM_DEVICE double relax(ham::offload::buffer_ptr<double> x, std::size_t n, std::uint32_t steps) {
  for (std::uint32_t step = 0; step < steps && !ham::device::stop_requested(); ++step) {
    double factor = 1;
    if (ham::device::rank() == 0) {
      auto answer = ham::device::async<&damping>(0, step);
      if (!answer.get(factor)) ham::device::print("no damping in step ", step, ": ", factor, ' ', true);
      ham::device::ping<&report>(0, progress{step, factor});
    }
    for (std::size_t i = ham::device::rank(); i < n; i += ham::device::size()) x[i] *= factor;
    ham::device::sync();
    ham::device::ping<&tell>(0, ham::device::rank(), x[0]);
  }
  return x[0];
}

}  // namespace device_messages

HAM_DEVICE_FUNCTION(device_messages::relax, block)

namespace device_messages {

double relaxed_on(ham::node_t gpu, ham::offload::buffer_ptr<double> x, std::size_t n) {
  return ham::offload::sync(gpu, ham::fn<&relax>, x, n, 3U);
}

}  // namespace device_messages
