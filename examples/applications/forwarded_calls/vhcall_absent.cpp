// Stands in for VHcall where libveo was not built.
#include "forwarded_calls/paths.hpp"

namespace forwarded_calls {

paths make_vhcall() { return {}; }

}  // namespace forwarded_calls
