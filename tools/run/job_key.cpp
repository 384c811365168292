// The key of one run: getrandom and memfd.
#include "job_key.hpp"

#include "problem.hpp"

#include <sys/mman.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ham::run {

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

}  // namespace ham::run
