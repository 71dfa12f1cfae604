#pragma once
/// @file
/// Which other programs are asked about pods that wait, and how much that may take.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace YAML {
class Node;
}

namespace shim {

/// One that answers as an extender of kube-scheduler does.
struct asked_extender {
  std::string url;
  std::string filter;      ///< path of the question which nodes are left; empty: it is not asked
  std::string prioritize;  ///< path of the question which ones are better; empty: likewise
  unsigned weight = 1;     ///< of its points
  std::chrono::milliseconds timeout = std::chrono::seconds(1);
  bool ignorable = false;              ///< pods start without its answer
  std::vector<std::string> resources;  ///< pods that ask for none of them are not asked about; none: all pods are
  std::filesystem::path token_file;    ///< read again for every request
  std::filesystem::path ca;            ///< PEM; empty: what the system trusts
};

struct extenders_settings {
  std::vector<asked_extender> all;
  std::chrono::milliseconds cycle = std::chrono::seconds(2);  ///< of each cycle, that all of them may take
  unsigned requests = 200;                                    ///< of each cycle
  std::chrono::milliseconds keep = std::chrono::seconds(30);  ///< how old an answer may be
};

/// A list. Errors: bad_input, bad_field.
void read_extenders(const YAML::Node& value, extenders_settings& to);
/// A map with `time`, `requests`, `keep`.
void read_extender_limits(const YAML::Node& value, extenders_settings& to);

/// Paths that are not absolute are those of the configuration's folder.
void resolve_paths(extenders_settings& of, const std::filesystem::path& folder);

}  // namespace shim
