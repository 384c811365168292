// Lines that several targets print at the same time, in pieces and by all means, arrive unbroken.
// link: ham::ham
// timeout: 120
#include "support.hpp"

#include <iostream>

using namespace ham;
using namespace ham::test;

namespace {

constexpr int lines = 200;
constexpr std::size_t long_line = 20000;

/// Every line: "<letter of the node> <kind> <number> <many times the letter>.", printed in many pieces.
std::string expected(char letter, const char* kind, int number, std::size_t length) {
  return std::string(1, letter) + " " + kind + " " + std::to_string(number) + " " + std::string(length, letter) + ".";
}

void print_lines() {
  const char letter = static_cast<char>('A' + offload::this_node());
  for (int i = 0; i < lines; ++i) {
    std::printf("%c printf %d ", letter, i);
    for (int piece = 0; piece < 8; ++piece) std::printf("%c%c%c%c", letter, letter, letter, letter);
    std::printf(".\n");
    std::cout << letter << " cout " << i << ' ';
    for (int piece = 0; piece < 32; ++piece) std::cout << letter;
    std::cout << '.' << std::endl;
    std::cerr << letter << " cerr " << i << ' ' << std::string(32, letter) << ".\n";
    std::fprintf(stderr, "%c stderr %d ", letter, i);
    std::fprintf(stderr, "%s.\n", std::string(32, letter).c_str());
    std::clog << letter << " clog " << i << ' ' << std::string(32, letter) << '.' << '\n';
    if (i % 10 == 0) {
      std::cout << letter << " long " << i << ' ';
      for (std::size_t n = 0; n < long_line; n += 1000) std::cout << std::string(1000, letter);
      std::cout << ".\n";
    }
  }
  std::printf("%c tail 0 %s.", letter, std::string(32, letter).c_str());  // no end of line: at the end of the target
}

int four_printers() {
  runtime rt(nodes("shm:4"));
  std::vector<offload::future<void>> all;
  for (node_t node = 1; node <= 4; ++node) all.push_back(offload::async(node, fn<&print_lines>));
  for (auto& one : all) one.get();
  return 0;
}

int in_order_with_the_host() {
  runtime rt(nodes("shm:1"));
  for (int i = 0; i < 50; ++i) {
    std::printf("host %d\n", i);
    std::fflush(stdout);
    offload::sync(
        1, [](int number) { std::printf("target %d\n", number); }, i);
  }
  return 0;
}

int dies_after_a_line() {
  runtime rt(nodes("shm:1"));
  try {
    offload::sync(1, [] {
      std::printf("last words\n");
      std::abort();
    });
  } catch (const node_failure&) {
    return 0;
  }
  return 1;
}

const scenario scenarios[] = {{"four_printers", four_printers},
                              {"in_order_with_the_host", in_order_with_the_host},
                              {"dies_after_a_line", dies_after_a_line}};

TEST(output, unbroken_lines_of_four_targets) {
  host_process host("four_printers");
  const std::string text = host.rest();
  ASSERT_EQ(host.wait(), 0);
  std::multiset<std::string> got;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    got.insert(text.substr(at, end - at));
    at = end + 1;
  }
  std::multiset<std::string> wanted;
  for (char letter = 'B'; letter <= 'E'; ++letter) {
    for (int i = 0; i < lines; ++i) {
      for (const char* kind : {"printf", "cout", "cerr", "stderr", "clog"}) {
        wanted.insert(expected(letter, kind, i, 32));
      }
      if (i % 10 == 0) wanted.insert(expected(letter, "long", i, long_line));
    }
  }
  // What has no end of line comes at the end of its process; those of several targets may share a line.
  std::string tails;
  for (auto at = got.begin(); at != got.end();) {
    if (at->find(" tail ") == std::string::npos) {
      ++at;
      continue;
    }
    tails += *at;
    at = got.erase(at);
  }
  EXPECT_EQ(got.size(), wanted.size());
  std::size_t broken = 0;
  for (const std::string& one : got) {
    if (wanted.count(one) == 1) continue;
    if (++broken < 5) ADD_FAILURE() << "a mixed line: " << one.substr(0, 200);
  }
  EXPECT_EQ(broken, 0U);
  for (char letter = 'B'; letter <= 'E'; ++letter) {
    EXPECT_NE(tails.find(expected(letter, "tail", 0, 32)), std::string::npos) << tails;
  }
}

TEST(output, in_order_with_the_host) {
  host_process host("in_order_with_the_host");
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(host.line(), "host " + std::to_string(i));
    ASSERT_EQ(host.line(), "target " + std::to_string(i));
  }
  EXPECT_EQ(host.wait(), 0);
}

TEST(output, last_words_arrive) {
  host_process host("dies_after_a_line");
  EXPECT_EQ(host.line(), "last words");
  EXPECT_EQ(host.wait(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
