// A program that is compiled with -fno-exceptions: attempt, has_value and error in place of try and catch.
// expect: 1 [+] 2 is 3
// expect: node 9: no such node
// expect: past the end: buffer
// expect: the target is lost: node
#include <ham/offload.hpp>

#include <cstdio>
#include <cstdlib>

#ifdef __cpp_exceptions
#error this example is compiled with -fno-exceptions
#endif

using namespace ham;

int add(int x, int y) { return x + y; }
void crash() { std::abort(); }

int main() {
  auto sum = offload::attempt([] { return offload::async(1, fn<&add>, 1, 2); });
  if (!sum.has_value()) return 1;
  std::printf("1 + 2 is %d\n", sum.get());

  auto nowhere = offload::attempt([] { return offload::async(9, fn<&add>, 1, 2); });
  std::printf("node 9: %s\n", to_string(describe_error(nowhere.error()).reason));

  auto memory = offload::attempt([] { return offload::allocate<int>(1, 4); });
  if (!memory.has_value()) return 1;
  const auto room = memory.get();
  const int data[8]{};
  auto stored = offload::attempt([&] { return offload::put(data, room, 8); });
  std::printf("past the end: %s\n", to_string(describe_error(stored.error()).kind));
  auto freed = offload::attempt([&] { offload::free(room); });
  if (!freed.has_value()) return 1;

  auto lost = offload::attempt([] { return offload::async(1, fn<&crash>); });
  std::printf("the target is lost: %s\n", to_string(describe_error(lost.error()).kind));
}
