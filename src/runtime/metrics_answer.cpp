#include "runtime/metrics_answer.hpp"

#include <algorithm>
#include <array>

#include "runtime/metrics_text.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr const char* plain_text = "Content-Type: text/plain; charset=utf-8\r\n";

std::string answer_with(const char* status, const std::string& headers, std::string_view body, bool send_body = true) {
  return std::string("HTTP/1.1 ") + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + std::string(send_body ? body : std::string_view());
}

/// Up to `end`, which is taken as well.
std::string_view take_until(std::string_view& from, char end) noexcept {
  const std::size_t size = std::min(from.find(end), from.size());
  const std::string_view taken = from.substr(0, size);
  from.remove_prefix(std::min(size + 1, from.size()));
  return taken;
}

std::string_view take_line(std::string_view& from) noexcept {
  std::string_view line = take_until(from, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_blanks(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// ASCII alone, whatever the locale.
bool is_same_name(std::string_view one, std::string_view other) noexcept {
  const auto lower = [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

/// "localhost", "127.0.0.1", "[::1]", each with or without a port.
bool is_loopback_host(std::string_view host) noexcept {
  constexpr std::array<std::string_view, 3> names{"localhost", "127.0.0.1", "[::1]"};
  return std::ranges::any_of(names, [host](std::string_view name) {
    if (!is_same_name(host.substr(0, name.size()), name)) return false;
    const std::string_view port = host.substr(name.size());
    return port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  });
}

/// `headers`: behind the line of the request. A browser always sends a Host; what sends none is no browser.
bool asks_for_loopback(std::string_view headers) noexcept {
  while (!headers.empty()) {
    std::string_view line = take_line(headers);
    if (line.empty()) break;
    if (is_same_name(without_blanks(take_until(line, ':')), "host") && !is_loopback_host(without_blanks(line)))
      return false;
  }
  return true;
}

}  // namespace

bool is_complete_request(std::string_view request) noexcept {
  return request.find("\r\n\r\n") != std::string_view::npos || request.find("\n\n") != std::string_view::npos;
}

std::string http_answer(std::string_view request, const std::function<std::string()>& text) {
  if (!is_complete_request(request)) return answer_with("400 Bad Request", plain_text, "no whole request\n");
  std::string_view line = take_line(request);
  const std::string_view method = take_until(line, ' ');
  const std::string_view target = take_until(line, ' ');
  if (!line.starts_with("HTTP/1.")) return answer_with("400 Bad Request", plain_text, "no request of HTTP/1\n");
  if (!asks_for_loopback(request))
    return answer_with("403 Forbidden", plain_text, "the Host may be localhost, 127.0.0.1 or [::1] only\n");
  if (method != "GET" && method != "HEAD")
    return answer_with("405 Method Not Allowed", std::string(plain_text) + "Allow: GET, HEAD\r\n",
                       "GET alone is answered\n");
  const std::string_view path = target.substr(0, target.find('?'));
  if (path != "/metrics" && path != "/") return answer_with("404 Not Found", plain_text, "there is /metrics\n");
  return answer_with("200 OK", std::string("Content-Type: ") + metrics_content_type + "\r\n", text(), method == "GET");
}

}  // namespace ham::detail
