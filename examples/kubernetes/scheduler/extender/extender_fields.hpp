#pragma once
/// @file
/// The sections `extender`, which answers kube-scheduler, and `extenders`, the programs that are asked about pods that
/// wait, with how much that may take.

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <kaisched/abi.hpp>

#include "server/http_server.hpp"

namespace shim {

/// Without an address there is no extender.
struct extender_settings : server_options {
  extender_settings() {
    most_body = 64U << 20U;  // nodes may come as a whole
    workers = 8;             // some of them wait for locks of nodes
  }
  std::set<std::string, std::less<>> resources{
      ///< pods that ask for these need devices that somebody registers
      "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"};
  std::chrono::milliseconds lock_wait = std::chrono::seconds(3);   ///< for the lock of a node
  std::chrono::milliseconds handshake = std::chrono::seconds(15);  ///< how often nodes are looked at; 0: never
  kaisched::abi::options engine{{"preset", "hami"}, {"actions", "allocate"}};
};

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

}  // namespace shim
