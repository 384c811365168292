// pwrite and pread, which need no lseek; write and writev for what is appended.
#include "forwarded_calls/file_calls.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace forwarded_calls {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

int open_nameless(int flags) {
  std::string name = "/tmp/ham-file-XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC | flags);
  if (descriptor < 0) fail("/tmp");
  unlink(name.c_str());
  return descriptor;
}

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

file::file() : descriptor_(open_nameless(0)) {}
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

std::string line_of(std::uint64_t bytes) {
  std::string line(bytes, '\n');
  for (std::size_t i = 0; i + 1 < line.size(); ++i) line[i] = static_cast<char>('a' + i % 26);
  return line;
}

void write_all(int descriptor, std::string_view text) {
  move_all(text.size(), "write",
           [&](std::size_t done) { return ::write(descriptor, text.data() + done, text.size() - done); });
}

output_file::output_file() : descriptor_(open_nameless(O_APPEND)) {}
output_file::~output_file() { close(descriptor_); }

void output_file::clear() const {
  if (ftruncate(descriptor_, 0) != 0) fail("ftruncate");
}

void output_file::append(std::string_view text) const { write_all(descriptor_, text); }

void output_file::append_line(std::string_view line) const {
  char newline = '\n';
  const std::array<iovec, 2> parts{{{const_cast<char*>(line.data()), line.size()}, {&newline, 1}}};
  const ssize_t written = writev(descriptor_, parts.data(), parts.size());
  if (written < 0 && errno != EINTR) fail("writev");
  const auto done = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  if (done > line.size()) return;
  append(line.substr(done));
  append({&newline, 1});
}

bool output_file::holds(std::uint64_t bytes, std::uint64_t count) const {
  struct stat found {};
  if (fstat(descriptor_, &found) != 0) fail("fstat");
  if (static_cast<std::uint64_t>(found.st_size) != bytes * count) return false;
  std::string all(bytes * count, '\0');
  move_all(all.size(), "pread", [&](std::size_t done) {
    return pread(descriptor_, all.data() + done, all.size() - done, static_cast<off_t>(done));
  });
  const std::string line = line_of(bytes);
  for (std::size_t at = 0; at < all.size(); at += line.size()) {
    if (all.compare(at, line.size(), line) != 0) return false;
  }
  return true;
}

}  // namespace forwarded_calls
