// The lists of machines that ham-run reads: --hostfile and --hosts.
// fuzz: -max_len=512 -dict=DIR/hostfile.dict
#include "hostfile.hpp"

#include <cctype>
#include <sstream>

#include "input.hpp"
#include "problem.hpp"

using namespace ham;

namespace {

void check(const std::vector<run::machine>& all) {
  fuzz::require(!all.empty() && all.size() <= run::max_targets, "a number of machines that cannot be");
  for (const run::machine& one : all) {
    fuzz::require(one.count >= 1 && one.count <= run::max_targets, "a number of targets that cannot be");
    // It becomes a word of ssh's command line.
    fuzz::require(!one.name.empty() && one.name.front() != '-', "a name that is an option");
    for (const char c : one.name) {
      const auto byte = static_cast<unsigned char>(c);
      fuzz::require(byte >= 0x80 || std::isgraph(byte) != 0, "a name with blanks");
    }
  }
}

}  // namespace

HAM_FUZZ(from) {
  const std::string text(from.text());
  std::istringstream file(text);
  try {
    check(run::parse_hostfile(file, "file"));
  } catch (const run::problem&) {
    static_cast<void>(file);
  }
  try {
    check(run::parse_machines(text));
  } catch (const run::problem&) {
    return;
  }
}
