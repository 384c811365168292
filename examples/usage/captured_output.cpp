// on_output: what a target writes, by whatever means, is given to the host line by line.
// expect: ^\[1\] hello from far away$
// expect: ^\[1 err\] and a word on standard error$
// expect: ^\[1\] of a program that it starts$
// expect: ^\[1\] last words: cut off$
#include <ham/offload.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

using namespace ham;

void shell(const char* command) {
  if (std::system(command) != 0) throw error("no shell");
}
void talk() {
  std::cout << "hello from far away" << std::endl;
  std::cerr << "and a word on standard error\n";
  shell("echo of a program that it starts");
}
void die() {
  shell("printf 'last words'");  // without a newline
  std::raise(SIGKILL);
}

/// Runs on a thread of the library, for one line at a time.
void show(node_t node, offload::output_stream stream, offload::output_line line) {
  const bool cut = line.end != offload::line_end::newline;
  std::cout << '[' << node << (stream == offload::output_stream::err ? " err] " : "] ") << line.text
            << (cut ? ": cut off" : "") << std::endl;
}

int main() {
  offload::on_output(1, show);
  offload::sync(1, fn<&talk>);
  // The lines of calls that are over have arrived when it is called again, with the same handler or another one.
  offload::on_output(1, show);
  try {
    offload::sync(1, fn<&die>);
  } catch (const node_failure&) {  // nothing that it has written is lost
  }
  // The handler is called until the runtime has ended, after main: it refers to nothing of main.
}
