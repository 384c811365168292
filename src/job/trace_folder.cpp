#include "job/trace_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/numbers.hpp"
#include "ham/error.hpp"
#include "runtime/tracing.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::string_view part_prefix = "node-";

[[noreturn]] void refuse_folder(const std::string& path, const std::string& why) {
  throw config_error("cannot use " + path + " for the parts of a trace (" + why +
                     "); choose another file by HAM_TRACE");
}

}  // namespace

bool is_trace_part(std::string_view file_name) noexcept {
  return file_name.starts_with(part_prefix) &&
         base::parse_integer(file_name.substr(part_prefix.size()), 0, INT32_MAX).has_value();
}

trace_folder::trace_folder(std::string path) : path_(std::move(path)) {
  const bool is_new = ::mkdir(path_.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) refuse_folder(path_, std::strerror(errno));
  folder_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_) {
    const bool is_other = errno == ELOOP || errno == ENOTDIR;
    refuse_folder(path_, is_other ? "there is something of that name, or a link, and no folder" : std::strerror(errno));
  }
  expect_own();
  if (is_new) return;
  expect_unused();
  remove_parts();
}

void trace_folder::expect_own() const {
  struct stat is {};
  if (::fstat(folder_.get(), &is) != 0) refuse_folder(path_, std::strerror(errno));
  if (is.st_uid != ::geteuid()) refuse_folder(path_, "it is another user's, who could change the trace");
  if ((is.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    refuse_folder(path_, "others may write there, and could change the trace");
}

void trace_folder::expect_unused() const {
  const std::string name = file_of_part(path_, 0).substr(path_.size() + 1);
  const base::unique_fd host(::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (host && ::flock(host.get(), LOCK_EX | LOCK_NB) != 0) refuse_folder(path_, "another job uses it");
}

void trace_folder::remove_parts() noexcept {
  base::unique_fd again(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const entries = again ? ::fdopendir(again.get()) : nullptr;
  if (entries == nullptr) return;
  static_cast<void>(again.release());
  while (const dirent* const one = ::readdir(entries))
    if (is_trace_part(one->d_name)) ::unlinkat(folder_.get(), one->d_name, 0);
  ::closedir(entries);
}

void trace_folder::remove() noexcept {
  remove_parts();
  ::rmdir(path_.c_str());
}

}  // namespace ham::detail
