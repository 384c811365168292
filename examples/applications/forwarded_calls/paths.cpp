// Local system calls, and those that a target forwards by plain HAM calls.
#include "forwarded_calls/paths.hpp"

#include <chrono>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "common/targets.hpp"
#include "forwarded_calls/file_calls.hpp"

namespace forwarded_calls {
namespace {

namespace offload = ham::offload;

/// The host's file; made when it is needed first.
const file& host_file() {
  static const file one;
  return one;
}

/// Seconds of `count` calls of write(bytes) or read(bytes).
template <class Write, class Read>
double measure(operation which, std::uint64_t bytes, std::uint64_t count, Write write, Read read) {
  std::vector<std::byte> data(bytes);
  if (which == operation::write) fill(data);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (which == operation::write)
      write(std::span<const std::byte>(data));
    else
      read(data);
  }
  const double seconds = app::seconds_since(start);
  if (!is_pattern(data)) throw std::runtime_error("what was read is not what the file holds");
  return seconds;
}

// ---- called on the host

void write_on_host(std::span<const std::byte> bytes) { host_file().write(bytes); }

std::vector<std::byte> read_on_host(std::uint64_t bytes) {
  std::vector<std::byte> data(bytes);
  host_file().read(data);
  return data;
}

// ---- called on the target

double forward(operation which, std::uint64_t bytes, std::uint64_t count) {
  return measure(
      which, bytes, count, [](std::span<const std::byte> data) { offload::sync(0, ham::fn<&write_on_host>, data); },
      [bytes](std::vector<std::byte>& data) { data = offload::sync(0, ham::fn<&read_on_host>, bytes); });
}

class host_path : public path {
 public:
  bool file_is_right(std::uint64_t bytes) override { return is_pattern(read_on_host(bytes)); }
  void clear_file(std::uint64_t bytes) override { write_on_host(std::vector<std::byte>(bytes)); }
};

class local_path final : public host_path {
 public:
  std::string name() const override { return "local system call"; }
  double seconds_of(operation which, std::uint64_t bytes, std::uint64_t count) override {
    return measure(
        which, bytes, count, [](std::span<const std::byte> data) { host_file().write(data); },
        [](std::vector<std::byte>& data) { host_file().read(data); });
  }
};

class ham_path final : public host_path {
 public:
  explicit ham_path(ham::node_t target) : target_(target) {}
  std::string name() const override { return "HAM call over " + offload::get_node_descriptor(target_).transport(); }
  double seconds_of(operation which, std::uint64_t bytes, std::uint64_t count) override {
    return offload::sync(target_, ham::fn<&forward>, which, bytes, count);
  }

 private:
  ham::node_t target_;
};

}  // namespace

std::unique_ptr<path> make_local() { return std::make_unique<local_path>(); }
std::unique_ptr<path> make_ham(ham::node_t target) { return std::make_unique<ham_path>(target); }

}  // namespace forwarded_calls
