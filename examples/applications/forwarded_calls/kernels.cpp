// Kernels of the VEO helper: they make system calls on the host by VHcall.
#include <libvhcall.h>

#include <chrono>
#include <string>
#include <vector>

#include "forwarded_calls/file_calls.hpp"

namespace {

std::int64_t host_write = -1;
std::int64_t host_read = -1;
std::int64_t host_print = -1;
std::int64_t host_clear_output = -1;
std::int64_t host_check_output = -1;

std::int64_t since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

extern "C" {

/// 0, or -1.
std::int64_t install(const char* library) {
  const vhcall_handle host = vhcall_install(library);
  if (host == VHCALL_HANDLE_INVALID) return -1;
  bool all = true;
  const auto find = [&](std::int64_t& function, const char* name) {
    function = vhcall_find(host, name);
    all = all && function >= 0;
  };
  find(host_write, "host_write");
  find(host_read, "host_read");
  find(host_print, "host_print");
  find(host_clear_output, "host_clear_output");
  find(host_check_output, "host_check_output");
  return all ? 0 : -1;
}

/// Nanoseconds of `count` calls, or -1.
std::int64_t forward_writes(std::uint64_t bytes, std::uint64_t count) {
  std::vector<std::byte> data(bytes);
  forwarded_calls::fill(data);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (vhcall_invoke(host_write, data.data(), bytes, nullptr, 0) != 0) return -1;
  }
  return since(start);
}

std::int64_t forward_reads(std::uint64_t bytes, std::uint64_t count) {
  std::vector<std::byte> data(bytes);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (vhcall_invoke(host_read, nullptr, 0, data.data(), bytes) != 0) return -1;
  }
  const std::int64_t nanoseconds = since(start);
  return forwarded_calls::is_pattern(data) ? nanoseconds : -1;
}

std::int64_t forward_lines(std::uint64_t bytes, std::uint64_t count) {
  const std::string line = forwarded_calls::line_of(bytes);
  if (vhcall_invoke(host_clear_output, nullptr, 0, nullptr, 0) != 0) return -1;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (vhcall_invoke(host_print, line.data(), bytes, nullptr, 0) != 0) return -1;
  }
  const std::int64_t nanoseconds = since(start);
  const std::uint64_t numbers[2] = {bytes, count};
  return vhcall_invoke(host_check_output, numbers, sizeof numbers, nullptr, 0) == 0 ? nanoseconds : -1;
}

std::int64_t file_is_right(std::uint64_t bytes, std::uint64_t) {
  std::vector<std::byte> data(bytes);
  return vhcall_invoke(host_read, nullptr, 0, data.data(), bytes) == 0 && forwarded_calls::is_pattern(data) ? 1 : 0;
}

std::int64_t clear_file(std::uint64_t bytes, std::uint64_t) {
  const std::vector<std::byte> zeros(bytes);
  return vhcall_invoke(host_write, zeros.data(), bytes, nullptr, 0);
}

}  // extern "C"
