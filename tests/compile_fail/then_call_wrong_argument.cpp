// expect: ham: argument 2 cannot be converted to the parameter of this function
// lines: 15
// The function would be called with what it cannot take, when the bytes are there.
#include <ham/offload.hpp>

#include <string>

int solve(int, const std::string&);

int main() {
  const int value = 1;
  const ham::offload::buffer<int> there(1, 1);
  return ham::offload::put(&value, there.ptr(), 1, ham::offload::then_call(ham::fn<&solve>, 1, 2)).get();
}
