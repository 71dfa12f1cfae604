#include <algorithm>
#include <istream>
#include <sstream>
#include <stdexcept>

#include "checker/accounts_rule.hpp"
#include "checker/contention_rules.hpp"
#include "checker/simple_rules.hpp"

namespace day_check {

void rule::report(const char* name, const session_record& at, const state& of, std::size_t job, std::string text) {
  violation one{name, at.number, at.now, "", "", std::move(text)};
  if (job != none) {
    one.group = of.plan().jobs[job].name;
    one.queue = of.plan().queues[of.plan().jobs[job].queue].name;
  }
  to_.violations.push_back(std::move(one));
}

std::vector<std::unique_ptr<rule>> all_rules(const conditions& how, findings& to) {
  std::vector<std::unique_ptr<rule>> all;
  all.push_back(std::make_unique<rest_rule>(how, to));
  all.push_back(std::make_unique<net_rule>(how, to));
  all.push_back(std::make_unique<idle_rule>(how, to));
  all.push_back(std::make_unique<start_rule>(how, to));
  all.push_back(std::make_unique<stops_rule>(how, to));
  all.push_back(std::make_unique<quota_rule>(how, to));
  all.push_back(std::make_unique<evictions_rule>(how, to));
  all.push_back(std::make_unique<accounts_rule>(how, to));
  return all;
}

namespace {

std::vector<std::int64_t> devices_of(const std::string& text) {
  std::vector<std::int64_t> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, '|');) all.push_back(std::stoll(one));
  return all;
}

/// Reads a log line by line and tells the rules.
class reader {
 public:
  reader(const day_plan& plan, findings& to) : plan_(plan), now_(plan), to_(to) {}

  void read(std::istream& log) {
    log_line at;
    while (read_line(log, at)) take(at);
    if (!over_) throw std::runtime_error("the log ends before the day is over");
  }

 private:
  void take(const log_line& at) {
    const std::string& kind = at.word(0);
    if (kind == "option") return option(at);
    if (kind == "probe") return;  // for days.py
    if (rules_.empty()) rules_ = all_rules(how_, to_);
    if (kind == "decision") return decide(at);
    if (kind == "share") return share(at);
    if (kind == "refused") return refuse(at);
    if (open_ && !told_) tell();
    if (kind == "session") return open(at);
    if (kind == "event") return event(at);
    if (kind == "pod") return pod(at);
    if (kind == "moves") return moves(at);
    if (kind == "carried") return carried(at);
    if (kind == "over") return finish(at);
    fail(at, "unknown kind of line");
  }

  [[noreturn]] static void fail(const log_line& at, const std::string& why) {
    throw std::runtime_error("line " + std::to_string(at.number) + ": " + why);
  }

  void option(const log_line& at) {
    const std::string& name = at.word(1);
    std::string value = at.word(2);
    for (std::size_t w = 3; w < at.words.size(); ++w) value += "," + at.words[w];
    if (name == "preset") how_.preset = value;
    if (name == "mode") how_.mode = value;
    if (name == "actions") how_.actions = value;
    if (name == "period") how_.period = std::stoll(value);
    if (name == "grace") how_.grace = std::stoll(value);
    if (name == "host") how_.keeps = value == "keep";
    if (name == "host") how_.net = value == "net";
  }

  void open(const log_line& at) {
    if (open_) fail(at, "a session begins before the one before is carried out");
    const std::int64_t before = session_.number;
    session_ = {};
    session_.number = at.integer(1);
    session_.now = at.integer(2);
    session_.round = at.integer(3);
    if (session_.number != before + 1) fail(at, "a session is missing");
    started_.clear();
    open_ = true;
    told_ = false;
  }

  void decide(const log_line& at) {
    if (!open_ || told_) fail(at, "a decision outside of a session");
    decision one;
    one.kind = at.word(1);
    one.pod = now_.named(at.word(2));
    one.node = plan_.node_number.contains(at.word(3)) ? plan_.node_number.at(at.word(3)) : none;
    one.devices = devices_of(at.word(4));
    one.action = at.word(6);
    one.commit = at.integer(7);
    if (one.node == none) fail(at, "a decision without a node");
    session_.decisions.push_back(one);
  }

  void share(const log_line& at) {
    if (!plan_.queue_number.contains(at.word(1))) fail(at, "unknown queue");
    account& one = session_.accounts[plan_.queue_number.at(at.word(1))];
    for (std::size_t d = 0; d < 3; ++d) {
      one.fair[d] = at.integer(2 + d);
      one.request[d] = at.integer(5 + d);
      one.allocated[d] = at.integer(8 + d);
    }
  }

  void refuse(const log_line& at) {
    const std::int64_t commit = at.integer(1);
    std::erase_if(session_.decisions, [&](const decision& one) { return one.commit == commit; });
    session_.accounts.clear();  // they count what was refused
  }

  void tell() {
    told_ = true;
    for (const auto& one : rules_) one->before(now_, session_);
  }

  void event(const log_line& at) {
    const std::int64_t when = at.integer(1);
    const std::string& what = at.word(2);
    const bool of_node = what == "fail" || what == "back";
    const auto& names = of_node ? plan_.node_number : plan_.job_number;
    if (!names.contains(at.word(3))) fail(at, "an event of something unknown");
    const std::size_t subject = names.at(at.word(3));
    if (what == "submit") now_.submit(subject, when);
    if (of_node) now_.set_ready(subject, what == "back");
    if (what == "start" || what == "stop") progress(subject, when, what == "start");
    if (what == "end") end(at, subject, when);
    if (what == "start" || what == "stop") return;  // these follow from lines about pods
    for (const auto& one : rules_) one->happened(now_, when, what, subject);
  }

  void progress(std::size_t subject, std::int64_t when, bool starts) {
    job_now& one = now_.job(subject);
    const job_plan& row = plan_.jobs[subject];
    count_work(subject, when);
    one.progresses = starts;
    one.ever_started = one.ever_started || starts;
    if (starts) return;
    if (open_) ++one.stops;
    if (!row.checkpoints) one.left = row.run * row.pods;
  }

  /// Work until now, with the pods that ran since the last change.
  void count_work(std::size_t subject, std::int64_t when) {
    job_now& one = now_.job(subject);
    if (one.progresses) one.left = std::max<std::int64_t>(0, one.left - running_[subject] * (when - one.since));
    one.since = when;
    running_[subject] = one.count(status::running);
  }

  void end(const log_line& at, std::size_t subject, std::int64_t when) {
    count_work(subject, when);
    if (now_.jobs()[subject].left != 0 || !now_.jobs()[subject].progresses) {
      to_.violations.push_back({"accounts", session_.number, when, at.word(3), "", "ends before its work is done"});
    }
    now_.end(subject);
  }

  void pod(const log_line& at) {
    const std::int64_t when = at.integer(1);
    const pod_name which = now_.named(at.word(2));
    pod_now to;
    const std::string& is = at.word(3);
    to.is = is == "running"     ? status::running
            : is == "releasing" ? status::releasing
            : is == "claimed"   ? status::claimed
                                : status::pending;
    if (to.is != status::pending) {
      if (!plan_.node_number.contains(at.word(4))) fail(at, "a pod on an unknown node");
      to.node = plan_.node_number.at(at.word(4));
      to.devices = devices_of(at.word(5));
      to.share = at.integer(6);
    }
    if (open_) session_.changed = true;
    const pod_now& before = now_.pod(which);
    if (to.is == status::running && before.is != status::pending && before.is != status::claimed) {
      fail(at, "a pod starts that does not wait");
    }
    if (to.is == status::running && !now_.ready(to.node)) fail(at, "a pod starts on a node that is not ready");
    count_work(which.job, when);
    if (to.is == status::running && now_.jobs()[which.job].count(status::running) == 0)
      now_.job(which.job).last_start = when;
    if (to.is == status::running) {
      if (!open_) fail(at, "a pod starts outside of a session");
      started_.insert(which);
    }
    now_.set_pod(which, std::move(to));
    running_[which.job] = now_.jobs()[which.job].count(status::running);
  }

  void moves(const log_line& at) {
    const pod_name which = now_.named(at.word(2));
    pod_now to = now_.pod(which);
    if (to.is != status::releasing) fail(at, "a pod that does not leave has a place to go to");
    if (!plan_.node_number.contains(at.word(3))) fail(at, "a pod on an unknown node");
    to.next = plan_.node_number.at(at.word(3));
    to.next_devices = devices_of(at.word(4));
    now_.set_pod(which, std::move(to));
  }

  void carried(const log_line& at) {
    if (!open_ || at.integer(1) != session_.number) fail(at, "a session is carried out that was not held");
    open_ = false;
    check_carried(at);
    for (const auto& one : rules_) one->after(now_, session_);
  }

  /// What the host did is what was decided.
  void check_carried(const log_line& at) const {
    if (how_.net) return;  // such a host starts and drops more than sessions say
    std::map<pod_name, const decision*> last;
    for (const decision& one : session_.decisions) {
      if (one.kind != "pipeline") last[one.pod] = &one;
    }
    for (const auto& [which, one] : last) {
      if (!now_.jobs()[which.job].there) continue;
      const bool runs = now_.pod(which).is == status::running;
      if ((one->kind == "bind") != runs || (runs && now_.pod(which).node != one->node)) {
        fail(at, "pod " + now_.name(which) + " is not where the session decided");
      }
    }
    for (const pod_name& which : started_) {
      if (!last.contains(which)) fail(at, "pod " + now_.name(which) + " starts, and no session decided that");
    }
  }

  void finish(const log_line& at) {
    over_ = true;
    to_.figures["sessions"] = static_cast<double>(session_.number);
    to_.figures["seconds"] = static_cast<double>(at.integer(1)) / 1000;
    for (const auto& one : rules_) one->over(now_, at.word(2));
  }

  const day_plan& plan_;
  state now_;
  findings& to_;
  conditions how_;
  std::vector<std::unique_ptr<rule>> rules_;
  session_record session_;
  std::set<pod_name> started_;  ///< by the host, in this session
  std::map<std::size_t, std::int64_t> running_;
  bool open_ = false;
  bool told_ = false;
  bool over_ = false;
};

}  // namespace

findings judge(std::istream& day, std::istream& log) {
  const day_plan plan = read_plan(day);
  findings all;
  reader(plan, all).read(log);
  return all;
}

}  // namespace day_check
