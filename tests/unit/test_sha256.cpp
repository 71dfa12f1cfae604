#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/sha256.hpp"

namespace of_test_sha256 {

namespace {

using kaisched::base::sha256;

std::string hash_of(std::string_view message) {
  sha256 hash;
  hash.update(message);
  return sha256::hex(hash.finish());
}

}  // namespace

TEST_CASE("sha256: published vectors") {
  CHECK(hash_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu") ==
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(hash_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: padding on both sides of a block boundary") {
  CHECK(hash_of(std::string(55, 'a')) == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  CHECK(hash_of(std::string(56, 'a')) == "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  CHECK(hash_of(std::string(63, 'a')) == "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  CHECK(hash_of(std::string(64, 'a')) == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  CHECK(hash_of(std::string(65, 'a')) == "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
  CHECK(hash_of(std::string(119, 'a')) == "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
  CHECK(hash_of(std::string(120, 'a')) == "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
}

TEST_CASE("sha256: the digest does not depend on how the message is split") {
  std::mt19937 random(20'240'101);  // the raw generator is specified exactly, distributions are not
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> message(random() % 400);
    std::generate(message.begin(), message.end(), [&] { return static_cast<std::byte>(random() & 0xffU); });

    sha256 whole;
    whole.update(std::span<const std::byte>(message));
    sha256 chunked;
    std::span<const std::byte> rest = message;
    while (!rest.empty()) {
      const std::size_t size = std::min<std::size_t>(rest.size(), random() % 150);
      chunked.update(rest.first(size));
      rest = rest.subspan(size);
    }
    REQUIRE(chunked.finish() == whole.finish());
  }
}

TEST_CASE("sha256: text and bytes are the same message, and finish starts over") {
  constexpr std::string_view text = "a message";
  sha256 hash;
  hash.update(std::as_bytes(std::span(text.data(), text.size())));
  CHECK(sha256::hex(hash.finish()) == hash_of(text));
  CHECK(sha256::hex(hash.finish()) == hash_of(""));
  hash.update(text);
  CHECK(sha256::hex(hash.finish()) == hash_of(text));
}

TEST_CASE("sha256: hexadecimal form") {
  sha256::digest value{};
  value[0] = 0x0f;
  value[31] = 0xa9;
  CHECK(sha256::hex(value) == "0f" + std::string(60, '0') + "a9");
}

}  // namespace of_test_sha256
