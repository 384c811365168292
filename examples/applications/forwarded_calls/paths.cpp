// Local system calls, those that a target forwards by plain HAM calls, and what it prints.
#include "forwarded_calls/paths.hpp"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
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

/// What is printed; on_output may call its handler until the runtime has ended, so this lasts longer.
const output_file& host_output() {
  static const output_file one;
  return one;
}

void check_lines(std::uint64_t bytes, std::uint64_t count) {
  if (!host_output().holds(bytes, count)) throw std::runtime_error("lines that were printed have been lost or changed");
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

void print_lines(std::uint64_t bytes, std::uint64_t count) {
  const std::string line = line_of(bytes);
  for (std::uint64_t i = 0; i < count; ++i) write_all(STDOUT_FILENO, line);
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

class local_output final : public output_path {
 public:
  std::string output_name() const override { return "local write"; }
  double seconds_of_lines(std::uint64_t bytes, std::uint64_t count) override {
    const std::string line = line_of(bytes);
    host_output().clear();
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < count; ++i) host_output().append(line);
    const double seconds = app::seconds_since(start);
    check_lines(bytes, count);
    return seconds;
  }
};

class captured_output final : public output_path {
 public:
  /// Throws ham::config_error if what the target prints cannot be captured.
  explicit captured_output(ham::node_t target) : target_(target) { capture(); }

  std::string output_name() const override {
    return "on_output over " + offload::get_node_descriptor(target_).transport();
  }
  double seconds_of_lines(std::uint64_t bytes, std::uint64_t count) override {
    host_output().clear();
    const auto start = std::chrono::steady_clock::now();
    offload::sync(target_, ham::fn<&print_lines>, bytes, count);
    capture();  // returns when all lines of that call have been given to the handler
    const double seconds = app::seconds_since(start);
    check_lines(bytes, count);
    return seconds;
  }

 private:
  void capture() const {
    offload::on_output(
        target_, [](ham::node_t, offload::output_stream, std::string_view line) { host_output().append_line(line); });
  }

  ham::node_t target_;
};

}  // namespace

paths make_local() { return {std::make_shared<local_path>(), std::make_shared<local_output>()}; }

paths make_ham(ham::node_t target) {
  paths result{std::make_shared<ham_path>(target), nullptr};
  try {
    result.output = std::make_shared<captured_output>(target);
  } catch (const ham::config_error&) {
    // A thread of this process, or a program that was started by others: it keeps its own output.
  }
  return result;
}

}  // namespace forwarded_calls
