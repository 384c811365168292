// pwrite and pread, which need no lseek.
#include "forwarded_calls/file_calls.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace forwarded_calls {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// Calls `move(done)`, which gives what one system call has moved, until all is.
template <class Move>
void move_all(std::size_t size, const char* what, Move move) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t moved = move(done);
    if (moved < 0 && errno != EINTR) fail(what);
    if (moved == 0) throw std::runtime_error(std::string(what) + ": the file ends too early");
    if (moved > 0) done += static_cast<std::size_t>(moved);
  }
}

}  // namespace

void fill(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte{pattern(i)};
}

bool is_pattern(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != std::byte{pattern(i)}) return false;
  }
  return true;
}

file::file() {
  std::string name = "/tmp/ham-file-XXXXXX";
  descriptor_ = mkstemp(name.data());
  if (descriptor_ < 0) fail("/tmp");
  unlink(name.c_str());
}

file::~file() { close(descriptor_); }

void file::write(std::span<const std::byte> bytes) const {
  move_all(bytes.size(), "pwrite", [&](std::size_t done) {
    return pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
  });
}

void file::read(std::span<std::byte> bytes) const {
  move_all(bytes.size(), "pread", [&](std::size_t done) {
    return pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
  });
}

}  // namespace forwarded_calls
