// Both ends of a connection's files, and what people are told when one fails.
#include "file_endpoint.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ham::inline v1::transport::file {
namespace {

/// Of this process, in bytes.
std::uint64_t max_file_bytes() noexcept {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : INT64_MAX;
}

}  // namespace

file_endpoint::file_endpoint(node_t peer, file_pair files)
    : polled_endpoint(peer),
      files_(std::move(files)),
      writer_(files_.outgoing.get(), max_file_bytes()),
      reader_(files_.incoming.get()) {}

std::byte* file_endpoint::reserve(std::size_t size) noexcept {
  return state() == endpoint_state::open ? writer_.reserve(size) : nullptr;
}

void file_endpoint::commit(const frame_head& head) noexcept {
  if (state() != endpoint_state::open) return;
  writer_.commit(head);
  sent_ = writer_.sent();
  set_active();
}

bool file_endpoint::poll(frame& out) noexcept { return state() == endpoint_state::open && reader_.poll(out); }

std::string file_endpoint::failure() const {
  if (const int error = writer_.error(); error != 0) {
    const char* const advice = error == EFBIG
                                   ? "raise the limit on the size of files (ulimit -f), or name a folder of "
                                     "a file system with larger files, as in HAM_NODES=file/dev/shm"
                                   : "free space there, or name another folder, as in HAM_NODES=file/dev/shm";
    return std::string("a frame cannot be written to its file (") + std::strerror(error) + "); " + advice;
  }
  return std::string("the file of its frames cannot be read (") + std::strerror(reader_.error()) +
         "); name a folder of this machine's own file systems, as in HAM_NODES=file/dev/shm";
}

}  // namespace ham::transport::file
