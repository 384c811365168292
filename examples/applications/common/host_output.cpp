// One file, which is the host's.
#include "common/host_output.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <ham/offload.hpp>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "common/program.hpp"

namespace app::host_output {
namespace {

int descriptor = -1;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

int temporary_file() {
  std::string name = "/tmp/ham-output-XXXXXX";
  const int made = mkstemp(name.data());
  if (made >= 0) unlink(name.c_str());
  return made;
}

}  // namespace

void open(const std::string& file) {
  descriptor = file.empty() ? temporary_file() : ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw bad_input((file.empty() ? "/tmp" : file) + ": cannot be written: " + std::generic_category().message(errno));
  }
}

void reset() {
  if (ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0) fail("ftruncate");
}

std::string content() {
  std::string all(static_cast<std::size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  if (pread(descriptor, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) fail("pread");
  return all;
}

double write(std::string_view text) {
  const auto start = std::chrono::steady_clock::now();
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) fail("write");
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double write_text(const std::string& text) { return write(text); }

double forward(const std::string& text) { return ham::offload::sync(0, ham::fn<&write_text>, text); }

}  // namespace app::host_output
