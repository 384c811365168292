// The contract between the runtime and a device driver: what an accelerator's own code does for its target process.
//
// The queues, the loop that serves them and the codecs are the same for all devices (include/ham/device/). A driver
// gives them memory that the host and the device both reach, starts the loop on the device and tells how it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ham/device/function.hpp"
#include "ham/device/mailbox.hpp"
#include "ham/device/outbox.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v1::transport {

/// Whether the resident kernel runs.
enum class residency : std::uint8_t {
  absent,    ///< the device is idle
  resident,  ///< it takes calls
  failed,    ///< the device has failed for good: failure()
};

/// What a device is, for people.
struct device_description {
  std::string name;                ///< "NVIDIA H100 80GB HBM3"
  std::string capability;          ///< of its instruction set: "9.0"
  std::string driver;              ///< its version
  std::uint32_t processors = 0;    ///< that execute blocks
  std::uint64_t memory_bytes = 0;  ///< of its own
};

/// One device, owned by one process. One thread at a time, unless said otherwise.
class device_driver {
 public:
  device_driver() = default;
  virtual ~device_driver() = default;
  device_driver(const device_driver&) = delete;
  device_driver& operator=(const device_driver&) = delete;

  /// What nodes with such a device are to others (node_descriptor::device_type).
  [[nodiscard]] virtual const char* type() const noexcept = 0;
  [[nodiscard]] virtual device_description description() const { return {}; }
  /// The queues of calls, one for each block of the resident kernel. Stay where they are.
  [[nodiscard]] virtual std::span<device::detail::call_queue> queues() noexcept = 0;
  /// The messages of each block. Stay where they are.
  [[nodiscard]] virtual std::span<device::detail::outbox> messages() noexcept = 0;

  /// Whether the device can execute that function. Any thread.
  [[nodiscard]] virtual bool has(const device::detail::function_entry& function) const noexcept = 0;
  /// Makes functions known to the device; those before the first `count` are all that a call may name. While absent.
  virtual void upload(std::uint32_t count) = 0;
  /// Starts the resident kernel. While absent. Throws ham::config_error if the device refuses.
  virtual void launch() = 0;
  /// The kernel returns when each of its blocks has been asked to (leave_function). Does not wait.
  [[nodiscard]] virtual residency state() noexcept = 0;
  /// What has failed, in the words of the device, and the numbers of the functions that it executed: one of them has
  /// failed. None: that is not known.
  struct failure_report {
    std::string what;
    std::vector<std::uint32_t> functions;
  };
  [[nodiscard]] virtual failure_report failure() = 0;

  /// Memory of the device with a copy of these bytes, aligned to 16, for arguments that are longer than a slot; until
  /// unstage(). Also while resident. Throws std::bad_alloc.
  [[nodiscard]] virtual std::uint64_t stage(std::span<const std::byte> bytes) = 0;
  virtual void unstage(std::uint64_t address) noexcept = 0;

  /// The vendor's stream for what functions of the host launch by themselves: always the same one for the context of
  /// that number, and another one for functions without a context (0). nullptr: the device has none. Any thread.
  [[nodiscard]] virtual void* stream_of(std::uint32_t /*context*/) noexcept { return nullptr; }
};

/// What owns a device besides being something else: the transport of a target process that has one.
class device_owner {
 public:
  /// The device. Called once; empty if it was called before.
  [[nodiscard]] virtual std::unique_ptr<device_driver> take_device() = 0;
  /// The memory of the device, before take_device; called once. nullptr: what the node allocates is memory of the
  /// process, which the device reaches. Throws ham::config_error.
  [[nodiscard]] virtual std::unique_ptr<device_memory> take_memory() { return nullptr; }
  /// How long the resident kernel stays without a call, and a function may go on that has been asked to stop (0: for
  /// ever).
  struct limits {
    std::int64_t linger_ns;
    std::int64_t watchdog_ns;
  };
  [[nodiscard]] virtual limits device_limits() const noexcept = 0;

 protected:
  ~device_owner() = default;
};

}  // namespace ham::transport
