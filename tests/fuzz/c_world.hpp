#pragma once
/// @file
/// Handles of the C interface in any state, and calls on them that are checked against what the header says of all
/// functions: how errors are told, that a call that fails changes nothing, how long borrowed tables live.

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/kaisched.h>

#include "source.hpp"

namespace kaisched::fuzz {

/// All that a table holds as bytes. Ends the program if the table is not as the schema says.
std::string content(const kaisched_table* table);

/// A table that is still borrowed, and what it held when it was.
struct borrowed_table {
  const kaisched_table* table;
  std::string held;
};

/// What is known of a handle beside the handle itself.
struct known {
  std::vector<borrowed_table> tables;
  std::vector<std::pair<kaisched_checkpoint, std::string>> marks;  ///< of sessions: where the pods were
  std::string digest;                                              ///< of snapshots and clusters
  std::uint64_t references = 1;                                    ///< of snapshots
  bool exact = false;                                              ///< of sessions: mode strict
  bool cancelled = false;                                          ///< of sessions: the next action ends so
};

/// A few handles of one kind; empty places are NULL.
template <class T>
class pool {
 public:
  struct place {
    T* handle = nullptr;
    known facts;
  };
  /// An empty place only now and then, as long as there is another.
  place& pick(source& from) {
    const std::size_t first = from.below(places_.size());
    if (places_[first].handle != nullptr || from.one_in(8)) return places_[first];
    for (place& one : places_) {
      if (one.handle != nullptr) return one;
    }
    return places_[first];
  }
  [[nodiscard]] std::array<place, 3>& places() { return places_; }

 private:
  std::array<place, 3> places_;
};

class c_world {
 public:
  explicit c_world(source from) : from_(from) {}
  c_world(const c_world&) = delete;
  c_world& operator=(const c_world&) = delete;
  /// Gives everything back. Executors and parts have to have been told so after it.
  ~c_world();

  /// A cluster with something to decide, an engine, a session.
  void begin();
  /// One call that the input chooses.
  void step();
  [[nodiscard]] bool done() const { return from_.empty(); }
  /// A number for everything that calls have said so far.
  [[nodiscard]] std::uint64_t transcript() const { return transcript_; }

 private:
  using operation = void (c_world::*)();

  // ---- calls
  /// @param missing a value that is needed is NULL: the call has to say so.
  template <class Function, class... Arguments>
  bool call(std::uint32_t where, bool missing, Function function, Arguments... arguments) {
    kaisched_error error = KAISCHED_ERROR_INIT;
    std::memset(error.message, 'x', sizeof error.message);
    const bool silent = from_.one_in(8);
    return judge(where, missing, function(arguments..., silent ? nullptr : &error), silent ? nullptr : &error);
  }
  bool judge(std::uint32_t where, bool missing, kaisched_status status, const kaisched_error* error);
  void note(std::string_view text);
  template <class Function, class... Arguments>
  std::string text_of(std::uint32_t where, bool missing, Function function, Arguments... arguments);
  /// Takes a new handle in, in an empty place or instead of another one.
  template <class T>
  void keep(pool<T>& in, T* handle, known facts);
  template <class T>
  void give_back(typename pool<T>::place& place);
  void borrow(known& of, const kaisched_table* table);
  /// Asks for a table, mostly one of `count` kinds from the first one on.
  template <class Place, class Function>
  void read_table(Place& place, std::uint32_t where, Function function, std::uint32_t first, std::size_t count);
  void check_borrowed();
  [[nodiscard]] std::string digest_of(kaisched_cluster* cluster);
  [[nodiscard]] std::string places_of(kaisched_session* session);
  [[nodiscard]] std::string places_of_fork(const kaisched_session* session);
  void check_unchanged(pool<kaisched_cluster>::place& cluster, bool done);
  /// A cluster that goes on from the version before a delta says the same about it.
  void check_resumed(const kaisched_snapshot* before, const std::vector<const kaisched_table*>& delta, bool done,
                     const std::string& digest);

  // ---- values
  /// Mostly of that kind (kaisched_entity_kind).
  [[nodiscard]] kaisched_id id(std::uint32_t kind);
  [[nodiscard]] std::vector<kaisched_id> ids(std::uint32_t kind);
  [[nodiscard]] const char* option();
  [[nodiscard]] const char* value();
  [[nodiscard]] const char* action();
  [[nodiscard]] std::int64_t time() { return static_cast<std::int64_t>(from_.below(4)) * 1'000'000'000; }

  // ---- operations
  void make_engine();
  void set_engine();
  void get_engine();
  void add_part();
  void set_executor();
  void add_vendors();
  void drop_engine();
  void make_cluster();
  void apply();
  void find();
  void take_snapshot();
  void set_cluster();
  void assume();
  void report();
  void read_cluster();
  void drop_cluster();
  void read_snapshot();
  void share_snapshot();
  void save_and_load();
  void drop_snapshot();
  void open();
  void solve();
  void act();
  void cancel();
  void fork();
  void ask();
  bool explain(const kaisched_session* s, kaisched_answers** made);
  void scale();
  void federate();
  void mark();
  void roll_back();
  void place();
  void commit();
  void read_session();
  void drop_session();
  void read_answers();
  void drop_answers();
  void make_staging();
  void fill_staging();
  void read_staging();
  void drop_staging();
  void read_objects();
  void use_objects();
  void drop_objects();
  void describe();

  source from_;
  std::uint64_t transcript_ = 14695981039346656037U;
  pool<kaisched_engine> engines_;
  pool<kaisched_cluster> clusters_;
  pool<const kaisched_snapshot> snapshots_;
  pool<kaisched_session> sessions_;
  pool<kaisched_answers> answers_;
  pool<kaisched_staging> stagings_;
  pool<kaisched_objects> objects_;
};

}  // namespace kaisched::fuzz
