// Shows how an iteration gets on: one line that is rewritten on a terminal, a few lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>

namespace cg {

/// To be used from one thread; writes to standard output.
class progress {
 public:
  /// The residual starts at 1 and is wanted below `goal`.
  explicit progress(double goal);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void update(std::int64_t iteration, double residual);

  /// Removes the line from the terminal, so that what follows starts at its beginning. Done by the destructor too.
  void finish();

 private:
  void draw(std::int64_t iteration, double residual);

  double goal_;
  bool on_terminal_;
  bool drawn_ = false;
  double next_report_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace cg
