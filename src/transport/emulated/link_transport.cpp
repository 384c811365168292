// The two ends of a link.
#include "transport/emulated/link_transport.hpp"

#include <utility>

#include "transport/common/one_sided_endpoint.hpp"
#include "transport/emulated/link.hpp"
#include "transport/emulated/memory.hpp"

namespace ham::inline v1::transport::emulated {

void link_transport::add(node_t peer, const welcome& said, unsigned side, base::mapping memory,
                         base::unique_fd peer_heap) {
  const auto kept = std::make_shared<base::mapping>(std::move(memory));
  const segment here{kept->data(), said.layout};
  const one_sided_terms terms = terms_of(said, side);
  const bool is_initiator = (said.costs.by == initiator::host) == (side == host_side);
  if (!is_initiator) {
    auto one = std::make_unique<one_sided_endpoint<near_access>>(peer, terms, here);
    one->keep(kept);
    adopt(std::move(one));
    return;
  }
  cheap_.store(false, std::memory_order_relaxed);
  const auto over = std::make_shared<wire>(said.costs);
  auto one = std::make_unique<one_sided_endpoint<far_access>>(peer, terms, here, over);
  one->keep(kept);
  one->set_memory(std::make_shared<peer_memory>(std::move(peer_heap), over));
  adopt(std::move(one));
}

}  // namespace ham::transport::emulated
