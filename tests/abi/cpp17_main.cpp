// First of two units that include abi.hpp, which comes first here: it needs nothing before it, and C++17.
#include <cstdio>

#include <kaisched/abi.hpp>

std::string digest_of(const kaisched::abi::snapshot& snapshot);

int main() {
  static_assert(__cplusplus < 202002L, "this program shows that C++17 is enough");
  kaisched::abi::cluster cluster;
  const kaisched::abi::snapshot snapshot = cluster.take_snapshot();
  return std::printf("%s\n", digest_of(snapshot).c_str()) == 65 ? 0 : 1;
}
