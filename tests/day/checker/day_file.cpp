#include "checker/day_file.hpp"

#include <istream>
#include <stdexcept>

namespace day_check {

namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back().push_back(c);
    }
  }
  return words;
}

std::size_t number_of(const std::map<std::string, std::size_t>& names, const std::string& name, const log_line& at) {
  const auto found = names.find(name);
  if (found == names.end()) {
    throw std::runtime_error("line " + std::to_string(at.number) + ": unknown name " + name);
  }
  return found->second;
}

void add_node(const log_line& at, day_plan& to) {
  node_plan one;
  one.name = at.word(1);
  one.capacity = {at.integer(3), at.integer(4), at.integer(2) * whole};
  one.pods = at.integer(5);
  one.rack = at.word(6);
  to.node_number[one.name] = to.nodes.size();
  to.nodes.push_back(one);
}

void add_queue(const log_line& at, day_plan& to) {
  queue_plan one;
  one.name = at.word(1);
  const std::size_t number = to.queues.size();
  if (!at.word(2).empty()) {
    one.parent = number_of(to.queue_number, at.word(2), at);
    to.queues[one.parent].children.push_back(number);
  }
  one.priority = at.integer(3);
  one.weight = at.integer(4);
  one.quota = {at.integer(5), unlimited, at.integer(6)};
  one.limit = {at.integer(7), unlimited, at.integer(8)};
  one.reclaim_min = at.integer(9);
  one.preempt_min = at.integer(10);
  to.queue_number[one.name] = number;
  to.queues.push_back(one);
}

void add_job(const log_line& at, day_plan& to) {
  job_plan one;
  one.name = at.word(1);
  one.submit = at.integer(2);
  one.run = at.integer(3);
  one.queue = number_of(to.queue_number, at.word(4), at);
  one.priority = at.integer(5);
  one.preemptible = at.integer(6) != 0;
  one.pods = at.integer(7);
  one.least = at.integer(8);
  one.ask = {at.integer(10), at.integer(11), at.integer(9)};
  one.one_rack = at.integer(12) != 0;
  one.checkpoints = at.integer(13) != 0;
  to.job_number[one.name] = to.jobs.size();
  to.jobs.push_back(one);
}

}  // namespace

std::int64_t log_line::integer(std::size_t at) const {
  try {
    std::size_t used = 0;
    const std::int64_t value = std::stoll(word(at), &used);
    if (used == word(at).size()) return value;
  } catch (const std::logic_error&) {
  }
  throw std::runtime_error("line " + std::to_string(number) + ": \"" + word(at) + "\" is no number");
}

const std::string& log_line::word(std::size_t at) const {
  if (at >= words.size()) throw std::runtime_error("line " + std::to_string(number) + ": a word is missing");
  return words[at];
}

bool read_line(std::istream& from, log_line& to) {
  std::string line;
  while (std::getline(from, line)) {
    ++to.number;
    if (line.empty() || line.front() == '#') continue;
    to.words = split(line);
    return true;
  }
  return false;
}

day_plan read_plan(std::istream& from) {
  day_plan all;
  log_line at;
  while (read_line(from, at)) {
    if (at.word(0) == "node") add_node(at, all);
    if (at.word(0) == "queue") add_queue(at, all);
    if (at.word(0) == "job") add_job(at, all);
  }
  return all;
}

}  // namespace day_check
