// Reading and making of key files.
#include "job/key_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/refused_call.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw config_error("cannot use the key " + file + " (" + why +
                     "); make one with --ham-make-key=FILE and give all nodes of the job a copy that only their user "
                     "can read");
}

int digit(char character) noexcept {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

base::unique_fd open_key(const std::string& from) {
  if (from.starts_with("fd:")) {
    int number = -1;
    const char* const end = from.data() + from.size();
    const auto [stop, error] = std::from_chars(from.data() + 3, end, number);
    if (error != std::errc{} || stop != end || ::fcntl(number, F_GETFD) < 0)
      refuse(from, "no such descriptor was inherited");
    return base::unique_fd(number);
  }
  base::unique_fd file(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));  // a pipe would wait
  if (!file) refuse(from, std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) refuse(from, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse(from, "it is no ordinary file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) refuse(from, "it belongs to another user");
  if ((status.st_mode & 077) != 0) refuse(from, "others than its owner can read it: chmod 600");
  return file;
}

}  // namespace

transport::secret_key read_key(const std::string& from) {
  const base::unique_fd file = open_key(from);
  std::array<char, 256> text{};
  std::size_t size = 0;
  for (;;) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(from, std::strerror(errno));
    if (got == 0 || size == text.size()) break;
    size += static_cast<std::size_t>(got);
  }
  std::string_view digits(text.data(), size);
  while (!digits.empty() && (digits.back() == '\n' || digits.back() == '\r' || digits.back() == ' ')) {
    digits.remove_suffix(1);
  }
  transport::secret_key key;
  bool good = size < text.size() && digits.size() == 2 * key.size();  // a longer file may hold anything behind that
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    const int high = digit(digits[2 * i]);
    const int low = digit(digits[2 * i + 1]);
    good = high >= 0 && low >= 0;
    key[i] = static_cast<std::byte>(high << 4 | low);
  }
  ::explicit_bzero(text.data(), text.size());
  if (!good) refuse(from, "it does not hold 64 hexadecimal digits");
  return key;
}

transport::secret_key random_key() {
  transport::secret_key key;
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    throw config_error("the system gives no random numbers for a key" +
                       base::refused_call("getrandom", "try again later"));
  }
  return key;
}

void make_key_file(const std::string& path) {
  base::unique_fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) {
    throw config_error("cannot make the key file " + path + " (" + std::strerror(errno) +
                       "); choose a name that does not exist yet, in a folder that you can write to");
  }
  std::string text;
  text.reserve(2 * transport::secret_key::bytes + 1);  // so that it does not move
  for (const std::byte one : random_key()) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[static_cast<std::size_t>(one >> 4)];
    text += digits[static_cast<std::size_t>(one & std::byte{15})];
  }
  text += '\n';
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  const std::string why_not = std::strerror(errno);
  ::explicit_bzero(text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) {
    ::unlink(path.c_str());
    throw config_error("cannot write the key file " + path + " (" + why_not + ")");
  }
}

}  // namespace ham::detail
