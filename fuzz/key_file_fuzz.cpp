// Key files: 64 hexadecimal digits, or an error that does not show what is in the file.
// fuzz: -max_len=300
#include "job/key_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cctype>

#include "input.hpp"

using namespace ham;

HAM_FUZZ(from) {
  std::string text(from.text());
  const int file = ::memfd_create("key", MFD_CLOEXEC);
  if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  ::lseek(file, 0, SEEK_SET);
  try {
    const transport::secret_key key = detail::read_key("fd:" + std::to_string(file));
    std::string again;
    for (const std::byte one : key) {
      again += "0123456789abcdef"[std::to_integer<unsigned>(one) >> 4];
      again += "0123456789abcdef"[std::to_integer<unsigned>(one) & 15];
    }
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    fuzz::require(text.substr(0, 64) == again, "another key than the file's");
    fuzz::require(text.find_first_not_of("\r\n ", 64) == std::string::npos, "a key with something behind it");
  } catch (const config_error& problem) {
    const bool digits = text.size() >= 16 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    fuzz::require(!digits || std::string(problem.what()).find(text) == std::string::npos, "a key told");
  }
}
