// Exceptions from targets: an exception again, or a protocol_error.
// fuzz: -max_len=512
#include "ham/offload/exceptions.hpp"

#include <array>

#include "core/remote_exception.hpp"
#include "input.hpp"

using namespace ham;

namespace {

struct out_of_paper : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct jammed {
  int tray = 0;
  std::string page;
  HAM_FIELDS(tray, page)
};
const std::array registered{register_exception<out_of_paper>(), register_exception<jammed>()};

}  // namespace

HAM_FUZZ(from) {
  const auto bytes = from.rest();
  static_cast<void>(detail::describe_exception(bytes));
  std::exception_ptr thrown;
  try {
    thrown = detail::decode_exception(bytes, "f(int)", {});
  } catch (const protocol_error&) {
    return;
  }
  fuzz::require(thrown != nullptr, "no exception");
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& one) {
    fuzz::require(one.what() != nullptr, "no text");
    fuzz::require(std::strlen(one.what()) < 4096 + 8 * bytes.size(), "a text out of proportion");
    static_cast<void>(detail::encode_current_exception());
  } catch (...) {
    static_cast<void>(detail::encode_current_exception());
  }
}
