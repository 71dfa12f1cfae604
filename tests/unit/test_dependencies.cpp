// Groups that come after others: what becomes of entries when groups leave, and that nothing else changes them.
#include <algorithm>
#include <string>
#include <vector>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_dependencies {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::change;
using test::must;
using test::remove;
using test::texts;

namespace {

/// Group `a` with two pods of these statuses, and groups that come after it, each by an entry of its own.
cluster before(pod_status first, pod_status second) {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  auto groups = add(kind::pod_group, {"name", "queue", "after"});
  groups.add({"a", "q", texts{}});
  for (const auto& [name, entry] : {std::pair{"after-ok", "ok:a"},
                                    {"after-failed", "failed:a"},
                                    {"after-any", "any:a"},
                                    {"after-started", "started:a"}})
    groups.add({name, "q", texts{entry, "ok:other"}});
  must(c.apply(groups));
  must(c.apply(add(kind::pod, {"name", "group", "status", "request"})
                   .add({"a-0", "a", first, test::numbers{0, 0, 0, 1}})
                   .add({"a-1", "a", second, test::numbers{0, 0, 0, 1}})));
  return c;
}

/// What is left of the entries of each of them, the one about `other` aside.
std::string left(cluster& c) {
  std::string all;
  const table t = must(c.take_snapshot().to_table(kind::pod_group));
  const column_view* const names = t.view().find(col::pod_group_name);
  const column_view* const after = t.view().find(col::pod_group_after);
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    if (!names->string(row).starts_with("after-")) continue;
    for (const std::string_view entry : split_list(after->string(row))) {
      if (entry != "ok:other") all.append(all.empty() ? "" : " ").append(entry);
    }
  }
  return all;
}

constexpr const char* untouched = "any:a failed:a ok:a started:a";

/// Tables of one delta.
template <class... Rows>
std::vector<table> together(const Rows&... rows) {
  std::vector<table> all;
  (all.push_back(rows), ...);
  return all;
}

std::vector<std::string> sorted_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ')
      words.emplace_back();
    else
      words.back().push_back(c);
  }
  std::sort(words.begin(), words.end());
  return words;
}

void check_left(cluster& c, const std::string& expected) { CHECK(sorted_words(left(c)) == sorted_words(expected)); }

}  // namespace

TEST_CASE("entries are settled when the last pods leave that have ended, or the group") {
  const auto pods = remove(kind::pod, {"name"}).add({"a-0"}).add({"a-1"});
  const auto group = remove(kind::pod_group, {"name"}).add({"a"});
  {
    cluster c = before(pod_status::succeeded, pod_status::succeeded);
    check_left(c, untouched);
    must(c.apply(pods));
    check_left(c, "never:a");
    must(c.apply(group));
    check_left(c, "never:a");
  }
  for (const pod_status last : {pod_status::succeeded, pod_status::failed}) {
    cluster c = before(pod_status::failed, last);
    must(c.apply(remove(kind::pod, {"name"}).add({"a-0"})));  // those that are left have ended as well
    check_left(c, "never:a");
    const table t = must(c.take_snapshot().to_table(kind::pod_group));
    CHECK(t.rows() == 5);
  }
  {
    cluster c = before(pod_status::succeeded, pod_status::pending);
    must(c.apply(remove(kind::pod, {"name"}).add({"a-0"})));
    check_left(c, untouched);
    must(c.apply(remove(kind::pod, {"name"}).add({"a-1"})));
    check_left(c, untouched);  // it may come back
    must(c.apply(group));
    check_left(c, "never:a");
  }
}

TEST_CASE("who leaves has been good, or not, in one delta and whatever the order of its rows") {
  for (const bool swapped : {false, true}) {
    for (const auto& [status, never] : {std::pair{pod_status::succeeded, "after-failed"},
                                        {pod_status::failed, "after-ok"},
                                        {pod_status::pending, "after-ok"}}) {
      CAPTURE(never);
      cluster c = before(pod_status::pending, pod_status::pending);
      auto ended = change(kind::pod, {"name", "status"});
      auto gone = remove(kind::pod, {"name"});
      for (const char* pod : {swapped ? "a-1" : "a-0", swapped ? "a-0" : "a-1"}) {
        ended.add({pod, status});
        gone.add({pod});
      }
      const std::vector<table> all =
          together(ended, gone, remove(kind::pod_group, {"name"}).add({"a"}),
                   add(kind::pod_group, {"name", "queue", "after"}).add({"new", "q", texts{"any:a"}}));
      const std::string digest = must(c.preview(all)).digest();
      check_left(c, untouched);
      must(c.apply(all));
      CHECK(c.take_snapshot().digest() == digest);
      check_left(c, "never:a");
      const table t = must(c.take_snapshot().to_table(kind::pod_group));
      const column_view* const names = t.view().find(col::pod_group_name);
      for (std::uint64_t row = 0; row < t.rows(); ++row) {
        const bool has = t.view().find(col::pod_group_after)->string(row).find("never") != std::string_view::npos;
        CHECK(has == (names->string(row) == never));
      }
      CHECK(must(snapshot::load(c.take_snapshot().save())).digest() == digest);
    }
  }
}

TEST_CASE("a delta that is refused, or that puts the group in again, has settled nothing") {
  cluster c = before(pod_status::succeeded, pod_status::succeeded);
  const std::string digest = c.take_snapshot().digest();
  const auto pods = remove(kind::pod, {"name"}).add({"a-0"}).add({"a-1"});
  const auto group = remove(kind::pod_group, {"name"}).add({"a"});
  CHECK_FALSE(c.apply(together(pods, group, remove(kind::pod_group, {"name"}).add({"nobody"}))).ok());
  CHECK(c.take_snapshot().digest() == digest);
  must(c.apply(together(pods, group, add(kind::pod_group, {"name", "queue"}).add({"a", "q"}))));
  check_left(c, untouched);
}

TEST_CASE("entries are a kind and a name") {
  cluster c = before(pod_status::pending, pod_status::pending);
  for (const char* bad : {"a", "ok:", ":a", "okay:a", "never:", ""}) {
    CAPTURE(bad);
    const auto done = c.apply(change(kind::pod_group, {"name", "after"}).add({"a", texts{"ok:x", bad}}));
    REQUIRE_FALSE(done.ok());
    CHECK(done.failure().message.find("column after: dependency '") != std::string::npos);
  }
  must(c.apply(change(kind::pod_group, {"name", "after"}).add({"a", texts{"ok:b:c", "never:d"}})));
}

}  // namespace of_test_dependencies
