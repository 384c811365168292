#include "soak/problems.hpp"

#include <unistd.h>

#include <cstdio>

namespace soak {
namespace {

constexpr std::uint64_t max_told = 20;
std::atomic<std::uint64_t> count{0};

}  // namespace

void emit(const std::string& kind, const std::string& json) {
  const std::string line = "soak " + kind + " " + json + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char one : text) {
    if (one == '"' || one == '\\') result += '\\';
    const auto code = static_cast<unsigned char>(one);
    if (code < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
      result += escaped;
    } else {
      result += one;
    }
  }
  return result + "\"";
}

void report(const std::string& what) {
  if (count.fetch_add(1) < max_told) emit("problem", soak::quoted(what));
  over.store(true);
}

std::uint64_t problems() noexcept { return count.load(); }

}  // namespace soak
