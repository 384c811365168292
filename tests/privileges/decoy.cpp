// A library in the place of a module: it says that it was loaded.
#include <unistd.h>

namespace {

[[maybe_unused]] const auto said = ::write(STDERR_FILENO, "DECOY LOADED\n", 13);

}  // namespace
