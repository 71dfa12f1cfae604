// Prints one line per case: every compiler, optimisation level and machine must print the same bytes.
// usage: kaisched_digest [N]     of the large clusters only each Nth
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "determinism/plays.hpp"

int main(int count, char** words) {
  const unsigned long every = count > 1 ? std::strtoul(words[1], nullptr, 10) : 1;
  if (count > 2 || every == 0) {
    std::fprintf(stderr, "usage: kaisched_digest [N]\n");
    return 2;
  }
  try {
    for (const std::string& line : kaisched::determinism::all_lines(every)) std::printf("%s\n", line.c_str());
  } catch (const std::exception& why) {
    std::fprintf(stderr, "error: %s\n", why.what());
    return 1;
  }
  return 0;
}
