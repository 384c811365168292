// Signals that ham-run is sent, as a descriptor to wait at.
#pragma once

#include "descriptor.hpp"

#include <optional>
#include <vector>

namespace ham::inline v1::run {

struct signal_news {
  int number;
  bool from_terminal;  ///< the host, in the same foreground group, got it as well
};

/// Blocks the signals that it hears, for the whole process.
class signals {
 public:
  signals();
  [[nodiscard]] int fd() const { return from_.get(); }
  /// The next one that came, SIGCHLD among them.
  [[nodiscard]] std::optional<signal_news> next();

 private:
  descriptor from_;
};

/// Thrown when ham-run is told to end before the host runs.
struct interrupted {
  int signal;
};

}  // namespace ham::run
