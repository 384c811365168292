// A process without one of its standard descriptors.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace ham::inline v1::test {

/// While it lives, a standard descriptor is closed.
class closed_descriptor {
 public:
  explicit closed_descriptor(int number) : number_(number), saved_(::fcntl(number, F_DUPFD_CLOEXEC, 10)) {
    ::close(number);
  }
  ~closed_descriptor() {
    ::dup2(saved_, number_);
    ::close(saved_);
  }
  closed_descriptor(const closed_descriptor&) = delete;
  closed_descriptor& operator=(const closed_descriptor&) = delete;

 private:
  int number_;
  int saved_;
};

}  // namespace ham::test
