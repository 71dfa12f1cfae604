#include <algorithm>
#include <limits>
#include <map>

#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/cycle/job_context.hpp"
#include "schedulers/volcano/cycle/queue_walk.hpp"

namespace kaisched::volcano {

namespace {

class allocation {
 public:
  explicit allocation(session& of) : session_(of), queues_(queue_first{&of}), jobs_(of) {}

  decisions run() {
    std::vector<row> last;
    for (row job = 0; job < session_.cluster().jobs.size(); ++job) {
      if (of(job).gave_way)
        last.push_back(job);
      else
        enter(job);
    }
    serve();
    std::ranges::stable_sort(last, {}, [this](row job) { return *of(job).gave_way; });
    for (const row job : last) {
      enter(job);
      serve();
    }
    return std::move(made_);
  }

 private:
  struct trial {
    std::vector<operation> operations;
    double score = 0;
    job_context left;
    std::map<row, std::string> domains;  ///< that sub-jobs would have
  };

  void serve() {
    while (!queues_.empty()) {
      const row queue = queues_.pop();
      if (session_.is_overused(queue)) continue;
      job_heap* jobs = jobs_.left_in(queue);
      if (jobs == nullptr) continue;
      const row job = jobs->pop();
      auto sheet = sheets_.find(job);
      if (sheet == sheets_.end()) sheet = sheets_.emplace(job, context_of(session_, job)).first;
      if (by_domains(job) ? in_domains(job, sheet->second) : anywhere(job, sheet->second)) {
        jobs->push(job);
      } else {
        sheets_.erase(sheet);
      }
      queues_.push(queue);
    }
  }

  [[nodiscard]] job_state& of(row job) { return session_.cluster().jobs[job]; }

  [[nodiscard]] bool by_domains(row job) { return has_hard_topology(of(job)) || of(job).has_rules; }

  void enter(row job) {
    job_state& one = of(job);
    if (one.sits_out) return;
    one.unplaced.clear();  // others may have left since it was tried
    if (one.phase == job_phase::pending) {
      if (session_.cluster().enqueues) return;
      one.phase = job_phase::inqueue;
    }
    if (!session_.is_valid(job) || one.queue == no_row || !has_waiting_tasks(session_, job)) return;
    if (jobs_.push(job) || queues_.empty()) queues_.push(one.queue);  // one that comes last finds no queue there
  }

  /// True: the job goes on later with what is left.
  bool anywhere(row job, job_context& of_job) {
    const auto found = of_job.sheets.find(0);
    if (found == of_job.sheets.end()) return false;
    sub_job_context& sheet = found->second;
    std::optional<statement> made = place_tasks(session_, job, sheet, session_.cluster().top_domain);
    if (!made || !session_.is_ready(job)) return false;
    made->commit(made_);
    return !sheet.tasks.empty();
  }

  bool in_domains(row job, job_context& sheet) {
    if (sheet.sub_jobs.empty()) return false;
    std::optional<trial> best;
    std::string domain;
    for (const std::vector<std::string>& gradient :
         session_.gradients(of(job), nullptr, session_.cluster().top_domain, policy::domain_search::allocate)) {
      for (const std::string& name : gradient) {
        std::optional<trial> found = try_job(job, sheet, name);
        if (!found || (best && found->score <= best->score)) continue;
        best = std::move(found);
        domain = name;
      }
      if (best) break;
    }
    if (!best) return false;
    statement made(session_);
    made.repeat(best->operations);
    sheet = std::move(best->left);
    if (!session_.is_ready(job)) return false;
    made.commit(made_);
    settle(job, domain, best->domains);
    return !sheet.sub_jobs.empty();
  }

  void settle(row job, const std::string& domain, const std::map<row, std::string>& of_sub_jobs) {
    const auto& domains = session_.cluster().domains;
    of(job).allocated_domain = domains.common_ancestor(of(job).allocated_domain, domain);
    for (const auto& [i, name] : of_sub_jobs) {
      sub_job_state& one = of(job).sub_jobs[i];
      one.allocated_domain = domains.common_ancestor(one.allocated_domain, name);
    }
  }

  /// Places sub-jobs of a job in a domain, and takes all back.
  std::optional<trial> try_job(row job, const job_context& sheet, const std::string& domain) {
    of(job).unplaced.clear();
    std::vector<std::string> before;
    for (const sub_job_state& one : of(job).sub_jobs) before.push_back(one.allocated_domain);
    trial tried{{}, 0, sheet, {}};
    statement all(session_);
    while (!tried.left.sub_jobs.empty()) {
      const row i = tried.left.sub_jobs.pop();
      sub_job_context& own = tried.left.sheets.at(i);
      double score = 0;
      std::optional<statement> made = place_sub_job(job, own, domain, score, tried.domains);
      if (!made || made->operations().empty()) continue;
      tried.score += score;
      all.merge(*made);
      if (!own.tasks.empty()) tried.left.sub_jobs.push(i);
      if (session_.is_ready(job)) break;
    }
    for (row i = 0; i < before.size(); ++i) of(job).sub_jobs[i].allocated_domain = before[i];
    const bool good = !all.operations().empty() && (session_.is_ready(job) || session_.is_pipelined(job));
    tried.operations = all.operations();
    all.discard();
    return good ? std::optional(std::move(tried)) : std::nullopt;
  }

  std::optional<statement> place_sub_job(row job, sub_job_context& sheet, const std::string& below, double& score,
                                         std::map<row, std::string>& domains) {
    if (sheet.tasks.empty()) return std::nullopt;
    const row i = sheet.sub_job;
    for (const std::vector<std::string>& gradient :
         session_.gradients(of(job), &of(job).sub_jobs[i], below, policy::domain_search::allocate)) {
      std::map<std::string, std::pair<std::vector<operation>, sub_job_context>, std::less<>> tried;
      for (const std::string& name : gradient) {
        std::erase_if(of(job).unplaced, [&](row task) { return session_.cluster().tasks[task].sub_job == i; });
        sub_job_context left = sheet;
        std::optional<statement> made = place_tasks(session_, job, left, name);
        if (!made || made->operations().empty()) continue;
        tried.emplace(name, std::pair(made->operations(), std::move(left)));
        made->discard();
      }
      if (tried.empty()) continue;
      std::vector<std::string> names;
      for (const auto& [name, found] : tried) names.push_back(name);
      std::string best;
      score = -std::numeric_limits<double>::infinity();
      for (const auto& [name, value] : session_.domain_scores(of(job), of(job).sub_jobs[i], names)) {
        if (value <= score) continue;
        score = value;
        best = name;
      }
      statement made(session_);
      made.repeat(tried.at(best).first);
      sheet = std::move(tried.at(best).second);
      std::string& allocated = of(job).sub_jobs[i].allocated_domain;
      allocated = session_.cluster().domains.common_ancestor(allocated, best);
      domains[i] = allocated;
      return made;
    }
    score = 0;
    return std::nullopt;
  }

  session& session_;
  queue_heap queues_;
  jobs_by_queue jobs_;
  std::map<row, job_context> sheets_;  ///< of jobs that have had a turn and go on
  decisions made_;
};

}  // namespace

decisions allocate(session& of) { return allocation(of).run(); }

}  // namespace kaisched::volcano
