// The key of one run: getrandom, memfd, and a file for machines that share a folder.
#include "job_key.hpp"

#include "problem.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ham::inline v1::run {

std::string make_job_key() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw problem(std::string("the system gives no random numbers for a key (") + std::strerror(errno) + ")");
  }
  constexpr const char* digits = "0123456789abcdef";
  std::string key;
  for (const unsigned char one : bytes) {
    key += digits[one >> 4];
    key += digits[one & 15];
  }
  return key;
}

descriptor key_in_memory(const std::string& key) {
  descriptor file(::memfd_create("ham-key", MFD_CLOEXEC));
  if (!file || ::pwrite(file.get(), key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    throw problem(std::string("cannot hold the key in memory (") + std::strerror(errno) + ")");
  }
  return file;
}

key_file::key_file(const std::string& folder, const std::string& key) : path_(folder + "/.ham-run-key.XXXXXX") {
  const auto refuse = [&folder] {
    throw problem("cannot write the key of the run to " + folder + " (" + std::strerror(errno) +
                  "); name a folder that all nodes share with --key-folder");
  };
  const descriptor file(::mkostemp(path_.data(), O_CLOEXEC));  // mode 0600
  if (!file) refuse();
  const std::string line = key + "\n";
  // Other machines see it when it is written and closed.
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) || ::fsync(file.get()) != 0) {
    const int error = errno;
    ::unlink(path_.c_str());
    errno = error;
    refuse();
  }
}

key_file::~key_file() { ::unlink(path_.c_str()); }

}  // namespace ham::run
