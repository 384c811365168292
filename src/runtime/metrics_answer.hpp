// What is answered to a request for metrics: as much of HTTP/1 as Prometheus needs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ham::inline v1::detail {

/// Whether the headers of a request have come to their end.
[[nodiscard]] bool is_complete_request(std::string_view request) noexcept;

/// The answer to a request, of which nothing is believed: the metrics, of `text`, for GET and HEAD of /metrics and /. A
/// Host header that is not a loopback name is refused: a page of the web whose name is made to mean 127.0.0.1 (DNS
/// rebinding) would have a browser of this machine read what it may not. Throws what `text` throws.
[[nodiscard]] std::string http_answer(std::string_view request, const std::function<std::string()>& text);

}  // namespace ham::detail
