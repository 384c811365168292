// The kernel's word, and owners of files.
#include "base/privileges.hpp"

#include <sys/auxv.h>
#include <sys/stat.h>

#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

bool belongs_to_root_alone(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

bool privileged() noexcept { return ::getauxval(AT_SECURE) != 0; }

void refuse_if_privileged(const std::string& what) {
  if (!privileged()) return;
  throw config_error(
      what +
      ", but this program has privileges that its caller lacks (setuid, setgid or file capabilities) and takes "
      "no names of code, programs, keys or machines from its caller; unset it, or start the program without "
      "privileges");
}

bool only_root_can_replace(const std::string& path) {
  if (path.empty() || path.front() != '/' || !belongs_to_root_alone("/")) return false;
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (!belongs_to_root_alone(path.substr(0, slash))) return false;
    if (slash == std::string::npos) return true;
  }
}

}  // namespace ham::base
