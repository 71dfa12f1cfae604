// Which member a group goes to.
#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "federation/federation_impl.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched {

namespace federation_detail {

namespace {

/// What is compared between members; smaller is better.
struct standing {
  std::size_t member = 0;
  std::array<std::int64_t, 8> by{};  ///< by criterion
};

class decision_run {
 public:
  decision_run(body& of, std::int64_t now) : of_(of), now_(now), tree_(of.queues.take_snapshot()) {
    for (auto& [name, one] : of_.members) {
      members_.push_back(&one);
      made_.members.push_back(name);
    }
    order_.push_back(member_criterion::fits);
    order_.insert(order_.end(), of_.options.order.begin(), of_.options.order.end());
    order_.push_back(member_criterion::name);
  }

  federation_report run() {
    for (member* one : members_) {
      one->failed = false;
      if (!one->is_here()) continue;
      if (auto done = of_.refresh(*one, now_); !done) fail(*one, done.failure());
    }
    for (auto& [name, one] : of_.groups) {
      if (one.stage == group_stage::starts) one.stage = group_stage::runs;
      if (one.stage == group_stage::waits) begin(one);
    }
    std::vector<std::vector<sent_group>> sent = waiting_again();
    const std::uint32_t most = std::max<std::uint32_t>(of_.options.rounds, 1);
    for (std::uint32_t round = 1; round <= most; ++round) {
      send(sent);
      if (std::all_of(sent.begin(), sent.end(), [](const auto& one) { return one.empty(); })) break;
      made_.rounds = round;
      decide(sent, round);
      sent.assign(members_.size(), {});
    }
    tell_waits();
    std::sort(made_.returned.begin(), made_.returned.end());
    std::stable_sort(made_.failures.begin(), made_.failures.end(),
                     [](const member_failure& a, const member_failure& b) { return a.member < b.member; });
    return std::move(made_);
  }

 private:
  /// Memory that is missing is no fault of the member.
  void fail(member& one, error why) {
    if (why.code == status::no_memory) throw std::bad_alloc();
    one.failed = true;
    made_.failures.push_back({one.about.name, std::move(why)});
  }

  /// The group is to go somewhere.
  void begin(record& one) {
    one.verdicts.assign(members_.size(), member_verdict::candidate);
    one.room_asked = 0;
    one.is_hopeless = false;
    one.limit.clear();
    one.text.clear();
    std::size_t left = 0;
    bool is_here = false;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      one.verdicts[m] = allowed(one, *members_[m]);
      if (one.verdicts[m] != member_verdict::candidate) continue;
      ++left;
      is_here = members_[m]->is_here();
    }
    one.has_only_one = left == 1 && is_here;  // its engine tells more than a summary does
    for (std::size_t m = 0; m < members_.size() && !one.has_only_one; ++m) {
      if (one.verdicts[m] != member_verdict::candidate) continue;
      ++made_.judged;
      if (!members_[m]->book.could_start(one.demand, of_.pool, room::empty)) one.verdicts[m] = member_verdict::never;
    }
    open_.push_back(&one);
  }

  /// What the host has said, and what a cluster must have to know the rows.
  [[nodiscard]] member_verdict allowed(const record& one, const member& at) const {
    const group_wishes& wishes = one.wishes;
    if (!at.about.open || at.failed) return member_verdict::closed;
    if (!wishes.members.empty() && !std::binary_search(wishes.members.begin(), wishes.members.end(), at.about.name))
      return member_verdict::not_wanted;
    const auto has = [&](const std::pair<std::string, std::string>& label) {
      return std::find(at.about.labels.begin(), at.about.labels.end(), label) != at.about.labels.end();
    };
    if (!std::all_of(wishes.required.begin(), wishes.required.end(), has)) return member_verdict::label;
    if (wishes.most_price != unlimited && at.about.price > wishes.most_price) return member_verdict::price;
    if (one.refused_offers.contains(at.about.name)) return member_verdict::refused;
    if (!one.queue.empty() && at.book.queue(one.queue) == nullptr) return member_verdict::queue;
    return at.book.has_dimensions(one.demand, of_.pool) ? member_verdict::candidate : member_verdict::resource;
  }

  /// Groups that members have and that wait there again, or still.
  std::vector<std::vector<sent_group>> waiting_again() {
    std::vector<std::vector<sent_group>> again(members_.size());
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (!members_[m]->is_here() || members_[m]->failed) continue;
      const snapshot of = members_[m]->state->take_snapshot();
      const model::cluster_state& s = model::state_of(of);
      for (const group_row g : *s.pending_groups) {
        const auto found = of_.groups.find(s.group_names[g]);
        if (found == of_.groups.end() || found->second.member != members_[m]->about.name) continue;
        bool holds = false;
        for (sub_group_row sub = s.groups[g].first_sub; sub < s.groups[g].first_sub + s.groups[g].sub_count; ++sub)
          holds = holds || s.live.counts[sub].active_used > 0;
        if (!holds) again[m].push_back({&found->second, true, member_criterion::only, {}, 0});
      }
    }
    return again;
  }

  // ---- sending

  void send(std::vector<std::vector<sent_group>>& sent) {
    std::vector<line_entry> waiting;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const record& one = *open_[i];
      if (one.stage == group_stage::waits && !one.is_hopeless)
        waiting.push_back({one.name, one.queue, one.priority, one.created, i});
    }
    line in_line = of_.make_line(tree_);
    for (const auto& there : sent) {
      for (const sent_group& one : there) {  // their claims are counted already
        if (!one.what->is_uncounted) in_line.charge(one.what->queue, one.what->demand.amounts, 1);
      }
    }
    in_line.fill(std::move(waiting));
    std::uint32_t count = 0;
    while (of_.options.window == 0 || count < of_.options.window) {
      const line_entry* const next = in_line.next();
      if (next == nullptr) break;
      record& one = *open_[next->of];
      one.limit = in_line.blocked_by(one.queue, one.demand.amounts);
      if (!one.limit.empty() || !send_one(one, sent)) continue;
      in_line.charge(one.queue, one.demand.amounts, 1);
      ++count;
    }
  }

  bool send_one(record& one, std::vector<std::vector<sent_group>>& sent) {
    std::vector<standing> all;
    bool may_come = false;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (one.verdicts[m] != member_verdict::candidate && one.verdicts[m] != member_verdict::full) continue;
      member& at = *members_[m];
      ++made_.judged;
      // Where nobody decides now, offers hold what they were made for.
      const bool fits = at.book.could_start(one.demand, of_.pool, at.is_here() ? room::free : room::left);
      if (!fits && !one.has_only_one) {
        one.verdicts[m] = at.book.summary().rules.makes_room ? member_verdict::candidate : member_verdict::full;
        may_come = true;  // somebody who was counted may not start
        if (one.verdicts[m] == member_verdict::full || one.room_asked >= of_.options.room_asked) continue;
      }
      one.verdicts[m] = member_verdict::candidate;
      all.push_back(stand(one, m, fits));
    }
    if (all.empty()) {
      one.is_hopeless = !may_come;
      return false;
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i) best = first_difference(all[i], all[best]).second ? i : best;
    std::swap(all[0], all[best]);
    sent_group to{&one, false, member_criterion::only, {}, ++sent_};
    if (all.size() > 1) {
      std::size_t second = 1;
      for (std::size_t i = 2; i < all.size(); ++i) second = first_difference(all[i], all[second]).second ? i : second;
      to.by = first_difference(all[0], all[second]).first;
      to.runner_up = members_[all[second].member]->about.name;
    }
    member& at = *members_[all[0].member];
    if (all[0].by[0] == 2) ++one.room_asked;
    at.book.charge(one.demand, of_.pool, one.queue);
    sent[all[0].member].push_back(std::move(to));
    return true;
  }

  standing stand(record& one, std::size_t m, bool fits) {
    member& at = *members_[m];
    standing made{m, {}};
    const auto value = [&](member_criterion c) -> std::int64_t& { return made.by[static_cast<std::size_t>(c)]; };
    const bool is_left = fits && at.book.could_start(one.demand, of_.pool, room::left);
    value(member_criterion::fits) = is_left ? 0 : fits ? 1 : 2;
    for (const preferred_label& wish : one.wishes.preferred) {
      const std::pair label(wish.key, wish.value);
      const bool has = std::find(at.about.labels.begin(), at.about.labels.end(), label) != at.about.labels.end();
      value(member_criterion::preference) -= has ? wish.weight : 0;
    }
    for (const wanted_data& wish : one.wishes.data) {
      const bool has = std::find(at.about.data.begin(), at.about.data.end(), wish.key) != at.about.data.end();
      value(member_criterion::data) += has ? 0 : wish.weight;
    }
    value(member_criterion::price) = at.about.price;
    const queue_summary* const queue = at.book.queue(one.queue);
    value(member_criterion::entitlement) = queue == nullptr || at.book.is_entitled(*queue, one.demand) ? 0 : 1;
    if (!is_left) {
      const std::int64_t when = at.book.expected_start(one.demand);
      value(member_criterion::wait) = when < 0 ? std::numeric_limits<std::int64_t>::max() : when;
    }
    const std::int64_t besides = at.book.room_besides(one.demand, of_.pool);
    value(member_criterion::fit) = of_.options.fit == member_fit::pack ? besides : -besides;
    value(member_criterion::name) = static_cast<std::int64_t>(m);
    return made;
  }

  /// The criterion in which they differ first, and whether `a` is the better one.
  [[nodiscard]] std::pair<member_criterion, bool> first_difference(const standing& a, const standing& b) const {
    for (const member_criterion c : order_) {
      const std::size_t i = static_cast<std::size_t>(c);
      if (i < a.by.size() && a.by[i] != b.by[i]) return {c, a.by[i] < b.by[i]};
    }
    return {member_criterion::name, false};
  }

  // ---- deciding

  void decide(const std::vector<std::vector<sent_group>>& sent, std::uint32_t round) {
    std::vector<member_round> rounds(members_.size());
    of_.threads.ranges(members_.size(), 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t m = first; m < last; ++m) {
        if (!sent[m].empty() && members_[m]->is_here()) rounds[m] = run_member(*members_[m], sent[m], now_);
      }
    });
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (sent[m].empty()) continue;
      member& at = *members_[m];
      if (!at.is_here()) {
        for (const sent_group& one : sent[m]) place(one, at, group_stage::offered, round, 0);
        continue;
      }
      member_round& done = rounds[m];
      for (std::size_t i = 0; i < sent[m].size(); ++i) take_in(sent[m][i], m, done, i, round);
      if (done.decided) made_.sessions.push_back({at.about.name, round, std::move(*done.decided)});
      if (done.failure) {
        fail(at, *done.failure);
      } else if (auto again = of_.refresh(at, now_); !again) {
        fail(at, again.failure());
      }
      for (record* one : open_) {
        if (at.failed && one->stage == group_stage::waits) one->verdicts[m] = member_verdict::closed;
      }
    }
    std::stable_sort(placed_.begin(), placed_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [place, one] : placed_) made_.placed.push_back(std::move(one));
    placed_.clear();
  }

  void take_in(const sent_group& one, std::size_t m, const member_round& done, std::size_t i, std::uint32_t round) {
    member& at = *members_[m];
    record& what = *one.what;
    if (done.binds[i] + done.claims[i] > 0) {
      const group_stage stage = done.binds[i] > 0 ? group_stage::starts : group_stage::claims;
      return place(one, at, stage, round, done.binds[i] + done.claims[i]);
    }
    if (one.is_there) {
      if (!done.decided) return;  // nobody knows more than before
      made_.returned.push_back(what.name);
      of_.set_stage(what, group_stage::waits, {}, true);
      begin(what);
    }
    what.verdicts[m] = done.wrong[i].empty() ? member_verdict::refused : member_verdict::wrong_input;
    if (!done.wrong[i].empty()) what.text = done.wrong[i];
  }

  void place(const sent_group& one, member& at, group_stage stage, std::uint32_t round, std::uint32_t pods) {
    record& what = *one.what;
    of_.set_stage(what, stage, at.about.name, stage == group_stage::starts);
    placed_.emplace_back(
        one.place, federated_place{what.name, what.queue, at.about.name, stage, one.by, one.runner_up, round, pods});
  }

  // ---- the report

  void tell_waits() {
    line in_line = of_.make_line(tree_);
    std::vector<line_entry> waiting;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const record& one = *open_[i];
      if (one.stage == group_stage::waits) waiting.push_back({one.name, one.queue, one.priority, one.created, i});
    }
    in_line.fill(std::move(waiting));
    while (const line_entry* next = in_line.next()) {
      record& one = *open_[next->of];
      federated_wait& told = made_.waits.emplace_back();
      told.group = one.name;
      told.queue = one.queue;
      told.limit = one.limit;
      told.text = one.text;
      for (std::size_t m = 0; m < members_.size(); ++m) {
        const bool may_later = one.verdicts[m] == member_verdict::candidate ||
                               one.verdicts[m] == member_verdict::full || one.verdicts[m] == member_verdict::refused;
        if (!may_later) continue;
        const std::int64_t when = members_[m]->book.expected_start(one.demand);
        if (when < 0 || (told.expected >= 0 && when >= told.expected)) continue;
        told.expected = when;
        told.expected_member = members_[m]->about.name;
      }
      told.verdicts = std::move(one.verdicts);
    }
  }

  body& of_;
  std::int64_t now_;
  snapshot tree_;
  std::vector<member*> members_;  ///< by name
  std::vector<member_criterion> order_;
  std::vector<record*> open_;  ///< groups that waited at some time of this decision
  std::size_t sent_ = 0;
  std::vector<std::pair<std::size_t, federated_place>> placed_;  ///< of a round, with their places in the line
  federation_report made_;
};

}  // namespace

}  // namespace federation_detail

result<federation_report> federation::decide(std::int64_t now) {
  return federation_detail::decision_run(*impl_, now).run();
}

}  // namespace kaisched
