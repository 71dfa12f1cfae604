#include "io/kubernetes/object_cache.hpp"

#include <utility>

#include <fmt/format.h>

#include <kaisched/vendors.hpp>

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view cache_source = "text";

struct read_text {
  std::shared_ptr<const json_document> document;
  std::vector<object> objects;
};

result<read_text> read_objects(std::string_view text) {
  result<json_document> parsed = json_document::parse_stream(text, cache_source);
  if (!parsed) return parsed.take_failure();
  auto document = std::make_shared<const json_document>(std::move(*parsed));
  result<std::vector<object>> objects = collect_objects(*document, cache_source);
  if (!objects) return objects.take_failure();
  return read_text{std::move(document), std::move(*objects)};
}

}  // namespace

object_cache::key object_cache::key_of(const object& of) {
  const object_kind kind = kind_of(of);
  return {kind, kind == object_kind::other ? fmt::format("{}/{}", of.group(), of.kind()) : std::string{},
          of.full_name()};
}

void object_cache::note(const key& changed) {
  const auto& [kind, other, name] = changed;
  if (kind == object_kind::pod) changed_pods_.push_back(name);
  // Names of labels and schedulers, and tiers, which every pod is read with.
  if (kind == object_kind::hyper_node || other == "kai.scheduler/Config" || other == "kai.scheduler/SchedulingShard") {
    for (auto& [of, one] : objects_) one.memory.is_plain = false;
  }
}

void object_cache::forget() noexcept {
  for (auto& [of, one] : objects_) one.memory.is_plain = false;
  changed_pods_.clear();
  feed_.restart();
}

result<void> object_cache::put(std::string_view text) {
  result<read_text> read = read_objects(text);
  if (!read) return read.take_failure();
  for (object& one : read->objects) {
    key of = key_of(one);
    note(of);
    objects_.insert_or_assign(std::move(of), entry{read->document, std::move(one)});
  }
  return {};
}

result<void> object_cache::remove(std::string_view text) {
  result<read_text> read = read_objects(text);
  if (!read) return read.take_failure();
  for (const object& one : read->objects) {
    const key of = key_of(one);
    if (!objects_.contains(of)) continue;
    note(of);
    objects_.erase(of);
  }
  return {};
}

result<object_cache::version> object_cache::take(std::int64_t now) {
  if (settings_.vendors == nullptr) {
    result<std::shared_ptr<const device_catalog>> shipped = shipped_device_catalog();
    if (!shipped) return shipped.take_failure();
    settings_.vendors = std::move(*shipped);
  }
  settings_.now = now;
  std::vector<object> all;
  std::vector<pod_memory*> memories;
  all.reserve(objects_.size());
  memories.reserve(objects_.size());
  for (auto& [of, one] : objects_) {
    one.memory.is_kept = false;
    all.push_back(one.read);  // a copy: faults are of one translation
    memories.push_back(&one.memory);
  }
  // What is half taken in is taken in anew by the next call.
  struct undo {
    object_cache& of;
    bool is_over = false;
    ~undo() {
      if (!is_over) of.forget();
    }
  } unless_done{*this};
  translated_rows made = translate_objects(std::move(all), memories, settings_, settings_.vendors);
  std::vector<std::string> read_again = std::exchange(changed_pods_, {});
  for (const auto& [of, one] : objects_) {
    if (std::get<0>(of) == object_kind::pod && !one.memory.is_kept) read_again.push_back(std::get<2>(of));
  }
  result<snapshot> taken = feed_.update(std::move(made.rows), std::move(read_again));
  if (!taken) return taken.take_failure();
  unless_done.is_over = true;
  return version{std::move(*taken), std::move(made.names), std::move(made.faults), now};
}

}  // namespace kaisched::io::kubernetes
