#include "conformance/folder.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace kaisched::conformance {

namespace {

namespace fs = std::filesystem;

bool is_about_cases(const fs::path& file) {
  const std::string stem = file.stem().string();
  return std::none_of(stem.begin(), stem.end(), [](unsigned char c) { return std::islower(c) != 0; }) &&
         std::any_of(stem.begin(), stem.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

bool holds_cases(const fs::path& file) {
  const std::string extension = file.extension().string();
  return (extension == ".json" || extension == ".jsonl") && !is_about_cases(file);
}

std::vector<fs::path> files_below(const fs::path& root) {
  if (fs::is_regular_file(root)) return {root};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file() && holds_cases(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class folder_judge {
 public:
  explicit folder_judge(const folder_options& options) : options_(options) {}

  void file(const fs::path& path, const std::string& name) {
    if (name.find(options_.only) == std::string::npos) return;
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(name, "the file cannot be read");
    if (path.extension() != ".jsonl") {
      std::stringstream text;
      text << in.rdbuf();
      return text_of_case(name, text.str());
    }
    std::string line;
    for (std::uint64_t number = 1; std::getline(in, line); ++number) {
      if (line.find_first_not_of(" \t\r") != std::string::npos) {
        text_of_case(name + ":" + std::to_string(number), line);
      }
    }
  }

  [[nodiscard]] report take() { return std::move(report_); }

 private:
  void fail(const std::string& name, std::string why) { report_.add({name, {}, {{"schema", std::move(why)}}}); }

  void text_of_case(const std::string& name, const std::string& text) {
    const nlohmann::json one = nlohmann::json::parse(text, nullptr, false);
    if (one.is_discarded()) return fail(name, "not JSON");
    if (options_.supported_only && !in_reach(one)) return report_.add_skipped();
    verdict found = judge_case(one, options_.judge);
    if (options_.supported_only && found.unsupported() != nullptr) return report_.add_skipped();
    found.file = name;
    if (const auto schema = one.find("schema"); one.is_object() && schema != one.end() && schema->is_string())
      found.schema = schema->get<std::string>();
    report_.add(std::move(found));
  }

  const folder_options& options_;
  report report_;
};

}  // namespace

report judge_folder(const fs::path& root, const folder_options& options) {
  folder_judge judge(options);
  for (const fs::path& file : files_below(root)) {
    const fs::path name = file == root ? file.filename() : file.lexically_relative(root);
    judge.file(file, name.generic_string());
  }
  return judge.take();
}

}  // namespace kaisched::conformance
