// Lets every allocation of every call fail, one after the other: the call says that memory is missing and has changed
// nothing, and made again it gives what an undisturbed one gives. usage: kaisched_failed_allocations [NAME]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "calls.hpp"
#include "failing_heap.hpp"

namespace {

using namespace failed_allocations;
using failing_heap::failing;

constexpr long every_on_large_ones = 97;
constexpr long every_from_then_on = 5;  ///< allocations that fail together with all after them
constexpr int most_told = 5;            ///< faults of one call that are printed

struct tally {
  long calls = 0;
  long failed = 0;  ///< allocations
  long faults = 0;
};

class trial {
 public:
  trial(const call& of, tally& to) : of_(of), to_(to) {}

  /// Until no allocation fails. `every`: 1, or further apart.
  void run(long every) {
    {
      handles good;
      of_.prepare(good);
      before_ = seen(good);
      kaisched_error err = KAISCHED_ERROR_INIT;
      const kaisched_status status = of_.make(good, err);
      if (status != KAISCHED_OK) return fault(0, std::string("fails undisturbed: ") + err.message);
      after_ = seen(good);
      given_ = given(good);
    }
    for (long n = 1;; n += every) {
      const bool all = n % every_from_then_on == 0;
      if (!fail_at(n, failing::once)) break;
      if (all) (void)fail_at(n, failing::from_then_on);
    }
    ++to_.calls;
  }

 private:
  bool fail_at(long n, failing how) {
    const long before = failing_heap::live_blocks();
    const bool failed = attempt(n, how);
    if (failing_heap::live_blocks() == before) return failed;
    // What the library makes once for all calls may have been made now.
    const long again = failing_heap::live_blocks();
    (void)attempt(n, how);
    const long more = failing_heap::live_blocks() - again;
    if (more != 0 && told_ <= most_told) fault(n, std::to_string(more) + " blocks stay");
    return failed;
  }

  bool attempt(long n, failing how) {
    handles mine;
    of_.prepare(mine);
    kaisched_error err = KAISCHED_ERROR_INIT;
    failing_heap::arm(n, how);
    kaisched_status status = of_.make(mine, err);
    const bool failed = failing_heap::disarm();
    if (!failed) return false;
    ++to_.failed;
    if (status != KAISCHED_OK) {
      if (status != KAISCHED_E_NO_MEMORY)
        fault(n, std::string("is told as ") + kaisched_status_name(status) + ": " + err.message);
      else if (err.code != status || err.message[0] == '\0')
        fault(n, "the error has no code or text");
      if (of_.may_end_handle && is_over(mine)) return true;
      if (seen(mine) != before_) fault(n, "the failed call has changed its handles");
      err = KAISCHED_ERROR_INIT;
      status = of_.make(mine, err);
      if (status != KAISCHED_OK) {
        fault(n, std::string("fails again: ") + kaisched_status_name(status) + ": " + err.message);
        return true;
      }
    }
    if (given(mine) != given_) fault(n, "gives something else");
    if (seen(mine) != after_) fault(n, "leaves its handles in another state");
    return true;
  }

  /// It says so to every call.
  static bool is_over(handles& of) {
    kaisched_error err = KAISCHED_ERROR_INIT;
    if (of.federation != nullptr) {
      const kaisched_table* table = nullptr;
      return kaisched_federation_queues(of.federation, 0, &table, &err) == KAISCHED_E_STATE;
    }
    kaisched_checkpoint mark{};
    return kaisched_session_mark(of.session, &mark, &err) == KAISCHED_E_STATE;
  }

  void fault(long n, const std::string& what) {
    ++to_.faults;
    if (++told_ <= most_told) std::printf("%s, allocation %ld: %s\n", of_.name.c_str(), n, what.c_str());
  }

  const call& of_;
  tally& to_;
  std::string before_;
  std::string after_;
  std::string given_;
  int told_ = 0;
};

void run(const std::vector<call>& all, long every, const char* only, tally& to) {
  for (const call& one : all) {
    if (only != nullptr && one.name != only) continue;
    const long failed = to.failed;
    trial(one, to).run(every);
    if (only != nullptr) std::printf("%s: %ld failed allocations\n", one.name.c_str(), to.failed - failed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const char* const only = argc > 1 ? argv[1] : nullptr;
  tally all;
  run(calls(size_of_cluster::three_nodes), 1, only, all);
  run(calls_of_presets(), 1, only, all);
  run(calls(size_of_cluster::thirty_nodes), every_on_large_ones, only, all);
  std::printf("%ld calls, %ld failed allocations: %ld faults\n", all.calls, all.failed, all.faults);
  if (all.calls == 0) std::printf("no call of that name\n");
  return all.faults == 0 && all.calls > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
