// What is answered to which request for metrics.
#include "runtime/metrics_answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ham::inline v1::detail {
namespace {

TEST(metrics_answer, tells_others_what_is_wrong) {
  const auto text = [] { return std::string("m"); };
  const auto status = [&](const std::string& request) { return http_answer(request, text).substr(9, 3); };
  EXPECT_EQ(status("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"), "200");
  EXPECT_EQ(status("GET / HTTP/1.0\n\n"), "200");
  EXPECT_EQ(status("GET /metrics?x=y HTTP/1.1\r\n\r\n"), "200");
  EXPECT_EQ(status("GET /other HTTP/1.1\r\n\r\n"), "404");
  EXPECT_EQ(status("POST /metrics HTTP/1.1\r\n\r\n"), "405");
  EXPECT_EQ(status("GET /metrics\r\n\r\n"), "400");
  EXPECT_EQ(status("GET /metrics HTTP/2\r\n\r\n"), "400");
  EXPECT_EQ(status("GET /metrics HTTP/1.1\r\n"), "400");
  EXPECT_EQ(status("\r\n\r\n"), "400");
  EXPECT_EQ(status(std::string("\0\0 \0 HTTP/1.\r\n\r\n", 17)), "405");
  const std::string head = http_answer("HEAD /metrics HTTP/1.1\r\n\r\n", text);
  EXPECT_NE(head.find("Content-Length: 1\r\n"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << "no body";
}

/// The status of the answer to a request with these headers.
std::string status_with(const std::string& headers) {
  return http_answer("GET /metrics HTTP/1.1\r\n" + headers + "\r\n", [] { return std::string("m"); }).substr(9, 3);
}

TEST(metrics_answer, is_for_loopback_names) {
  for (const std::string name : {"localhost", "127.0.0.1", "[::1]", "LocalHost"}) {
    EXPECT_EQ(status_with("Host: " + name + "\r\n"), "200") << name;
    EXPECT_EQ(status_with("host:" + name + ":9464 \r\n"), "200") << name;
  }
  EXPECT_EQ(status_with("Accept: */*\r\nHOST:\tlocalhost\r\n"), "200");
  EXPECT_EQ(status_with(""), "200") << "no browser";
}

TEST(metrics_answer, is_refused_for_names_that_were_made_to_mean_loopback) {
  for (const std::string host :
       {"example.org", "example.org:9464", "localhost.example.org", "127.0.0.1.example.org", "notlocalhost",
        "localhost:9464:1", "localhost:x", "[::1", "::1", "0.0.0.0", "localhost, example.org", ""}) {
    const std::string status = status_with("Accept: */*\r\nHost: " + host + "\r\n");
    EXPECT_EQ(status, "403") << host;
  }
  EXPECT_EQ(status_with("Host: localhost\r\nHost: example.org\r\n"), "403");
  EXPECT_EQ(status_with("Host : example.org\r\n"), "403");
  EXPECT_EQ(status_with("Host:\r\n localhost\r\n"), "403") << "lines are not joined";
  int asked = 0;
  const std::string answer = http_answer("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", [&] {
    ++asked;
    return std::string("secret");
  });
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(answer.find("secret"), std::string::npos);
}

TEST(metrics_answer, needs_a_complete_request) {
  EXPECT_TRUE(is_complete_request("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(is_complete_request("GET / HTTP/1.1\n\n"));
  EXPECT_FALSE(is_complete_request("GET / HTTP/1.1\r\n"));
  EXPECT_FALSE(is_complete_request(""));
}

}  // namespace
}  // namespace ham::detail
