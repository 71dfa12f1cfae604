#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Empty folders for grants and ledgers, gone with the test.
class folders {
 public:
  folders() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kaisched-agent-XXXXXX").string();
    top = mkdtemp(pattern.data());
    std::filesystem::create_directories(top / "grants");
    std::filesystem::create_directories(top / "ledgers");
  }
  folders(const folders&) = delete;
  folders& operator=(const folders&) = delete;
  ~folders() { std::filesystem::remove_all(top); }
  void grant(const std::string& tenant, const std::string& text) const {
    std::ofstream(top / "grants" / (tenant + ".json"), std::ios::binary) << text;
  }
  [[nodiscard]] std::string ledger(const std::string& tenant) const { return (top / "ledgers" / tenant).string(); }
  static std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  std::filesystem::path top;
};
