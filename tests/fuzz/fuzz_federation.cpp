// Any texts as what `kaisched federate` reads (a summary of a cluster elsewhere, a cluster, groups that wait, wishes),
// and any bytes as calls after that: errors say why, no sum leaves its type, every group is placed or waits, and the
// same calls say the same again.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <kaisched/cluster_summary.hpp>
#include <kaisched/federation.hpp>

#include "files/cluster_file.hpp"
#include "files/federation_file.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;
using fuzz::ensure;

template <class T>
bool is_done(const result<T>& made) {
  ensure(made.ok() || !made.failure().message.empty(), "an error says why");
  return made.ok();
}

/// The texts of an input stand between lines of `%%`.
std::vector<std::string_view> parts_of(std::string_view input) {
  constexpr std::string_view line = "%%\n";
  constexpr std::size_t most = 5;
  std::vector<std::string_view> made;
  while (made.size() + 1 < most) {
    const std::size_t end = input.find(line);
    if (end == std::string_view::npos) break;
    made.push_back(input.substr(0, end));
    input.remove_prefix(end + line.size());
  }
  made.push_back(input);
  made.resize(most);
  return made;
}

constexpr std::array<std::int64_t, 6> times{0,
                                            1'000'000'000'000,
                                            -1,
                                            std::int64_t{1} << 52U,
                                            std::numeric_limits<std::int64_t>::max(),
                                            std::numeric_limits<std::int64_t>::min()};

class play {
 public:
  explicit play(const std::vector<std::string_view>& texts)
      : texts_(texts), from_(reinterpret_cast<const std::uint8_t*>(texts[4].data()), texts[4].size()) {}

  /// All that the calls have said.
  std::string run() {
    federation_options options;
    options.window = static_cast<std::uint32_t>(from_.below(3));
    options.fit = from_.one_in(2) ? member_fit::spread : member_fit::pack;
    options.rounds = 4;
    all_ = federation(options);
    if (from_.one_in(4)) submit();  // first the line, then the members
    add_members();
    submit();
    wish();
    for (int i = 0; i < 12 && !from_.empty(); ++i) call();
    decide();
    return std::move(said_);
  }

 private:
  void add_members() {
    const result<cluster_summary> known = summary_from_json(texts_[0], "known.json");
    if (is_done(known)) {
      const result<cluster_summary> again = summary_from_json(summary_to_json(*known), "again.json");
      ensure(fuzz::sure(again) == *known, "a summary survives being written");
      (void)is_done(all_.add_member({"far", {{"region", "eu"}}, 3, {}, true}, *known));
    }
    const result<io::cluster_input> input = io::parse_cluster(texts_[1], "here.json");
    if (!is_done(input)) return;
    result<cluster> built = io::build_cluster(*input);
    if (!is_done(built)) return;
    engine with;
    const auto presets = preset_names();
    fuzz::sure(with.set("preset", presets[from_.byte() % presets.size()]));
    fuzz::sure(with.set("invariants", "full"));
    here_ = std::make_shared<cluster>(std::move(*built));
    (void)is_done(all_.add_member({"here", {{"region", "us"}}, 5, {"corpus"}, true}, here_,
                                  std::make_shared<const engine>(std::move(with))));
  }
  void submit() {
    const result<io::cluster_input> input = io::parse_cluster(texts_[2], "jobs.json");
    if (is_done(input)) (void)is_done(all_.submit(input->tables));
  }
  void wish() {
    const result<io::federation_file> file = io::parse_federation(texts_[3], "members.yaml");
    if (!is_done(file)) return;
    for (const member_info& one : file->members) (void)is_done(all_.change_member(one));
    for (const auto& [group, wishes] : file->groups) (void)is_done(all_.wish(group, wishes));
  }

  void call() {
    switch (from_.below(7)) {
      case 0:
        return answer();
      case 1:
        return update();
      case 2:
        return withdraw();
      case 3:
        (void)is_done(all_.lose_member(from_.one_in(2) ? "here" : "far"));
        return;
      case 4:
        return look();
      case 5:
        return add_members();
      default:
        return decide();
    }
  }

  void decide() {
    const result<federation_report> made = all_.decide(from_.pick(times));
    if (!is_done(made)) return;
    said_ += made->digest();
    for (const federated_place& one : made->placed) {
      const auto [stage, member] = fuzz::sure(all_.stage(one.group));
      ensure(stage == one.stage && member == one.member, "a group is where the report says");
      if (std::find(groups_.begin(), groups_.end(), one.group) == groups_.end()) groups_.push_back(one.group);
    }
    for (const federated_wait& one : made->waits) {
      ensure(one.verdicts.size() == made->members.size(), "a verdict for each member");
      ensure(fuzz::sure(all_.stage(one.group)).first == group_stage::waits, "a group that waits is in no member");
    }
    for (const member_session& one : made->sessions) fuzz::sure(one.decided.check());
    for (const table_kind kind :
         {table_kind::federated_place, table_kind::federated_wait, table_kind::member_session}) {
      ensure(made->to_table(kind).ok(), "every table can be had");
    }
  }
  void answer() {
    for (const std::string& group : groups_) (void)is_done(all_.answer(group, from_.one_in(2)));
  }
  void update() {
    result<cluster_summary> known = summary_from_json(texts_[0], "known.json");
    if (known) (void)is_done(all_.update_member("far", std::move(*known)));
  }
  void withdraw() {
    if (groups_.empty()) return;
    const std::array<std::string_view, 1> gone{groups_[from_.byte() % groups_.size()]};
    (void)is_done(all_.withdraw(gone));
  }
  void look() {
    const std::int64_t now = from_.pick(times);
    for (const federated_queue& one : all_.queues(now)) said_ += one.name + std::to_string(one.allocated[dim_gpu]);
    for (const std::string& name : all_.member_names()) {
      const result<cluster_summary> known = all_.summary(name, now);
      if (is_done(known)) said_ += summary_to_json(*known);
    }
  }

  const std::vector<std::string_view>& texts_;
  fuzz::source from_;
  federation all_;
  std::shared_ptr<cluster> here_;
  std::vector<std::string> groups_;  ///< that had a member once
  std::string said_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string_view> texts = parts_of(fuzz::as_text(data, size));
  const std::string said = play(texts).run();
  ensure(play(texts).run() == said, "the same calls say the same again");
  return 0;
}
