/// The agent's look on the clock of the fake machine.   keeper GRANTS LEDGERS SECONDS MILLISECONDS_BETWEEN_LOOKS
#include "keeper.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <iostream>
#include <string>

namespace {

template <class Function>
Function find(const char* name) {
  void* const handle = dlopen("libcuda.so.1", RTLD_NOW);
  void* const address = handle == nullptr ? nullptr : dlsym(handle, name);
  if (address == nullptr) std::exit(3);
  Function function = nullptr;
  std::memcpy(&function, &address, sizeof function);
  return function;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  cuda_agent::keeper keeper({arguments[1], arguments[2], "", -1, 0});
  const std::int64_t end = std::stoll(arguments[3]) * 1'000'000'000, interval = std::stoll(arguments[4]) * 1'000'000;
  if (find<int (*)(unsigned)>("cuInit")(0) != 0) return 3;
  const auto sleep_until = find<void (*)(std::uint64_t)>("kaischedFakeSleepUntil");
  const cuda_agent::report first = keeper.look(0);
  for (const std::string& error : first.errors) std::cerr << error << std::endl;
  std::cout << "ready" << std::endl;
  for (std::int64_t now = interval; now <= end; now += interval) {
    sleep_until(static_cast<std::uint64_t>(now));
    const cuda_agent::report report = keeper.look(now);
    for (const std::string& error : report.errors) std::cerr << error << std::endl;
    if (std::getenv("KEEPER_SHOW") == nullptr) continue;
    for (const cuda_agent::card_row& card : report.cards)
      for (const cuda_agent::tenant_row& row : card.tenants)
        std::cerr << now / 1'000'000 << ' ' << row.tenant << " used " << row.used_permille << " now "
                  << row.state.limits.core_permille << std::endl;
  }
  return 0;
}
