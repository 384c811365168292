// Five numbers, the last one a checksum, and the state.
#include "shallow_water/checkpoint.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace shallow_water {
namespace {

/// Read on a machine of another byte order it is another number.
constexpr std::uint64_t format = 0x48414D5357453031;  // HAMSWE01

using head = std::array<std::uint64_t, 5>;  // format, columns, rows, step, checksum

std::uint64_t checksum(const head& of, const std::vector<double>& state) {
  std::uint64_t sum = 0xCBF29CE484222325ull;
  const auto add = [&sum](std::uint64_t word) {
    sum = (sum ^ word) * 0x100000001B3ull;
    sum ^= sum >> 29;
  };
  for (std::size_t i = 0; i + 1 < of.size(); ++i) add(of[i]);
  for (const double number : state) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    add(bits);
  }
  return sum;
}

[[noreturn]] void fail(const std::string& file, const std::string& why) { throw file_error(file + ": " + why); }
[[noreturn]] void fail_by_errno(const std::string& file, const char* what) {
  fail(file, std::string(what) + ": " + std::generic_category().message(errno));
}

}  // namespace

void write_checkpoint(const std::string& file, const checkpoint& what) {
  head numbers{format, what.of.columns, what.of.rows, what.step, 0};
  numbers.back() = checksum(numbers, what.state);
  const std::string beside = file + ".new";
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    if (!out) fail_by_errno(file, "cannot be written");
    out.write(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
    out.write(reinterpret_cast<const char*>(what.state.data()),
              static_cast<std::streamsize>(what.state.size() * sizeof(double)));
    out.close();
    if (!out) fail_by_errno(beside, "cannot be written");
  }
  if (std::rename(beside.c_str(), file.c_str()) != 0) fail_by_errno(file, "cannot be replaced");
}

checkpoint read_checkpoint(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail_by_errno(file, "cannot be opened");
  head numbers{};
  in.read(reinterpret_cast<char*>(numbers.data()), sizeof numbers);
  if (!in || numbers[0] != format) fail(file, "is no checkpoint of shallow_water, or of another byte order");
  checkpoint result{{numbers[1], numbers[2]}, numbers[3], {}};
  const bool has_size =
      result.of.columns > 0 && result.of.rows > 0 && result.of.columns <= max_side && result.of.rows <= max_side;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  const std::uint64_t expected = has_size ? sizeof numbers + result.of.size() * sizeof(double) : 0;
  if (error || bytes != expected) {
    fail(file, "is damaged: it has " + std::to_string(bytes) + " bytes, and its head says " + std::to_string(expected) +
                   "; start from another checkpoint");
  }
  result.state.resize(result.of.size());
  in.read(reinterpret_cast<char*>(result.state.data()),
          static_cast<std::streamsize>(result.state.size() * sizeof(double)));
  if (!in) fail_by_errno(file, "cannot be read");
  if (checksum(numbers, result.state) != numbers.back()) {
    fail(file, "is damaged: its checksum is wrong; start from another checkpoint");
  }
  return result;
}

}  // namespace shallow_water
