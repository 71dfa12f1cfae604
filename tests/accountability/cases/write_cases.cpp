// Writes random clusters as files: FOLDER COUNT.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <kaisched/cluster.hpp>

#include "accountability/random_gangs.hpp"
#include "io/cluster_json.hpp"

using namespace kaisched;

namespace {

constexpr std::int64_t now = 1'000'000'000'000;

bool write(const std::filesystem::path& to, const std::vector<table>& tables) {
  cluster c;
  if (!c.apply(std::span<const table>(tables))) return false;
  const result<std::string> text = io::format_cluster_json(c.take_snapshot(), now);
  return text.ok() && static_cast<bool>(std::ofstream(to) << *text);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: kaisched_certificate_cases FOLDER COUNT\n";
    return 2;
  }
  const std::filesystem::path folder(words[1]);
  std::filesystem::create_directories(folder);
  const std::uint64_t cases = std::stoull(words[2]);
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    test::seeded_dice gangs(seed);
    test::seeded_dice others(seed);
    const std::string number = std::to_string(seed);
    if (!write(folder / ("gangs" + number + ".json"), test::random_gangs(gangs)) ||
        !write(folder / ("mixed" + number + ".json"), test::random_cluster(others).tables())) {
      std::cerr << "case " << seed << " cannot be written\n";
      return 1;
    }
  }
  return 0;
}
