// Who formats, and what travels: text, numbers as arguments, or numbers by get.
#include "formatted_output/models.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "common/host_output.hpp"
#include "common/targets.hpp"
#include "formatted_output/records.hpp"

namespace formatted_output {
namespace {

namespace offload = ham::offload;
using clock = std::chrono::steady_clock;

/// Formats all lines; each time the buffer is full, and at the end, it goes to `write`, which gives the seconds of the
/// system call. The seconds of formatting and of the system calls.
template <class Write>
double print(std::span<const double> numbers, std::size_t buffer, Write write) {
  const std::size_t lines = numbers.size() / numbers_per_line;
  double seconds = 0.0;
  std::string text;
  text.reserve(buffer + 256);
  auto start = clock::now();
  for (std::size_t line = 0; line < lines; ++line) {
    append_lines(numbers, line, line + 1, text);
    if (text.size() < buffer && line + 1 < lines) continue;
    seconds += app::seconds_since(start) + write(text);
    text.clear();
    start = clock::now();
  }
  return seconds;
}

/// On the host, also for a target that has computed.
double print_here(std::span<const double> numbers, std::uint64_t buffer) {
  return print(numbers, buffer, [](const std::string& text) { return app::host_output::write(text); });
}

/// The program, wherever it runs. `output` gives the seconds of formatting and writing.
template <class Output>
app::breakdown run_program(const amount& of, Output output) {
  app::breakdown time;
  std::vector<double> numbers(of.lines * numbers_per_line);
  for (std::uint64_t step = 0; step < of.steps; ++step) {
    const auto start = clock::now();
    compute(step, numbers);
    time.computing += app::seconds_since(start);
    time.io += output(std::span<const double>(numbers));
  }
  return time;
}

app::breakdown native_program(const amount& of) {
  return run_program(
      of, [&](std::span<const double> numbers) { return print(numbers, of.buffer, &app::host_output::forward); });
}

app::breakdown callback_program(const amount& of) {
  return run_program(
      of, [&](std::span<const double> numbers) { return offload::sync(0, ham::fn<&print_here>, numbers, of.buffer); });
}

/// The kernel; its seconds.
double compute_kernel(std::uint64_t step, offload::buffer_ptr<double> numbers, std::uint64_t size) {
  const auto start = clock::now();
  compute(step, {numbers.get(), size});
  return app::seconds_since(start);
}

app::breakdown kernels_program(ham::node_t target, const amount& of) {
  app::breakdown time;
  const std::uint64_t size = of.lines * numbers_per_line;
  const offload::buffer<double> there(target, size);
  std::vector<double> numbers(size);
  for (std::uint64_t step = 0; step < of.steps; ++step) {
    time.computing += offload::sync(target, ham::fn<&compute_kernel>, step, there.ptr(), size);
    const auto start = clock::now();
    offload::get(there.ptr(), numbers.data(), size).get();
    time.transfer += app::seconds_since(start);
    time.io += print_here(numbers, of.buffer);
  }
  return time;
}

}  // namespace

app::breakdown run_model(app::model which, ham::node_t target, const amount& of) {
  const auto start = clock::now();
  app::breakdown time;
  switch (which) {
    case app::model::local:
      time = run_program(of, [&](std::span<const double> numbers) { return print_here(numbers, of.buffer); });
      break;
    case app::model::native: time = offload::sync(target, ham::fn<&native_program>, of); break;
    case app::model::callback: time = offload::sync(target, ham::fn<&callback_program>, of); break;
    case app::model::kernels: time = kernels_program(target, of); break;
  }
  time.total = app::seconds_since(start);
  return time;
}

}  // namespace formatted_output
