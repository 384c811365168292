// register_exception: an exception type of the program's own that travels back as itself.
// expect: caught too_hot: 99 degrees in tank 7
#include <ham/offload.hpp>

#include <exception>
#include <iostream>
#include <string>

using namespace ham;

class too_hot : public std::exception {
 public:
  too_hot() = default;
  too_hot(int degrees, int tank)
      : degrees_(degrees), text_(std::to_string(degrees) + " degrees in tank " + std::to_string(tank)) {}
  int degrees() const { return degrees_; }
  const char* what() const noexcept override { return text_.c_str(); }

  HAM_FIELDS(degrees_, text_)

 private:
  int degrees_ = 0;
  std::string text_;
};

// Before the first call, in every node: static initialisation sees to both.
const bool registered = register_exception<too_hot>();

void heat(int degrees) { throw too_hot(degrees, 7); }

int main() {
  try {
    offload::sync(1, fn<&heat>, 99);
  } catch (const too_hot& error) {
    std::cout << "caught too_hot: " << error.what() << '\n';
    return registered && error.degrees() == 99 ? 0 : 1;
  }
  return 1;
}
