#include "host/day.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace day_host {

namespace {

/// One line of the file, field by field.
class fields {
 public:
  fields(const std::string& line, std::string place) : place_(std::move(place)) {
    std::size_t from = 0;
    for (std::size_t comma = line.find(','); comma != std::string::npos; comma = line.find(',', from)) {
      all_.push_back(line.substr(from, comma - from));
      from = comma + 1;
    }
    all_.push_back(line.substr(from));
  }

  [[nodiscard]] std::string text() {
    if (next_ == all_.size()) throw std::runtime_error(place_ + ": a field is missing");
    return all_[next_++];
  }
  [[nodiscard]] std::int64_t number() {
    const std::string given = text();
    std::size_t used = 0;
    std::int64_t value = 0;
    try {
      value = std::stoll(given, &used);
    } catch (const std::exception&) {
      used = std::string::npos;
    }
    if (used != given.size()) throw std::runtime_error(place_ + ": \"" + given + "\" is no number");
    return value;
  }
  void end() const {
    if (next_ != all_.size()) throw std::runtime_error(place_ + ": too many fields");
  }

 private:
  std::string place_;
  std::vector<std::string> all_;
  std::size_t next_ = 0;
};

node_row read_node(fields& from) {
  node_row one;
  one.name = from.text();
  one.gpus = from.number();
  one.cpu = from.number();
  one.memory = from.number();
  one.pods = from.number();
  one.rack = from.text();
  return one;
}

queue_row read_queue(fields& from) {
  queue_row one;
  one.name = from.text();
  one.parent = from.text();
  one.priority = from.number();
  one.weight = from.number();
  one.quota_cpu = from.number();
  one.quota_gpu = from.number();
  one.limit_cpu = from.number();
  one.limit_gpu = from.number();
  one.reclaim_min = from.number();
  one.preempt_min = from.number();
  return one;
}

job_row read_job(fields& from) {
  job_row one;
  one.name = from.text();
  one.submit = from.number();
  one.run = from.number();
  one.queue = from.text();
  one.priority = from.number();
  one.preemptible = from.number() != 0;
  one.pods = from.number();
  one.least = from.number();
  one.gpu = from.number();
  one.cpu = from.number();
  one.memory = from.number();
  one.one_rack = from.number() != 0;
  one.checkpoints = from.number() != 0;
  return one;
}

outage_row read_outage(fields& from) {
  outage_row one;
  one.node = from.text();
  one.from = from.number();
  one.to = from.number();
  return one;
}

}  // namespace

day read_day(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be read");
  day all;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    fields from(line, file + ":" + std::to_string(number));
    const std::string kind = from.text();
    if (kind == "day") {
      if (from.number() != 1) throw std::runtime_error(file + ": a day of another version");
    } else if (kind == "node") {
      all.nodes.push_back(read_node(from));
    } else if (kind == "queue") {
      all.queues.push_back(read_queue(from));
    } else if (kind == "job") {
      all.jobs.push_back(read_job(from));
    } else if (kind == "outage") {
      all.outages.push_back(read_outage(from));
    } else {
      throw std::runtime_error(file + ":" + std::to_string(number) + ": unknown kind \"" + kind + "\"");
    }
    from.end();
  }
  std::stable_sort(all.jobs.begin(), all.jobs.end(),
                   [](const job_row& a, const job_row& b) { return a.submit < b.submit; });
  return all;
}

}  // namespace day_host
