// ham-info: nodes and transports available here, why one is not, limits, versions; the handlers of a given binary.
// link: ham::ham
#include "checks.hpp"
#include "handler_diff.hpp"
#include "handler_listing.hpp"
#include "overview.hpp"

#include <ham/offload/detail/standard_descriptors.hpp>

#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace ham::info;

constexpr const char* usage =
    "usage: ham-info [--json]                          nodes, transports, limits, versions of this machine\n"
    "       ham-info [--json] --check                  tries what may stand in the way here, and says what to do;\n"
    "                                                  ends with 0 if there is no problem, else 1\n"
    "       ham-info [--json] --handlers BINARY        the handlers of a HAM application\n"
    "       ham-info [--json] --diff BINARY BINARY     which functions two applications can call of each other;\n"
    "                                                  ends with 0 if all, 1 if not, 2 if it could not be found out\n"
    "                                                  nothing of them runs but the listing of their functions\n"
    "       --runner \"PROGRAM ARGUMENTS\"               run the binaries under this program; without it, those of\n"
    "                                                  another instruction set run under qemu-user\n"
    "       --emulator-a, --emulator-b \"...\"           the same for the first, or the second, binary of --diff\n"
    "       ham-info --help\n";

constexpr int trouble = 2;

enum class task { overview, check, handlers, diff, help };

struct command_line {
  task what = task::overview;
  bool json = false;
  std::vector<std::string> binaries;
  std::vector<std::string> runners[2];  // for the first and the second binary
};

class argument_reader {
 public:
  argument_reader(int argc, char** argv) : argc_(argc), argv_(argv) {}

  [[nodiscard]] bool done() const noexcept { return next_ >= argc_; }

  [[nodiscard]] std::string take(const char* what) {
    if (done()) throw std::invalid_argument(std::string(what) + " is missing");
    return argv_[next_++];
  }

 private:
  int argc_;
  char** argv_;
  int next_ = 1;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// "--name=value" counts as "--name value".
void read_option(argument_reader& rest, command_line& into) {
  const std::string argument = rest.take("an argument");
  const std::size_t sign = argument.find('=');
  const std::string name = argument.substr(0, sign);
  const auto value = [&](const char* what) {
    return sign == std::string::npos ? rest.take(what) : argument.substr(sign + 1);
  };
  if (argument == "--json") {
    into.json = true;
  } else if (argument == "--help" || argument == "-h") {
    into.what = task::help;
  } else if (argument == "--check") {
    into.what = task::check;
  } else if (name == "--handlers") {
    into.what = task::handlers;
    into.binaries = {value("the binary of --handlers")};
  } else if (name == "--diff") {
    into.what = task::diff;
    into.binaries = {value("the first binary of --diff")};
    into.binaries.push_back(rest.take("the second binary of --diff"));
  } else if (name == "--runner") {
    into.runners[0] = into.runners[1] = words_of(value("the program of --runner"));
  } else if (name == "--emulator-a") {
    into.runners[0] = words_of(value("the program of --emulator-a"));
  } else if (name == "--emulator-b") {
    into.runners[1] = words_of(value("the program of --emulator-b"));
  } else {
    throw std::invalid_argument("unknown argument " + argument);
  }
}

listing_request request_of(const command_line& line, std::size_t which) {
  listing_request request;
  request.binary = line.binaries[which];
  request.runner = line.runners[which];
  return request;
}

described_binary describe(const command_line& line, std::size_t which) {
  return {line.binaries[which], read_manifest(request_of(line, which))};
}

int run(const command_line& line) {
  switch (line.what) {
    case task::help: std::cout << usage; return 0;
    case task::overview: {
      const overview found = look_around();
      line.json ? print_json(std::cout, found) : print(std::cout, found);
      return 0;
    }
    case task::check: {
      const std::vector<check_result> found = check_machine();
      (line.json ? print_checks_json : print_checks)(std::cout, found);
      return all_well(found) ? 0 : 1;
    }
    case task::handlers: {
      const auto handlers = list_handlers(request_of(line, 0));
      line.json ? print_handlers_json(std::cout, line.binaries[0], handlers) : print_handlers(std::cout, handlers);
      return 0;
    }
    case task::diff: {
      const handler_diff found = compare(describe(line, 0), describe(line, 1));
      (line.json ? print_diff_json : print_diff)(std::cout, found);
      return found.same() ? 0 : 1;
    }
  }
  return trouble;
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  command_line line;
  if (argc == 2 && std::string_view(argv[1]).starts_with("--ham-")) {
    const ham::runtime lists_and_ends(argc, argv);
    return 0;
  }
  try {
    argument_reader rest(argc, argv);
    while (!rest.done()) read_option(rest, line);
  } catch (const std::invalid_argument& problem) {
    std::cerr << "ham-info: " << problem.what() << '\n' << usage;
    return trouble;
  }
  try {
    const int code = run(line);
    if (std::cout.flush()) return code;
    std::cerr << "ham-info: cannot write the output (" << std::strerror(errno) << ")\n";
    return trouble;
  } catch (const std::exception& problem) {
    std::cerr << "ham-info: " << problem.what() << '\n';
    return trouble;
  }
}
