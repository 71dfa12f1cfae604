// Annotations of HAMi: what is written is read back, what HAMi takes is taken, what breaks a form is not written.
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "io/kubernetes/hami.hpp"

using namespace kaisched;
using namespace kaisched::io::kubernetes;

namespace {

class drawing {
 public:
  explicit drawing(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t count) { return random_() % count; }
  std::int64_t number() { return static_cast<std::int64_t>(below(3) == 0 ? below(3) : below(2'147'483'648U)); }
  bool flag() { return below(2) == 0; }
  /// Characters that have a meaning in one form or the other, but none of `without`.
  std::string text(std::string_view without) {
    constexpr std::string_view letters = "abcXYZ019-_./ \"\\{}[]|,:;\n\xC3\xA9";
    std::string made;
    for (std::size_t size = below(12); size > 0; --size) {
      const char c = letters[below(letters.size() - 2)];
      made += without.find(c) == std::string_view::npos ? std::string(1, c) : "\xC3\xA9";
    }
    return made;
  }

 private:
  std::mt19937_64 random_;
};

hami_device draw_device(drawing& from, std::string_view without) {
  return {from.text(without), from.number(),     from.number(), from.number(),     from.number(),
          from.text(without), from.number() - 1, from.flag(),   from.text(without)};
}

}  // namespace

TEST_CASE("devices survive both forms") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    drawing from(seed);
    for (const hami_form form : {hami_form::json, hami_form::legacy}) {
      std::vector<hami_device> devices;
      for (std::size_t n = 1 + from.below(4); n > 0; --n) {
        devices.push_back(draw_device(from, form == hami_form::legacy ? ",:" : ""));
      }
      // A text that starts as an array is one.
      if (form == hami_form::legacy) devices.front().id = "GPU-" + devices.front().id;
      const result<std::string> text = encode_hami_devices(devices, form);
      REQUIRE(text.ok());
      CAPTURE(*text);
      CHECK(decode_hami_devices(*text) == devices);
    }
  }
  CHECK(*encode_hami_devices({}, hami_form::json) == "[]");
  CHECK(decode_hami_devices("[]") == std::vector<hami_device>{});
}

TEST_CASE("registrations are read as HAMi reads them") {
  const std::vector<hami_device> one{{"GPU-1", 0, 10, 40960, 100, "NVIDIA-A100", 1, true, "hami-core"}};
  CHECK(decode_hami_devices("GPU-1,10,40960,100,NVIDIA-A100,1,true:") == one);
  CHECK(decode_hami_devices(":GPU-1,10,40960,100,NVIDIA-A100,1,T,0,hami-core::") == one);
  CHECK(decode_hami_devices(R"( [{"id": "GPU-1", "count": 10, "devmem": 40960, "devcore": 100, "type": "NVIDIA-A100",
    "numa": 1, "health": true, "mode": "hami-core", "custominfo": {"x": 1}, "migProfiles": null}])") == one);
  CHECK(decode_hami_devices("[{}]") == std::vector<hami_device>(1));
  for (const std::string_view wrong :
       {"", "GPU-1,10,40960,100,A,1,true", "GPU-1,10,40960,100,A,1:", "GPU-1:", "GPU-1,x,40960,100,A,1,true:",
        "GPU-1,10,99999999999,100,A,1,true:", "GPU-1,10,1,100,A,1,maybe:", "GPU-1,10,1,100,A,1,true,-1,m:", "[", "[1]",
        "[{\"id\": 1}]", "[{\"index\": -1}]", "[{\"devmem\": 1.5}]", "[{\"health\": \"yes\"}]",
        "[{\"type\": \"\\u0000\"}]"}) {
    CAPTURE(wrong);
    CHECK_FALSE(decode_hami_devices(wrong).has_value());
  }
}

TEST_CASE("what would break a form is not written") {
  hami_device device;
  for (const std::string_view wrong : {"a,b", "a:b"}) {
    device.id = wrong;
    CHECK_FALSE(encode_hami_devices({device}, hami_form::legacy).ok());
    CHECK(encode_hami_devices({device}, hami_form::json).ok());
  }
  for (const std::string_view wrong : {"a,b", "a:b", "a;b"}) {
    CHECK_FALSE(encode_hami_grants({{{std::string(wrong), "t", 1, 1}}}).ok());
    CHECK_FALSE(encode_hami_grants({{{"u", std::string(wrong), 1, 1}}}).ok());
  }
  CHECK_FALSE(encode_hami_lock({0, "a,b", "p"}).ok());
  CHECK(encode_hami_lock({0, "a,b", "p"}).failure().message == "\"a,b\" holds the separator \",\"");
}

TEST_CASE("grants survive, empty containers included") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    drawing from(seed);
    hami_grants grants(1 + from.below(4));
    for (auto& container : grants) {
      for (std::size_t n = from.below(3); n > 0; --n) {
        container.push_back({from.text(",:;"), from.text(",:;"), from.number(), from.number()});
      }
    }
    const result<std::string> text = encode_hami_grants(grants);
    REQUIRE(text.ok());
    CAPTURE(*text);
    CHECK(decode_hami_grants(*text) == grants);
  }
  CHECK(*encode_hami_grants({{{"u1", "NVIDIA", 1000, 30}, {"u2", "NVIDIA", 1000, 30}}, {}, {{"u3", "NVIDIA", 5, 0}}}) ==
        "u1,NVIDIA,1000,30:u2,NVIDIA,1000,30:;;u3,NVIDIA,5,0:;");
  CHECK(decode_hami_grants("") == hami_grants{});
  CHECK(decode_hami_grants(";") == hami_grants(1));
  CHECK(decode_hami_grants("u,t,1,2,more:") == hami_grants{{{"u", "t", 1, 2}}});
  CHECK(decode_hami_grants("u,t,1,2;junk") == hami_grants{{{"u", "t", 1, 2}}, {}});
  for (const std::string_view wrong : {"u,t,1:;", "u,t,x,1:;", "u,t,1,x:;", "u,t,,1:;", "u,t,3000000000,1:;"}) {
    CHECK_FALSE(decode_hami_grants(wrong).has_value());
  }
}

TEST_CASE("locks and handshakes survive") {
  const hami_lock lock{1'772'884'800'000'000'000, "team", "p"};
  CHECK(*encode_hami_lock(lock) == "2026-03-07T12:00:00Z,team,p");
  CHECK(decode_hami_lock("2026-03-07T12:00:00Z,team,p") == lock);
  CHECK(decode_hami_lock("2026-03-07T13:00:00+01:00,team,p") == lock);
  CHECK(decode_hami_lock("2026-03-07T12:00:00Z") == hami_lock{1'772'884'800'000'000'000, "", ""});
  CHECK(*encode_hami_lock({1'772'884'800'000'000'000, "", ""}) == "2026-03-07T12:00:00Z");
  for (const std::string_view wrong :
       {"", "now", "2026-03-07T12:00:00Z,team", "now,a,b", "2026-03-07T12:00:00Z,a,b,c"}) {
    CHECK_FALSE(decode_hami_lock(wrong).has_value());
  }
  for (const hami_handshake_state state :
       {hami_handshake_state::reported, hami_handshake_state::requesting, hami_handshake_state::deleted}) {
    const hami_handshake handshake{state, "2026-03-07 12:00:00"};
    CHECK(decode_hami_handshake(encode_hami_handshake(handshake)) == handshake);
  }
  CHECK(encode_hami_handshake({hami_handshake_state::requesting, "2026-03-07 12:00:00"}) ==
        "Requesting_2026-03-07 12:00:00");
  CHECK(decode_hami_handshake("anything") == hami_handshake{});
}
