// O_TMPFILE, or a name that is gone at once.
#include "unnamed_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "frame_format.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::file {
namespace {

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& what, const std::string& advice) {
  const std::string why = std::strerror(errno);
  throw config_error("cannot " + what + " in the folder \"" + folder + "\" (" + why + "); " + advice);
}

base::unique_fd open_in(const std::string& folder) {
  base::unique_fd made(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (made || (errno != EOPNOTSUPP && errno != EISDIR)) return made;
  std::string name = folder + "/ham-frames-XXXXXX";
  made.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (made) ::unlink(name.c_str());
  return made;
}

}  // namespace

base::unique_fd make_unnamed_file(const std::string& folder) {
  base::unique_fd made = open_in(folder);
  if (!made) {
    refuse_folder(folder, "make a file for frames",
                  "name a folder that this user may write to, as in HAM_NODES=file/dev/shm");
  }
  // Room for the receiver's word, which must not meet a full file system later.
  static constexpr std::array<std::byte, frames_begin> zeros{};
  if (::pwrite(made.get(), zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size())) {
    refuse_folder(folder, "write to a file for frames",
                  "free space there, or name another folder, as in HAM_NODES=file/dev/shm");
  }
  if (::fallocate(made.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, frames_begin, frames_begin) != 0) {
    refuse_folder(folder, "give blocks of a file back, which would grow with every frame,",
                  "name a folder of a file system that can (tmpfs, ext4, xfs, btrfs), as in HAM_NODES=file/dev/shm");
  }
  return made;
}

}  // namespace ham::transport::file
