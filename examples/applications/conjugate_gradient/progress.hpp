// Shows how an iteration gets on: a bar on a terminal, a few lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cg {

/// The line that a terminal of `columns` columns shows: a bar whose length is the part of the way from 1 to `goal` that
/// `residual` has come, on a logarithmic scale; as much text beside it as there is room for.
std::string progress_line(std::int64_t iteration, double residual, double goal, int columns);

/// To be used from one thread; writes to standard output.
class progress {
 public:
  /// The residual starts at 1 and is wanted below `goal`.
  explicit progress(double goal);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void update(std::int64_t iteration, double residual);

  /// Removes the bar from the terminal, so that what follows starts at the line's beginning. Done by the destructor
  /// too.
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
