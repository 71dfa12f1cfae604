#include "cli/recorded.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/scenario/scenario.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::cli {

struct recording_file::open_file {
  std::string path;
  std::FILE* file = nullptr;

  explicit open_file(std::string to) : path(std::move(to)), file(std::fopen(path.c_str(), "wb")) {}
  ~open_file() {
    if (file != nullptr) static_cast<void>(std::fclose(file));
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  [[nodiscard]] error failed() const {
    return {status::argument, fmt::format("{}: {}", path, std::generic_category().message(errno)), {}};
  }
};

recording_file::state::state(std::shared_ptr<open_file> to)
    : file(std::move(to)),
      writes(
          [f = file.get()](std::string_view bytes) -> result<void> {
            if (std::fwrite(bytes.data(), 1, bytes.size(), f->file) != bytes.size()) return f->failed();
            return {};
          },
          file->path.ends_with(".gz") ? io::recording_form::gzip : io::recording_form::plain) {}

recording_file::recording_file(std::unique_ptr<state> body) : body_(std::move(body)) {}

result<recording_file> recording_file::create(const std::string& path) {
  auto file = std::make_shared<open_file>(path);
  if (file->file == nullptr) return file->failed();
  return recording_file(std::make_unique<state>(std::move(file)));
}

result<void> recording_file::push() {
  if (std::fflush(body_->file->file) != 0) {
    body_->has_failed = true;
    return body_->file->failed();
  }
  return {};
}

result<void> recording_file::add(const engine& with, const session& of, std::int64_t now) {
  if (auto added = body_->writes.add(with, of, now); !added) {
    body_->has_failed = true;
    return added;
  }
  return push();
}

result<void> recording_file::finish() {
  if (auto ended = body_->writes.finish(); !ended) return ended;
  return push();
}

std::optional<std::size_t> decided_again::difference() const {
  const auto [a, b] =
      std::mismatch(decisions.begin(), decisions.end(), recorded.decisions.begin(), recorded.decisions.end());
  if (a == decisions.end() && b == recorded.decisions.end()) return std::nullopt;
  return static_cast<std::size_t>(a - decisions.begin());
}

std::string decided_again::line(const std::vector<std::string>& of, std::size_t at) {
  constexpr std::string_view prefix = "expect ";
  if (at >= of.size()) return "nothing more";
  return of[at].starts_with(prefix) ? of[at].substr(prefix.size()) : of[at];
}

bool tells_anything(const policy_arguments& told) {
  return !told.preset.empty() || !told.mode.empty() || !told.placement.empty() || !told.actions.empty() ||
         !told.settings.empty();
}

namespace {

/// The options of a session, then what is told besides, as OPTION=VALUE. Another preset replaces all that was set.
std::vector<std::string> joined(const io::recorded_session& of, const policy_arguments& besides) {
  std::vector<std::string> all{"preset=" + (besides.preset.empty() ? of.preset : besides.preset)};
  if (besides.preset.empty()) {
    for (const auto& [name, value] : of.options) all.push_back(fmt::format("{}={}", name, value));
  }
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) all.push_back(fmt::format("{}={}", option, value));
  };
  add("mode", besides.mode);
  add("actions", besides.actions);
  add("placement.gpu", besides.placement);
  add("placement.cpu", besides.placement);
  all.insert(all.end(), besides.settings.begin(), besides.settings.end());
  return all;
}

}  // namespace

result<io::scenario_settings> settings_of(const io::recorded_session& of, const policy_arguments& besides) {
  return io::read_settings(joined(of, besides));
}

result<std::string> session_as_scenario(const io::recorded_session& of, const snapshot& over,
                                        const io::scenario_settings& settings,
                                        const std::vector<std::string>& expectations) {
  using io::scenario_text::quoted_if_needed;
  result<std::string> text = io::format_scenario(over, of.now, fmt::format("session {} of a recording", of.number));
  if (!text) return text;
  // Options stand before everything else but the title.
  std::string options;
  for (const auto& [name, value] : settings) {
    options += fmt::format("option {}={}\n", name, quoted_if_needed(value, io::scenario_text::text_place::value));
  }
  text->insert(text->find('\n') + 1, options);
  *text += "\nrun\n";
  for (const std::string& line : expectations) *text += line + "\n";
  return text;
}

namespace {

/// What the decisions of a session are about: texts in a total order.
struct decided_pods {
  std::set<std::string_view> starts;                            ///< pods
  std::set<std::string_view> stops;                             ///< pods
  std::set<std::pair<std::string_view, std::string_view>> all;  ///< what is decided of a pod, and where

  explicit decided_pods(const std::vector<std::string>& lines) {
    constexpr std::string_view front = "expect ";
    for (std::string_view line : lines) {
      if (line.starts_with(front)) line.remove_prefix(front.size());
      const std::size_t verb_end = line.find(' ');
      if (verb_end == std::string_view::npos) continue;  // nothing
      const std::string_view verb = line.substr(0, verb_end);
      const std::size_t pod_end = std::min(line.find(' ', verb_end + 1), line.size());
      const std::string_view pod = line.substr(verb_end + 1, pod_end - verb_end - 1);
      if (verb == "unschedulable") continue;  // a reason
      if (verb == "bind" || verb == "pipeline" || verb == "move") starts.insert(pod);
      if (verb == "evict" || verb == "move") stops.insert(pod);
      const std::size_t place_end = std::min({line.find(" action="), line.find(" commit="), line.size()});
      all.emplace(verb, line.substr(verb_end + 1, place_end - verb_end - 1));
    }
  }
  /// Pods that one session binds and stops.
  [[nodiscard]] bool starts_and_stops() const {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) {
      return one.first == "bind" && stops.contains(one.second.substr(0, one.second.find(' ')));
    });
  }
};

}  // namespace

std::string_view name_of(changed_decisions kind) {
  constexpr std::array names{"none", "withdrawn", "starts", "stops", "places", "order"};
  return names[static_cast<std::size_t>(kind)];
}

changed_decisions changed_between(const std::vector<std::string>& recorded, const std::vector<std::string>& decided) {
  if (recorded == decided) return changed_decisions::none;
  const decided_pods before(recorded);
  const decided_pods now(decided);
  if (before.starts_and_stops() && !now.starts_and_stops()) return changed_decisions::withdrawn;
  if (before.starts != now.starts) return changed_decisions::starts;
  if (before.stops != now.stops) return changed_decisions::stops;
  return before.all == now.all ? changed_decisions::order : changed_decisions::places;
}

result<replayed> decide_again(const std::string& bytes, const policy_arguments& besides,
                              const std::function<bool(const decided_again&, io::recording&)>& see) {
  result<io::recording> from = io::recording::open(bytes);
  if (!from) return from.take_failure();
  replayed all;
  std::optional<engine> with;
  std::string preset;
  std::vector<std::pair<std::string, std::string>> options;
  for (;;) {
    const result<bool> more = from->next();
    if (!more) return more.failure();
    if (!*more) break;
    const io::recorded_session& recorded = from->session();
    const auto about = [&](const error& why) {
      return error{why.code, fmt::format("session {}: {}", recorded.number, why.message), {}};
    };
    if (!with || preset != recorded.preset || options != recorded.options) {
      result<engine> made = make_engine(
          {.preset = {}, .mode = {}, .placement = {}, .actions = {}, .settings = joined(recorded, besides)});
      if (!made) return about(made.failure());
      with.emplace(std::move(*made));
      preset = recorded.preset;
      options = recorded.options;
    }
    const result<kaisched::session> ran = with->run(from->state(), recorded.now);
    if (!ran) return about(ran.failure());
    result<std::vector<std::string>> lines = io::expected_decisions(*ran);
    if (!lines) return about(lines.failure());
    ++all.sessions;
    if (!see({recorded, ran->digest(), std::move(*lines)}, *from)) break;
  }
  all.truncated = from->truncated();
  return all;
}

}  // namespace kaisched::cli
