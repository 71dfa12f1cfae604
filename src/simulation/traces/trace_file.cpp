#include "simulation/traces/trace_file.hpp"

#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/files.hpp"

namespace kaisched::simulation {

namespace {

/// Texts and what they are called, which must stay where they are.
struct profile_texts {
  std::vector<std::string> names;
  std::vector<std::string> texts;
  std::vector<io::named_text> views;
};

result<void> read_profiles(const trace_form& form, const std::string& profile, profile_texts& to) {
  if (profile.empty()) {
    if (!form.needs_profiles) return {};
    return error{
        status::argument,
        fmt::format("the form {} needs a profile: the folder with {}", form.name, fmt::join(form.profiles, ", ")),
        {}};
  }
  if (form.profiles.empty())
    return error{status::argument, fmt::format("a profile says nothing to the form {}", form.name), {}};
  for (const std::string_view file : form.profiles) {
    to.names.push_back(file.empty() ? profile : (std::filesystem::path(profile) / file).string());
    result<std::string> text = io::read_file(to.names.back());
    if (!text) return text.take_failure();
    to.texts.push_back(std::move(*text));
  }
  for (std::size_t i = 0; i < to.names.size(); ++i) to.views.push_back({to.names[i], to.texts[i]});
  return {};
}

}  // namespace

result<workload> read_trace_file(const std::string& file, const trace_form& form, const std::string& profile,
                                 const trace_options& options) {
  profile_texts profiles;
  if (auto read = read_profiles(form, profile, profiles); !read) return read.take_failure();
  const result<std::string> text = io::read_file(file);
  if (!text) return text.failure();
  return form.read({file == "-" ? "standard input" : file, *text}, profiles.views, options);
}

}  // namespace kaisched::simulation
