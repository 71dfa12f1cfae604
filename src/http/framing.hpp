#pragma once
/// @file
/// How requests are framed (RFC 9112): what makes two readers of the same bytes see different requests is refused.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/beast/http/message.hpp>

namespace kaisched::http {

struct header_extent {
  std::size_t size = 0;         ///< with the empty line; 0: its end has not come
  const char* fault = nullptr;  ///< null: none so far
};
/// Of the header that the text begins with. `scanned`: what has been looked at before, for a text that grows.
[[nodiscard]] header_extent find_header(std::string_view text, std::size_t& scanned);

/// What is wrong with the fields Host, Content-Length and Transfer-Encoding; null: nothing.
[[nodiscard]] const char* framing_fault(const boost::beast::http::request_header<>& of);

/// Path and query of a target, decoded; false for a target that is none.
[[nodiscard]] bool split_target(std::string_view target, std::string& path,
                                std::vector<std::pair<std::string, std::string>>& query);

}  // namespace kaisched::http
