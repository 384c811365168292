// Calls of device functions that the device executes one after the other, and answers once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ham/device/offloading.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

/// In the form that devices read (chain_step in ham/device/mailbox.hpp). Results of earlier calls are arguments of
/// later ones without the host.
class device_chain {
 public:
  struct step {
    const device::detail::function_entry* function;
    const msg::handler_entry* handler;
    std::uint32_t call;  ///< its number
    result_sink* sink;
    void (*answer)(incoming_call& call, const std::byte* result);
    std::size_t result_at;  ///< where its result lies on the device
    std::size_t end;        ///< of it in the program
  };
  /// An argument of a call is what an earlier one gives, by its place in the chain.
  struct use {
    std::size_t parameter;
    std::size_t from;
  };

  /// Has the handler of a call check its arguments, and adds it. What earlier ones give is there, too, with any value.
  /// False: it cannot be part of the chain, or its arguments are refused. Nothing of it is executed.
  [[nodiscard]] bool add(const incoming_call& call, std::span<const use> uses) noexcept;
  /// Leaves the first ones, at least one.
  void cut(std::size_t count);

  [[nodiscard]] std::vector<step>& steps() noexcept { return steps_; }
  [[nodiscard]] std::vector<std::byte>& program() noexcept { return program_; }
  /// Of the result of one, in bytes.
  [[nodiscard]] std::size_t result_size(std::size_t of) const noexcept { return steps_[of].function->row.result_size; }

  // ---- for run_on_device()
  /// The one that the calling thread adds that call to, or nullptr.
  [[nodiscard]] static device_chain* adding(const incoming_call& call) noexcept;
  void take(const incoming_call& call, const device_request& what);
  /// Whether the handler that the calling thread has called last for `sink` has handed it over to a device.
  [[nodiscard]] static bool was_handed_over(const result_sink& sink) noexcept;
  static void note_handed_over(const result_sink* sink) noexcept;

 private:
  [[nodiscard]] bool append(const device_request& what, std::size_t result_at);

  std::vector<step> steps_;
  std::vector<std::byte> program_;
  std::span<const use> uses_;  // of the call that is added
};

/// As run_on_device(), for all of its calls: `first` is its first one. The last one is answered; or that one which goes
/// wrong, if one does.
void run_on_device(incoming_call& first, device_chain&& chain);

}  // namespace ham::detail
