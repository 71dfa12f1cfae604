#include <cstdio>

#include <kaisched/version.hpp>

int main() {
  std::printf("kaisched %s\n", KAISCHED_VERSION_STRING);
  return kaisched::version_string == KAISCHED_VERSION_STRING ? 0 : 1;
}
