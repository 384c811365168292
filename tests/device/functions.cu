// Device functions of every scope, as nvcc compiles them with the resident kernel; scripts/check-cuda.sh.
#include "ham/device/kernel.hpp"

namespace device_sources {

struct pair {
  double first;
  int second;
};

HAM_DEVICE double axpy(double a, const double* x, double* y, std::size_t n) {
  for (std::size_t i = ham::device::rank(); i < n; i += ham::device::size()) y[i] += a * x[i];
  ham::device::sync();
  return n == 0 ? 0 : y[n - 1];
}
HAM_DEVICE pair swapped(pair what, const int& more) {
  if (ham::device::stop_requested()) ham::device::trap("stopped");
  return {static_cast<double>(what.second + more), static_cast<int>(what.first)};
}
HAM_DEVICE std::uint32_t of_span(std::span<const float> of) {
  ham::device::sync();
  return static_cast<std::uint32_t>(of.size()) + ham::device::size();
}
HAM_DEVICE double first_of(std::span<const double> of) noexcept {
  double value = of.empty() ? 0 : of[0];
  return axpy(2.0, of.data(), &value, of.empty() ? 0 : 1);
}
HAM_DEVICE void nothing() noexcept {}

}  // namespace device_sources

HAM_DEVICE_FUNCTION(device_sources::swapped, thread)
HAM_DEVICE_FUNCTION(device_sources::of_span, grid)
HAM_DEVICE_FUNCTION(device_sources::first_of, warp)
HAM_DEVICE_FUNCTION(device_sources::nothing, block)

namespace device_sources {

template <auto Function>
ham::device::detail::function_entry& entry_of() {
  return ham::device::detail::declared_function<decltype(Function), Function>::entry();
}
std::uint32_t registered() {
  return entry_of<&swapped>().number() + entry_of<&of_span>().number() + entry_of<&first_of>().number() +
         entry_of<&nothing>().number();
}

}  // namespace device_sources
