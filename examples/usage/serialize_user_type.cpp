// serialize: a class with a member in the style of cereal crosses as its members.
// expect: the target moved 'probe' to .1, 2. and logged: start moved
#include <ham/offload.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace ham;

class robot {
 public:
  robot() = default;  // the receiver makes an object and reads the members into it
  explicit robot(std::string name) : name_(std::move(name)), log_{"start"} {}

  void move(double x, double y) {
    x_ += x;
    y_ += y;
    log_.emplace_back("moved");
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name_, x_, y_, log_);
  }

  friend std::ostream& operator<<(std::ostream& out, const robot& r) {
    out << '\'' << r.name_ << "' to (" << r.x_ << ", " << r.y_ << ") and logged:";
    for (const auto& line : r.log_) out << ' ' << line;
    return out;
  }

 private:
  std::string name_;
  double x_ = 0.0;
  double y_ = 0.0;
  std::vector<std::string> log_;
};

robot move_on_target(robot r, double x, double y) {
  r.move(x, y);
  return r;
}

int main() {
  const robot here("probe");
  const robot there = offload::sync(1, fn<&move_on_target>, here, 1.0, 2.0);
  std::cout << "the target moved " << there << '\n';
}
