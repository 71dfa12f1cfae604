#include "observability/metrics.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace shim {

namespace {

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
  return out;
}

/// `{a="b",c="d"}`, or nothing. @param bound of a bucket; empty: none.
std::string braces(const metrics::labels& of, std::string_view bound = {}) {
  std::string out;
  for (const auto& [name, value] : of) {
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value, true));
  }
  if (!bound.empty()) out += fmt::format("{}le=\"{}\"", out.empty() ? "" : ",", bound);
  return out.empty() ? out : "{" + out + "}";
}

std::string_view type_name(metrics::type kind) {
  switch (kind) {
    case metrics::type::counter:
      return "counter";
    case metrics::type::gauge:
      return "gauge";
    default:
      return "histogram";
  }
}

}  // namespace

void metrics::declare(family what) {
  const std::scoped_lock lock(mutex_);
  const std::string name = what.name;
  if (!families_.try_emplace(name, entry{std::move(what), {}}).second) {
    throw std::logic_error(fmt::format("metric {}: declared twice", name));
  }
}

metrics::entry& metrics::find(std::string_view name, type kind) {
  const auto found = families_.find(name);
  if (found == families_.end() || found->second.what.kind != kind) {
    throw std::logic_error(fmt::format("metric {}: there is no such {}", name, type_name(kind)));
  }
  return found->second;
}

metrics::series& metrics::touch(entry& in, const labels& of) {
  if (!in.all.contains(of) && in.all.size() >= in.what.most_series) {
    in.all.erase(std::min_element(in.all.begin(), in.all.end(),
                                  [](const auto& a, const auto& b) { return a.second.touched < b.second.touched; }));
  }
  series& one = in.all[of];
  one.touched = ++touches_;
  return one;
}

void metrics::add(std::string_view name, const labels& of, double amount) {
  const std::scoped_lock lock(mutex_);
  touch(find(name, type::counter), of).value += amount;
}

void metrics::set(std::string_view name, const labels& of, double value) {
  const std::scoped_lock lock(mutex_);
  touch(find(name, type::gauge), of).value = value;
}

void metrics::observe(std::string_view name, const labels& of, double value) {
  const std::scoped_lock lock(mutex_);
  entry& in = find(name, type::histogram);
  series& one = touch(in, of);
  const std::vector<double>& bounds = in.what.buckets;
  one.in.resize(bounds.size());
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), value);
  if (at != bounds.end()) ++one.in[static_cast<std::size_t>(at - bounds.begin())];
  one.value += value;
  ++one.count;
}

void metrics::replace(std::string_view name, const std::vector<std::pair<labels, double>>& all) {
  const std::scoped_lock lock(mutex_);
  entry& in = find(name, type::gauge);
  in.all.clear();
  for (const auto& [of, value] : all) touch(in, of).value = value;
}

std::string metrics::text() const {
  std::map<std::string, entry, std::less<>> now;
  {
    const std::scoped_lock lock(mutex_);
    now = families_;
  }
  std::string out;
  for (const auto& [name, one] : now) {
    if (one.all.empty()) continue;
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(one.what.help, false), name,
                       type_name(one.what.kind));
    for (const auto& [of, value] : one.all) {
      if (one.what.kind != type::histogram) {
        out += fmt::format("{}{} {}\n", name, braces(of), value.value);
        continue;
      }
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < one.what.buckets.size(); ++i) {
        sum += value.in[i];
        out += fmt::format("{}_bucket{} {}\n", name, braces(of, fmt::format("{}", one.what.buckets[i])), sum);
      }
      out += fmt::format("{}_bucket{} {}\n", name, braces(of, "+Inf"), value.count);
      out += fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, braces(of), value.value, name, braces(of), value.count);
    }
  }
  return out;
}

std::vector<double> exponential(double first, double factor, std::size_t count) {
  std::vector<double> all;
  for (double bound = first; all.size() < count; bound *= factor) all.push_back(bound);
  return all;
}

}  // namespace shim
