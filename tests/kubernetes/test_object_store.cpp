// What kaisched-kubernetes remembers of nodes of which something was given away, beside its cycles and by them.
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hami/hami_grants.hpp"
#include "watch/object_store.hpp"

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

json object_of(const char* kind, const std::string& name) {
  json made{{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", name}, {"uid", name}}}};
  if (std::string(kind) == "Pod") made["metadata"]["namespace"] = "team";
  return made;
}

bool grant(shim::object_store& store, const std::string& pod, const std::string& node, std::uint64_t seen) {
  return store.assume_granted(object_of("Pod", pod), node, {{"a", "b"}}, std::chrono::steady_clock::now() + 1h, seen);
}

std::uint64_t look(shim::object_store& store) {
  return store.look_to_grant([](const shim::resource&, const json&, const std::string&) {});
}

void take(shim::object_store& store) {
  std::shared_ptr<const shim::object_texts> all;
  (void)store.take_changes(all);
}

}  // namespace

TEST_CASE("store: what the one gave away the other decides anew") {
  shim::object_store store("kaisched");
  take(store);
  std::uint64_t seen = look(store);
  CHECK(grant(store, "a", "n0", seen));
  CHECK_FALSE(store.assume_bound("team/b", "b", "n0"));
  CHECK(store.assume_bound("team/b", "b", "n1"));
  CHECK_FALSE(grant(store, "c", "n1", seen));
  take(store);
  CHECK(store.assume_bound("team/d", "d", "n0"));
  seen = look(store);
  CHECK(grant(store, "c", "n1", seen));
  const std::uint64_t later = look(store);
  CHECK_FALSE(grant(store, "e", "n2", seen));  // who looked before knows less
  CHECK(grant(store, "e", "n2", later));
}

TEST_CASE("store: what is not known of an object is noted too, also of those that come later") {
  shim::object_store store("kaisched");
  const auto seen = [&store] {
    std::shared_ptr<const shim::object_texts> all;
    (void)store.take_changes(all);
    std::map<std::string, std::string> notes;
    for (const shim::shared_text& one : all->all) {
      const json pod = json::parse(*one);
      notes[shim::name_of(pod)] = shim::text_at(pod, "/metadata/annotations/note");
    }
    return notes;
  };
  const shim::resource& pods = shim::resource_of("Pod");
  store.put(pods, object_of("Pod", "a"));
  store.put(pods, object_of("Pod", "b"));
  const auto unless_b = [](const json& pod) { return shim::name_of(pod) == "team/b" ? "" : "unknown"; };
  store.note("Pod", "note", {{"team/a", "known"}}, unless_b);
  store.put(pods, object_of("Pod", "c"));
  CHECK(seen() == std::map<std::string, std::string>{{"team/a", "known"}, {"team/b", ""}, {"team/c", "unknown"}});
  store.note("Pod", "note", {{"team/c", "known"}}, unless_b);
  CHECK(seen() == std::map<std::string, std::string>{{"team/a", "unknown"}, {"team/b", ""}, {"team/c", "known"}});
  store.note("Pod", "note", {});
  CHECK(seen() == std::map<std::string, std::string>{{"team/a", ""}, {"team/b", ""}, {"team/c", ""}});
}

TEST_CASE("store: nothing is remembered for ever") {
  shim::object_store store("kaisched");
  for (int i = 0; i < 1000; ++i) {
    const std::string node = fmt::format("n{}", i);
    store.put(shim::resource_of("Node"), object_of("Node", node));
    CHECK(store.assume_bound("team/a", "a", node));
    CHECK(store.remembered() == 0);  // nobody grants
    store.remove(shim::resource_of("Node"), object_of("Node", node));
  }
  (void)look(store);
  for (int i = 0; i < 1000; ++i) {
    const std::string node = fmt::format("n{}", i);
    store.put(shim::resource_of("Node"), object_of("Node", node));
    CHECK(store.assume_bound("team/a", "a", node));
    CHECK(store.remembered() == 1);
    store.remove(shim::resource_of("Node"), object_of("Node", node));
    CHECK(store.remembered() == 0);
  }
  for (int i = 0; i < 1000; ++i) {
    CHECK(grant(store, "a", fmt::format("n{}", i), look(store)));
    CHECK(store.remembered() == 1);
    take(store);
    CHECK(store.remembered() == 0);
  }
}

TEST_CASE("store: a watch that is behind takes nothing back") {
  shim::object_store store("kaisched");
  const auto named = [](const char* uid, const char* version, const char* of) {
    json made = object_of("Pod", "a");
    made["metadata"]["uid"] = uid;
    made["metadata"]["resourceVersion"] = version;
    made["metadata"]["labels"] = {{"of", of}};
    return made;
  };
  const shim::resource& pods = shim::resource_of("Pod");
  const auto known = [&] { return store.find("Pod", "team/a")["metadata"]["labels"]["of"].get<std::string>(); };
  store.put(pods, named("one", "8", "list"));
  store.put_newer(pods, named("one", "10", "answer"));
  store.put(pods, named("one", "9", "watch"));  // of the change before
  CHECK(known() == "answer");
  store.put(pods, named("one", "10", "watch"));
  CHECK(known() == "watch");
  store.put_newer(pods, named("one", "9", "late answer"));
  CHECK(known() == "watch");
  store.put(pods, named("other", "3", "another of that name"));  // numbers of versions are of one server
  CHECK(known() == "another of that name");
  store.replace(pods, {named("other", "2", "restored")});  // a list is what there is
  CHECK(known() == "restored");
}

TEST_CASE("grants: what is none") {
  using shim::hami::read_grants;
  const auto two = read_grants(";GPU-a,NVIDIA,10,20:GPU-b,NVIDIA,1,0,more:;");
  REQUIRE(two);
  REQUIRE(two->size() == 2);
  CHECK((*two)[0].empty());
  CHECK((*two)[1] == std::vector<shim::hami::device_grant>{{"GPU-a", "NVIDIA", 10, 20}, {"GPU-b", "NVIDIA", 1, 0}});
  CHECK(read_grants("")->empty());
  for (const char* bad :
       {"a", "a:", "a,b,c,d:;", "a,b,1:;", ",b,1,1:;", "a,b,1,-1:;", "a,b,99999999999999999999,1:;"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_grants(bad));
  }
  CHECK(shim::hami::without_container("a,b,1,1:;c,d,1,1:;", 0) == ";c,d,1,1:;");
  CHECK(shim::hami::without_container("a,b,1,1:;c,d,1,1:;", 5) == "a,b,1,1:;c,d,1,1:;");
}
