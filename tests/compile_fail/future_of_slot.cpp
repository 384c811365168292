// expect: private
// A future is what a verb gives, not what a program makes of the library's parts.
#include <ham/offload.hpp>

int main() { ham::offload::future<int> mine(static_cast<ham::detail::call_slot*>(nullptr)); }
