// Stands in for VHcall where libveo was not built.
#include "forwarded_calls/paths.hpp"

namespace forwarded_calls {

std::unique_ptr<path> make_vhcall() { return nullptr; }

}  // namespace forwarded_calls
