// The peer of the conformance suite as a process: this program, started again as a target of any transport.
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "compose/transports.hpp"
#include "conformance/subject.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

/// What HAM_TARGET=NAME:TEXT says; nullptr: this process was not started as a target.
std::unique_ptr<target_side> side_of_this_process() {
  const char* const set = std::getenv("HAM_TARGET");
  if (set == nullptr) return nullptr;
  const std::string_view text = set;
  const std::size_t colon = text.find(':');
  const factory* const by = colon == text.npos ? nullptr : detail::find_transport(text.substr(0, colon));
  return by == nullptr || by->as_starting() == nullptr ? nullptr
                                                       : by->as_starting()->make_target(text.substr(colon + 1));
}

/// A process that was started as a target obeys and ends before any test begins.
const bool is_no_target = [] {
  const std::unique_ptr<target_side> side = side_of_this_process();
  if (side == nullptr) return true;
  const std::unique_ptr<base::heap> memory = side->take_memory();
  recorder news;
  {
    const std::unique_ptr<transport> at = side->open(news);
    side->join();
    obey(*at, *memory, [&] { return !news.lost(side->host()).empty(); });
  }
  ::_exit(0);
}();

}  // namespace
}  // namespace ham::transport::conformance
