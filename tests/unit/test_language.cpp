/// The same facts in two languages: sentences differ, decisions and figures do not.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support.hpp"

namespace of_test_language {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

struct told {
  std::vector<std::string> sentences;
  std::string digest;
  std::size_t reasons = 0;
};

/// Everything that is said of a small cluster in which somebody waits, somebody was placed and somebody had to go.
told tell(const std::string& language) {
  builder b;
  b << builder::node{"n1", 4} << builder::node{"n2", 4} << builder::node{"cpu", 0};
  b << builder::queue{"rich", "", 4} << builder::queue{"poor", "", 0} << builder::queue{"capped", "", unlimited, 1};
  b << builder::group{"old", "poor", 1, 50, 0};
  for (const char* name : {"old-0", "old-1", "old-2", "old-3"}) b << builder::pod{name, "old", 1000, "n1"};
  b.gang("placed", "rich", 3);
  b.gang("asks", "rich", 2);
  b.gang("limited", "capped", 2);
  b.gang("large", "rich", 1, 16000);
  const engine e = test::make_engine({"language", language, "actions", "allocate,reclaim"});
  const session s = must(e.run(b.take(), 1000 * test::second));
  told made;
  made.digest = s.digest();
  for (const reason& one : s.reasons()) made.sentences.push_back(s.text(one));
  made.reasons = made.sentences.size();
  for (group_row g = 0; g < b.groups.size(); ++g) {
    for (const remedy& one : must(s.remedies(g)).remedies) made.sentences.push_back(s.text(one));
    const certificate proof = must(s.certify(g));
    if (proof.kind != certificate_kind::none) made.sentences.push_back(s.text(proof));
  }
  const pod_row placed = test::pod_by_name(s.base(), "placed-0");
  const choice_account choice = must(s.choice(placed));
  made.sentences.push_back(s.text(choice));
  for (const choice_flip& one : choice.flips) made.sentences.push_back(s.text(choice, one));
  for (queue_row q = 0; q < 3; ++q) {
    for (const share_step& one : must(s.share_steps(q))) made.sentences.push_back(s.text(one));
  }
  for (const decision& d : s.decisions()) {
    if (d.kind != decision_kind::evict) continue;
    const victim_account why = must(s.victim(d.pod));
    for (const victim_rule one : why.rules) made.sentences.push_back(s.text(why, one));
    made.sentences.push_back(s.text(why, why.if_protected));
  }
  for (const eviction_attempt& one : s.attempts()) made.sentences.push_back(s.text(one));
  builder more;
  more.gang("new", "rich", 2);
  std::vector<table> tables;
  for (table& one : more.tables()) {
    if (one.rows() > 0) tables.push_back(std::move(one));
  }
  std::vector<table_view> views;
  for (const table& one : tables) views.push_back(one.view());
  const what_if_report report = must(s.what_if(views));
  made.sentences.push_back(s.text(report, report.groups.front()));
  return made;
}

bool has_chinese(const std::string& text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead >= 0xE4 && lead <= 0xE9) return true;  // U+4000 to U+9FFF
  }
  return false;
}

}  // namespace

TEST_CASE("every sentence is told in the language of the engine, and nothing else depends on it") {
  const told english = tell("en");
  const told chinese = tell("zh");
  CHECK(english.digest == chinese.digest);
  CHECK(english.reasons == chinese.reasons);
  REQUIRE(english.sentences.size() == chinese.sentences.size());
  CHECK(english.sentences.size() > 30);
  for (std::size_t i = 0; i < english.sentences.size(); ++i) {
    INFO(english.sentences[i], " / ", chinese.sentences[i]);
    CHECK_FALSE(english.sentences[i].empty());
    CHECK_FALSE(has_chinese(english.sentences[i]));
    CHECK(has_chinese(chinese.sentences[i]));
    CHECK(chinese.sentences[i].find('{') == std::string::npos);
  }
}

TEST_CASE("the language is an option like others: it has a name, a default and two values") {
  engine e;
  CHECK(must(e.get("language")) == "en");
  must(e.set("language", "zh"));
  CHECK(must(e.get("language")) == "zh");
  CHECK(e.set("language", "de").failure().message.find("en zh") != std::string::npos);
}

}  // namespace of_test_language
