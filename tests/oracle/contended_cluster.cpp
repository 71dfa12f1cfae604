#include "oracle/contended_cluster.hpp"

#include <algorithm>

namespace kaisched::test {

namespace {

using rows = cluster_rows;

constexpr std::int64_t second = 1'000'000'000;

class thrower {
 public:
  thrower(dice& d, const contended_size& size) : d_(d), size_(size) {
    priorities_ = !d_.one_in(3);
    runtimes_ = d_.one_in(4);
    cores_ = d_.one_in(3);
    limits_ = d_.one_in(3);
    mixed_ = d_.one_in(4);
    made_.now = 1000 * second;
  }

  contended_case all(const std::string& action) {
    throw_nodes();
    throw_queues();
    for (std::int64_t misses = 0; units_ < size_.units && misses < 4;) misses += throw_running() ? 0 : 1;
    if (!d_.one_in(3)) fill_nodes();
    const std::int64_t waiting = d_.between(1, 3);
    for (std::int64_t i = 0; i < waiting; ++i) throw_waiting(action);
    throw_options();
    return std::move(made_);
  }

 private:
  static std::string numbered(const char* letter, std::size_t n) { return letter + std::to_string(n); }
  void set(const char* option, std::string value) { made_.settings.emplace_back(option, std::move(value)); }

  void throw_nodes() {
    const std::int64_t count = d_.between(1, size_.nodes);
    const std::int64_t usual = d_.of<std::int64_t>({2, 4, 3, 1, 8});
    for (std::int64_t i = 0; i < count; ++i) {
      rows::node n;
      n.name = numbered("n", static_cast<std::size_t>(i));
      const std::int64_t gpus = d_.one_in(4) ? d_.of<std::int64_t>({1, 2, 3, 4, 0}) : usual;
      n.capacity = {cores_ ? d_.of<std::int64_t>({4, 6, 8, 12}) : 64, 64, gpus * whole_device, 110};
      n.unschedulable = d_.one_in(40);
      if (d_.one_in(6)) n.labels = {"zone", "east"};
      r().nodes.push_back(std::move(n));
    }
    free_.clear();
    for (const rows::node& n : r().nodes) free_.push_back(n.capacity);
  }

  void throw_queues() {
    const bool tree = d_.one_in(2);
    std::vector<std::string> parents;
    const std::int64_t roots = tree ? d_.between(1, 2) : 0;
    for (std::int64_t i = 0; i < roots; ++i) {
      parents.push_back(numbered("d", static_cast<std::size_t>(i)));
      throw_queue(parents.back(), "");
    }
    const std::int64_t leaves = d_.between(2, 3);
    for (std::int64_t i = 0; i < leaves; ++i) {
      leaves_.push_back(numbered("q", static_cast<std::size_t>(i)));
      throw_queue(leaves_.back(), tree && !d_.one_in(5) ? d_.of(parents) : "");
    }
  }

  void throw_queue(const std::string& name, const std::string& parent) {
    rows::queue q;
    q.name = name;
    q.parent = parent;
    q.created = d_.upto(2);
    if (d_.one_in(5)) q.priority = d_.of<std::int64_t>({100, 50, 200});
    std::int64_t gpus = 0;
    std::int64_t cores = 0;
    for (const rows::node& n : r().nodes) {
      gpus += n.capacity[dim_gpu] / whole_device;
      cores += n.capacity[dim_cpu];
    }
    q.quota[dim_gpu] = d_.upto(gpus / 2 + 1) * whole_device;
    if (d_.one_in(8)) q.quota[dim_gpu] = unlimited;
    if (cores_ && d_.one_in(2)) q.quota[dim_cpu] = d_.upto(cores);
    if (limits_ && d_.one_in(2)) q.limit[dim_gpu] = (1 + d_.upto(gpus)) * whole_device;
    if (limits_ && cores_ && d_.one_in(3)) q.limit[dim_cpu] = 2 + d_.upto(cores);
    q.weight[dim_gpu] = d_.of<double>({1, 1, 2, 3, 0});
    if (runtimes_) {
      q.reclaim_min_runtime = d_.of<std::int64_t>({unset, 60 * second, 0});
      q.preempt_min_runtime = d_.of<std::int64_t>({unset, 60 * second, 0});
    }
    r().queues.push_back(std::move(q));
  }

  rows::group throw_group(const char* letter) {
    rows::group g;
    g.name = numbered(letter, r().groups.size());
    g.queue = d_.of(leaves_);
    g.created = d_.upto(3);
    if (priorities_) g.priority = d_.of<std::int64_t>({50, 75, 25, 90});
    return g;
  }

  rows::pod ask() {
    rows::pod p;
    p.request = {cores_ ? d_.of<std::int64_t>({1, 2, 0, 4}) : 1, 1, d_.of<std::int64_t>({1, 2, 1, 3, 0}) * whole_device,
                 1};
    if (p.request[dim_gpu] == 0 && !cores_) p.request[dim_gpu] = whole_device;
    if (d_.one_in(25)) p.node_selector = {"zone", "east"};
    return p;
  }

  /// False: not all of its pods have a place, so there is no such group.
  bool throw_running() {
    rows::group g = throw_group("r");
    g.preemptible = !d_.one_in(6);
    const std::int64_t count = d_.of<std::int64_t>({1, 1, 2, 3, 4});
    g.min_member = d_.of<std::int64_t>({count, 1, d_.between(1, count)});
    if (runtimes_) g.last_start = made_.now - d_.of<std::int64_t>({100, 30, 59, 60}) * second;
    const std::int64_t units = !g.preemptible ? 0 : 1 + count - g.min_member;
    if (units_ + units > size_.units) return false;
    const std::vector<std::vector<std::int64_t>> before = free_;
    std::vector<rows::pod> pods;
    const rows::pod usual = ask();
    for (std::int64_t i = 0; i < count; ++i) {
      rows::pod p = mixed_ ? ask() : usual;
      p.name = g.name + numbered("-", static_cast<std::size_t>(i));
      p.group = g.name;
      p.status = d_.one_in(15) ? pod_status::releasing : pod_status::running;
      const std::vector<std::size_t> good = nodes_with_room(p);
      if (good.empty()) {
        free_ = before;
        return false;
      }
      const std::size_t n = d_.one_in(2) ? good.front() : d_.of(good);
      p.node = r().nodes[n].name;
      for (std::size_t k = 0; k < p.request.size(); ++k) free_[n][k] -= p.request[k];
      pods.push_back(std::move(p));
    }
    if (d_.one_in(10)) {  // one more that waits
      pods.push_back(usual);
      pods.back().name = g.name + "-more";
      pods.back().group = g.name;
    }
    units_ += units;
    r().groups.push_back(std::move(g));
    r().pods.insert(r().pods.end(), pods.begin(), pods.end());
    return true;
  }

  /// Most of what is free is held by groups that stay.
  void fill_nodes() {
    for (std::size_t n = 0; n < free_.size(); ++n) {
      const std::int64_t left = free_[n][dim_gpu] / whole_device - d_.upto(1);
      if (left <= 0 || d_.one_in(6)) continue;
      rows::group g = throw_group("f");
      g.preemptible = false;
      rows::pod p;
      p.name = g.name + "-0";
      p.group = g.name;
      p.request = {std::min<std::int64_t>(1, free_[n][dim_cpu]), 1, left * whole_device, 1};
      p.status = pod_status::running;
      p.node = r().nodes[n].name;
      for (std::size_t k = 0; k < p.request.size(); ++k) free_[n][k] -= p.request[k];
      r().groups.push_back(std::move(g));
      r().pods.push_back(std::move(p));
    }
  }

  std::vector<std::size_t> nodes_with_room(const rows::pod& p) const {
    std::vector<std::size_t> good;
    for (std::size_t n = 0; n < free_.size(); ++n) {
      bool fits = true;
      for (std::size_t k = 0; k < p.request.size(); ++k) fits = fits && p.request[k] <= free_[n][k];
      if (fits) good.push_back(n);
    }
    return good;
  }

  void throw_waiting(const std::string& action) {
    rows::group g = throw_group("w");
    g.preemptible = action == "consolidation" ? !d_.one_in(20) : !d_.one_in(3);
    if (priorities_ && action == "preempt") g.priority = d_.of<std::int64_t>({100, 90, 75});
    const std::int64_t count = d_.of<std::int64_t>({1, 1, 2, 3});
    g.min_member = d_.of<std::int64_t>({count, 1});
    const rows::pod usual = ask();
    for (std::int64_t i = 0; i < count; ++i) {
      rows::pod p = mixed_ ? ask() : usual;
      p.name = g.name + numbered("-", static_cast<std::size_t>(i));
      p.group = g.name;
      r().pods.push_back(std::move(p));
    }
    r().groups.push_back(std::move(g));
  }

  void throw_options() {
    if (d_.one_in(4)) set("placement.gpu", "spread");
    if (d_.one_in(4)) set("placement.cpu", "spread");
    if (d_.one_in(4)) set("signatures", "false");
    if (d_.one_in(8)) set("reference_path", "true");
    if (d_.one_in(6)) set("reclaim.saturation_multiplier", d_.of<std::string>({"1", "1.5", "2"}));
    if (!runtimes_) return;
    if (d_.one_in(2)) set("min_runtime.from", "queue");
    if (d_.one_in(2)) set("min_runtime.reclaim", "60");
    if (d_.one_in(2)) set("min_runtime.preempt", "60");
  }

  cluster_rows& r() { return made_.rows; }

  dice& d_;
  contended_size size_;
  contended_case made_;
  std::vector<std::string> leaves_;
  std::vector<std::vector<std::int64_t>> free_;  ///< by node
  std::int64_t units_ = 0;
  bool priorities_, runtimes_, cores_, limits_, mixed_;
};

}  // namespace

contended_case contended_cluster(dice& d, const std::string& action, const std::string& mode,
                                 const contended_size& size) {
  contended_case made = thrower(d, size).all(action);
  made.settings.emplace_back("mode", mode);
  made.settings.emplace_back("actions", (d.one_in(2) ? "allocate," : "") + action);
  return made;
}

}  // namespace kaisched::test
