// Prints one line per case: every compiler, optimisation level and machine must print the same bytes.
#include <cstdio>
#include <exception>

#include "determinism/plays.hpp"

int main() {
  try {
    for (const std::string& line : kaisched::determinism::all_lines()) std::printf("%s\n", line.c_str());
  } catch (const std::exception& why) {
    std::fprintf(stderr, "error: %s\n", why.what());
    return 1;
  }
  return 0;
}
