#pragma once
/// @file
/// Tables of the C interface that an input makes up: some that a host would send, and some that nobody should.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/kaisched.h>

#include "source.hpp"

namespace kaisched::fuzz {

/// Tables that own what they point to: as long as this lives, and at most as long as that.
class delta {
 public:
  explicit delta(source& from) : from_(from) {}

  void add_rows() {
    static constexpr std::array<void (delta::*)(), 8> kinds{&delta::pods,   &delta::pods,  &delta::moved,
                                                            &delta::groups, &delta::nodes, &delta::queues,
                                                            &delta::gone,   &delta::wrong};
    (this->*from_.pick(kinds))();
  }
  /// A small cluster: two nodes, two queues, three groups, pods that wait and pods that run.
  void add_cluster() {
    start(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 2);
    names(KAISCHED_NODE_COL_NAME, {"n0", "n1"});
    numbers<std::int64_t>(KAISCHED_NODE_COL_CAPACITY, 4, {8000, 1 << 30, 2000, 10, 8000, 1 << 30, 4000, 10});
    start(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 2);
    names(KAISCHED_QUEUE_COL_NAME, {"q0", "q1"});
    numbers<std::int64_t>(KAISCHED_QUEUE_COL_QUOTA, 3, {-1, -1, 3000, -1, -1, 3000});
    start(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 3);
    names(KAISCHED_POD_GROUP_COL_NAME, {"g0", "g1", "g2"});
    names(KAISCHED_POD_GROUP_COL_QUEUE, {"q0", "q1", "q0"});
    numbers<std::int64_t>(KAISCHED_POD_GROUP_COL_MIN_MEMBER, 1, {2, 1, 1});
    numbers<std::int64_t>(KAISCHED_POD_GROUP_COL_PRIORITY, 1, {50, 50, 100});
    start(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 5);
    names(KAISCHED_POD_COL_NAME, {"p0", "p1", "p2", "p3", "p4"});
    names(KAISCHED_POD_COL_GROUP, {"g0", "g0", "g1", "g1", "g2"});
    numbers<std::int64_t>(KAISCHED_POD_COL_REQUEST, 3,
                          {500, 0, 1000, 500, 0, 1000, 500, 0, 2000, 500, 0, 500, 1, 0, 2000});
    numbers<std::uint8_t>(KAISCHED_POD_COL_STATUS, 1,
                          {0, 0, KAISCHED_POD_STATUS_RUNNING, KAISCHED_POD_STATUS_RUNNING, 0});
    names(KAISCHED_POD_COL_NODE, {"", "", "n0", "n1", ""});
  }
  /// Nodes that can be had, by the names of their types: t0 and t1.
  void add_offers() {
    start(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 2);
    names(KAISCHED_NODE_COL_NAME, {"t0", "t1"});
    numbers<std::int64_t>(KAISCHED_NODE_COL_CAPACITY, 4, {8000, 1 << 30, 2000, 10, 8000, 1 << 30, 4000, 10});
  }
  /// What a federation takes: a queue, and two groups that wait.
  void add_line() {
    start(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1);
    names(KAISCHED_QUEUE_COL_NAME, {"q0"});
    numbers<std::int64_t>(KAISCHED_QUEUE_COL_LIMIT, 3, {-1, -1, 4000});
    start(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 2);
    names(KAISCHED_POD_GROUP_COL_NAME, {"f0", "f1"});
    names(KAISCHED_POD_GROUP_COL_QUEUE, {"q0", "q0"});
    start(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 2);
    names(KAISCHED_POD_COL_NAME, {"f0-0", "f1-0"});
    names(KAISCHED_POD_COL_GROUP, {"f0", "f1"});
    numbers<std::int64_t>(KAISCHED_POD_COL_REQUEST, 3, {500, 0, 1000, 500, 0, 2000});
  }
  /// The tables, one of them now and then NULL.
  std::vector<const kaisched_table*> pointers() {
    std::vector<const kaisched_table*> all;
    for (const std::unique_ptr<owned>& one : tables_) {
      std::vector<kaisched_col>& columns = one->columns;
      one->view.columns = columns.empty() ? nullptr : columns.data();
      one->view.column_count = static_cast<std::uint32_t>(columns.size());
      all.push_back(&one->view);
    }
    return all;
  }

 private:
  struct owned {
    kaisched_table view{};
    std::vector<kaisched_col> columns;
    std::vector<std::unique_ptr<std::vector<char>>> bytes;
    std::vector<std::unique_ptr<std::vector<std::uint32_t>>> offsets;
  };

  void start(std::uint32_t kind, std::uint32_t op, std::uint64_t rows) {
    tables_.push_back(std::make_unique<owned>());
    tables_.back()->view = {sizeof(kaisched_table), kind, op, 0, rows, nullptr};
  }
  [[nodiscard]] std::uint64_t rows() const { return tables_.back()->view.rows; }

  void names(std::uint32_t column, const std::vector<std::string>& texts) {
    owned& to = *tables_.back();
    auto bytes = std::make_unique<std::vector<char>>();
    auto offsets = std::make_unique<std::vector<std::uint32_t>>(1, 0);
    for (const std::string& text : texts) {
      bytes->insert(bytes->end(), text.begin(), text.end());
      offsets->push_back(static_cast<std::uint32_t>(bytes->size()));
    }
    to.columns.push_back({column, KAISCHED_TYPE_STRING, 0, 0, bytes->data(), offsets->data()});
    to.bytes.push_back(std::move(bytes));
    to.offsets.push_back(std::move(offsets));
  }
  template <class T>
  void numbers(std::uint32_t column, std::uint32_t width, const std::vector<T>& values) {
    owned& to = *tables_.back();
    auto bytes = std::make_unique<std::vector<char>>(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes->data(), values.data(), bytes->size());
    const std::uint32_t type = sizeof(T) == 1 ? KAISCHED_TYPE_U8 : KAISCHED_TYPE_I64;
    to.columns.push_back({column, type, width, 0, bytes->data(), nullptr});
    to.bytes.push_back(std::move(bytes));
  }
  std::vector<std::string> drawn(char letter, std::size_t count) {
    std::vector<std::string> all;
    for (std::uint64_t row = 0; row < rows(); ++row)
      all.push_back(from_.one_in(16) ? std::string() : letter + std::to_string(from_.below(count)));
    return all;
  }
  template <class T>
  std::vector<T> drawn(std::size_t per_row, std::initializer_list<T> values) {
    std::vector<T> all;
    for (std::size_t i = 0; i < rows() * per_row; ++i) all.push_back(values.begin()[from_.below(values.size())]);
    return all;
  }
  std::uint32_t add_or_change() {
    return from_.one_in(2) ? std::uint32_t{KAISCHED_OP_CHANGE} : std::uint32_t{KAISCHED_OP_ADD};
  }

  void pods() {
    start(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1 + from_.below(3));
    names(KAISCHED_POD_COL_NAME, drawn('p', 10));
    names(KAISCHED_POD_COL_GROUP, drawn('g', 5));
    numbers(KAISCHED_POD_COL_REQUEST, 3, drawn<std::int64_t>(3, {0, 0, 500, 1000, 1000, 2000, 300, -1}));
    if (from_.one_in(3)) {
      numbers(KAISCHED_POD_COL_STATUS, 1, drawn<std::uint8_t>(1, {0, 1, KAISCHED_POD_STATUS_RUNNING, 7, 9, 99}));
      names(KAISCHED_POD_COL_NODE, drawn('n', 3));
    }
  }
  void moved() {
    start(KAISCHED_TABLE_POD, KAISCHED_OP_CHANGE, 1 + from_.below(2));
    names(KAISCHED_POD_COL_NAME, drawn('p', 10));
    numbers(KAISCHED_POD_COL_STATUS, 1, drawn<std::uint8_t>(1, {6, 0, 5, 7, 9, 10, 3, 4}));
    names(KAISCHED_POD_COL_NODE, from_.one_in(3) ? std::vector<std::string>(rows()) : drawn('n', 3));
  }
  void groups() {
    start(KAISCHED_TABLE_POD_GROUP, add_or_change(), 1 + from_.below(2));
    names(KAISCHED_POD_GROUP_COL_NAME, drawn('g', 5));
    names(KAISCHED_POD_GROUP_COL_QUEUE, drawn('q', 3));
    numbers(KAISCHED_POD_GROUP_COL_MIN_MEMBER, 1, drawn<std::int64_t>(1, {0, 1, 2, 3, -5}));
    numbers(KAISCHED_POD_GROUP_COL_PRIORITY, 1, drawn<std::int64_t>(1, {50, 100, 125}));
  }
  void nodes() {
    start(KAISCHED_TABLE_NODE, add_or_change(), 1 + from_.below(2));
    names(KAISCHED_NODE_COL_NAME, drawn('n', 4));
    numbers(KAISCHED_NODE_COL_CAPACITY, 4, drawn<std::int64_t>(4, {8000, 2000, 4000, 1000, 0, 64}));
    numbers(KAISCHED_NODE_COL_READY, 1, drawn<std::uint8_t>(1, {1, 1, 0, 2}));
  }
  void queues() {
    start(KAISCHED_TABLE_QUEUE, add_or_change(), 1 + from_.below(2));
    names(KAISCHED_QUEUE_COL_NAME, drawn('q', 4));
    names(KAISCHED_QUEUE_COL_PARENT, from_.one_in(3) ? drawn('q', 4) : std::vector<std::string>(rows()));
    numbers(KAISCHED_QUEUE_COL_QUOTA, 3, drawn<std::int64_t>(3, {-1, 0, 1000, 2000}));
  }
  void gone() {
    static constexpr std::array<std::pair<std::uint32_t, char>, 4> kinds{{{KAISCHED_TABLE_POD, 'p'},
                                                                          {KAISCHED_TABLE_POD_GROUP, 'g'},
                                                                          {KAISCHED_TABLE_NODE, 'n'},
                                                                          {KAISCHED_TABLE_QUEUE, 'q'}}};
    const auto& [kind, letter] = from_.pick(kinds);
    start(kind, KAISCHED_OP_REMOVE, 1 + from_.below(2));
    names(1, drawn(letter, 6));
  }
  /// What no host should do, and some will.
  void wrong() {
    start(static_cast<std::uint32_t>(from_.below(100)), static_cast<std::uint32_t>(from_.below(5)), from_.below(3));
    tables_.back()->view.struct_size =
        static_cast<std::uint32_t>(from_.one_in(2) ? sizeof(kaisched_table) : from_.below(40));
    names(static_cast<std::uint32_t>(from_.below(40)), drawn('p', 10));
    numbers(static_cast<std::uint32_t>(from_.below(40)), static_cast<std::uint32_t>(from_.below(4)),
            drawn<std::int64_t>(4, {0, 1, 1000, INT64_MAX, INT64_MIN}));
    tables_.back()->columns.back().flags = from_.one_in(3) ? KAISCHED_COLUMN_OPTIONAL : 0;
  }

  source& from_;
  std::vector<std::unique_ptr<owned>> tables_;
};

}  // namespace kaisched::fuzz
