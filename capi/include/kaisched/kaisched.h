#ifndef KAISCHED_KAISCHED_H
#define KAISCHED_KAISCHED_H
/// @file
/// The C interface of kaisched, a deterministic scheduling engine for clusters of GPUs. C99, self-contained.
///
///     cluster --snapshot--> snapshot --run(engine)--> session --table--> decisions, reasons, shares
///
/// **Ownership.** `create`, `open`, `run`, `load` and `cluster_snapshot` give a handle to the caller, who gives it back
/// with `destroy`, `release` or `close`; all three take NULL and do nothing then. Handles do not need each other: a
/// snapshot outlives its cluster, a session its engine and its snapshot. Input is copied during the call. Tables that a
/// function returns are borrowed: they live as long as the handle that they were asked of. Nothing else is to be freed.
///
/// **Threads.** A `const` handle may be used by several threads at once, as long as no thread uses it as non-`const`;
/// a non-`const` handle needs exclusive use; only kaisched_session_cancel may come from elsewhere meanwhile. Any thread
/// may make any call. The library has no global state and starts no threads; two handles never disturb each other
/// unless one was given to a call on the other.
///
/// **Errors.** Fallible functions return a status: 0 if the call ran, a negative number if it did not. Whether
/// something could be scheduled is never a status: it is a row of a table. A failed call changes nothing, except that
/// its output values are 0 or NULL. The last parameter takes a `kaisched_error` of the caller, or NULL, and is written
/// by every call: code 0 and an empty message if the call ran. NULL where a value is needed is KAISCHED_E_ARGUMENT.
/// Out-of-memory is a status as well; no function throws, prints or ends the process.
///
/// **Determinism.** Equal snapshots (see kaisched_snapshot_digest), equal options, equal time: equal decisions, byte
/// for byte, on every machine, compiler and number of threads. The library reads no clock and no environment.
///
/// **Versions.** Structures start with `struct_size`, set by whoever owns the memory. A reader uses the smaller of its
/// own size and the given one, and what is missing counts as zero, which is always the default; a size smaller than
/// that of the first version is KAISCHED_E_STRUCT_SIZE. Structures that may grow are passed in arrays of pointers;
/// `kaisched_col` and `kaisched_kv` are passed in plain arrays and never grow. Numbers of enumerations are never
/// reused. A kind of table or a column that the library does not know is KAISCHED_E_UNSUPPORTED, never ignored, unless
/// the column has the flag KAISCHED_COLUMN_OPTIONAL; an unknown option is KAISCHED_E_NOT_FOUND.
///
/// **Texts** are UTF-8. Functions that write a text or bytes take a buffer, its capacity and an optional `needed`,
/// which receives the size wanted (with the final NUL for texts). A NULL buffer only asks for the size; one that is too
/// small is KAISCHED_E_LIMIT, and nothing is written into it.
///
/// **Quantities** are int64 in fixed units: milli-cores, bytes, milli-GPU, counts; times and durations are nanoseconds.
/// Plain numbers of the interface (`uint32_t`) carry the values of the enumerations named in their comments.
///
/// Functions that have no thread note follow the rule above. All are there since 0.1.

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KAISCHED_API __attribute__((visibility("default")))
#else
#define KAISCHED_API
#endif
#ifdef __cplusplus
#define KAISCHED_NOEXCEPT noexcept
extern "C" {
#else
#define KAISCHED_NOEXCEPT
#endif

/// Version of the library that this header belongs to.
#define KAISCHED_VERSION_MAJOR 0
#define KAISCHED_VERSION_MINOR 1
#define KAISCHED_VERSION_PATCH 0

/// Version of this interface: major in the upper, minor in the lower 16 bits. Within one major version it only grows.
#define KAISCHED_ABI_VERSION 0x00000002u

/// @return the KAISCHED_ABI_VERSION that the loaded library was built with.
KAISCHED_API uint32_t kaisched_abi_version(void) KAISCHED_NOEXCEPT;

// ---- types ---------------------------------------------------------------------------------------------------------

typedef struct kaisched_engine kaisched_engine;          ///< options and the registry of policy parts
typedef struct kaisched_cluster kaisched_cluster;        ///< mutable model of a cluster, fed by tables; one writer
typedef struct kaisched_snapshot kaisched_snapshot;      ///< immutable version of a cluster, counted references
typedef struct kaisched_session kaisched_session;        ///< one run over one snapshot
typedef struct kaisched_answers kaisched_answers;        ///< answers to questions about a session, immutable
typedef struct kaisched_scaling kaisched_scaling;        ///< which nodes to add and which to give back, immutable
typedef struct kaisched_federation kaisched_federation;  ///< clusters that share one line and one tree of queues
typedef struct kaisched_federated kaisched_federated;    ///< what a federation has decided, immutable
typedef struct kaisched_objects kaisched_objects;        ///< objects of Kubernetes as tables, immutable
/// Objects of Kubernetes that change one by one, and the cluster that they make.
typedef struct kaisched_object_cache kaisched_object_cache;
typedef struct kaisched_recorder kaisched_recorder;    ///< writes sessions as bytes
typedef struct kaisched_recording kaisched_recording;  ///< reads them back, one by one
typedef struct kaisched_staging kaisched_staging;      ///< an input table in memory of the library

/// 0: the call ran; negative: it did not. One of kaisched_status_code.
typedef int32_t kaisched_status;

/// Stable identifier of one entity of one cluster: kind (4 bits, kaisched_entity_kind), generation (28), slot (32).
/// 0 names nothing. An identifier of a removed entity is never valid again.
typedef uint64_t kaisched_id;

/// Why a call failed. Memory of the caller, nothing to free, 256 bytes for ever. Start with KAISCHED_ERROR_INIT.
typedef struct kaisched_error {
  uint32_t struct_size;  ///< sizeof(kaisched_error), set by the caller; anything less is KAISCHED_E_STRUCT_SIZE
  int32_t code;          ///< kaisched_status_code
  uint32_t where;        ///< the function that was called, kaisched_function
  uint32_t pad;          ///< 0
  kaisched_id subject;   ///< the entity concerned, else the identifier that names none, else 0
  char message[232];     ///< one sentence that names object and field; cut to fit, always ends with a NUL
} kaisched_error;
/// Initializer of a kaisched_error.
#define KAISCHED_ERROR_INIT {sizeof(kaisched_error), 0, 0, 0, 0, {0}}

/// One column: a typed array with `width` values per row. Ragged columns (string, string_list, i64_list) have
/// `offsets`, rows + 1 of them, ascending from 0; row i is `data[offsets[i]] .. data[offsets[i + 1]]`, exclusive. Size:
/// 32 bytes for ever.
typedef struct kaisched_col {
  uint32_t id;              ///< column of the table's kind, such as KAISCHED_NODE_COL_NAME
  uint32_t type;            ///< kaisched_column_type
  uint32_t width;           ///< values per row: 1, or the number of dimensions given; 0 for ragged columns
  uint32_t flags;           ///< 0 or KAISCHED_COLUMN_OPTIONAL
  const void* data;         ///< values, aligned to their size; may be NULL if there are none
  const uint32_t* offsets;  ///< NULL unless ragged
} kaisched_col;

/// One table, the only bulk carrier for input and output.
typedef struct kaisched_table {
  uint32_t struct_size;         ///< sizeof(kaisched_table)
  uint32_t kind;                ///< kaisched_table_kind
  uint32_t op;                  ///< kaisched_table_op; KAISCHED_OP_NONE in output
  uint32_t column_count;        ///< number of columns
  uint64_t rows;                ///< number of rows, equal in all columns
  const kaisched_col* columns;  ///< `column_count` columns in any order, each id at most once
} kaisched_table;

/// One option and its value, both texts. Size: two pointers for ever.
typedef struct kaisched_kv {
  const char* key;
  const char* value;
} kaisched_kv;

/// A position in the statement of a session, see kaisched_session_mark. Size: 8 bytes for ever.
typedef struct kaisched_checkpoint {
  uint32_t depth;
  uint32_t statement;  ///< number of commits before: a checkpoint dies with its statement
} kaisched_checkpoint;

/// How much kaisched_session_remedies tries. Numbers that are 0 stand for the default.
typedef struct kaisched_remedy_limits {
  uint32_t struct_size;     ///< sizeof(kaisched_remedy_limits), set by the caller
  uint32_t trials;          ///< sessions that are opened to try something, for each group; 96
  uint32_t together;        ///< changes of so many kinds at once, if fewer do not help; 2
  uint32_t node_kinds;      ///< kinds of nodes to add; 4
  uint32_t new_nodes;       ///< of one kind; 1024
  uint32_t eviction_steps;  ///< sets of victims and placements that each action that evicts may try; 1000
  uint32_t no_evictions;    ///< 1: do not ask the actions that evict
  uint32_t no_new_nodes;    ///< 1: do not add nodes
} kaisched_remedy_limits;

/// How much kaisched_session_what_if tries. Numbers that are 0 stand for the default.
typedef struct kaisched_what_if_limits {
  uint32_t struct_size;      ///< sizeof(kaisched_what_if_limits), set by the caller
  uint32_t eviction_steps;   ///< sets of victims and placements that each action that evicts may try; 1000
  uint32_t ends;             ///< points in time at which groups end; 256
  uint32_t no_displacement;  ///< 1: do not ask consolidation, reclaim and preempt
  uint32_t no_times;         ///< 1: do not ask when groups would start
  uint32_t policy_actions;   ///< 1: at these points the allocate and backfill of the policy decide, not allocate alone
} kaisched_what_if_limits;

/// So many nodes of a type, one after the other, share a value of a label that no other nodes have: a new rack. Size:
/// 16 bytes for ever.
typedef struct kaisched_new_domain {
  const char* label;  ///< key, such as a level of a topology
  int64_t nodes;      ///< of one value; at least 1
} kaisched_new_domain;

/// A type of nodes that can be had, see kaisched_scale.
typedef struct kaisched_node_type {
  uint32_t struct_size;                ///< sizeof(kaisched_node_type), set by the caller
  uint32_t domain_count;               ///< of `domains`
  const char* name;                    ///< of a row of the node tables, which the new nodes are like
  int64_t price;                       ///< of one node for an hour, in a unit of the host's choice; 0 or more
  int64_t most;                        ///< nodes that can be added
  const kaisched_new_domain* domains;  ///< what a copied label cannot say; may be NULL if there are none
} kaisched_node_type;

/// What kaisched_scale is asked. Numbers that are 0 stand for the default.
typedef struct kaisched_scale_question {
  uint32_t struct_size;       ///< sizeof(kaisched_scale_question), set by the caller
  uint32_t strategy;          ///< kaisched_scale_strategy
  const char* const* queues;  ///< only groups of these queues and those below; may be NULL if there are none: of all
  size_t queue_count;
  const char* const* groups;  ///< only these; with `queues`: and these as well
  size_t group_count;
  const char* type_label;  ///< label that names the type of a node; NULL: node.kubernetes.io/instance-type
  uint32_t verifications;  ///< sessions that are opened to try something, for each of the two questions; 400
  uint32_t no_up;          ///< 1: do not ask which nodes to add
  uint32_t no_down;        ///< 1: do not ask which nodes to give back
  uint32_t pad;            ///< 0
} kaisched_scale_question;

/// How a federation decides, see kaisched_federation_create. Numbers that are 0 stand for the default.
typedef struct kaisched_federation_options {
  uint32_t struct_size;   ///< sizeof(kaisched_federation_options), set by the caller
  uint32_t fit;           ///< kaisched_member_fit
  const uint32_t* order;  ///< kaisched_member_criterion, what is compared first first; NULL: all in order of numbers
  size_t order_count;     ///< of `order`
  uint32_t window;        ///< groups that are sent before members decide; 0: all
  uint32_t rounds;        ///< times that members decide in one decision; 64
  uint32_t room_asked;    ///< members that are asked to make room for a group that fits nowhere as it is; 1
  uint32_t nobody_asked;  ///< 1: no member is asked to
} kaisched_federation_options;

/// What is said about a member of a federation, beside what its cluster says.
typedef struct kaisched_member {
  uint32_t struct_size;       ///< sizeof(kaisched_member), set by the caller
  uint32_t closed;            ///< 1: no new groups; those that are there stay
  const char* name;           ///< not empty
  const kaisched_kv* labels;  ///< key and value, such as a region; may be NULL if there are none
  size_t label_count;
  int64_t price;            ///< of a GPU for an hour, in a unit of the host's choice; 0 or more
  const char* const* data;  ///< keys of data that are there; may be NULL if there are none
  size_t data_count;
} kaisched_member;

/// A label or data that a group would rather have where it goes. Size: 24 bytes for ever.
typedef struct kaisched_preference {
  const char* key;
  const char* value;  ///< of labels; of data NULL
  int64_t weight;     ///< 1 to 1,000,000; of data 1 to 2^40: what it costs to have them elsewhere, such as gigabytes
} kaisched_preference;

/// What a group says about members of a federation. 0 everywhere: it may go anywhere.
typedef struct kaisched_group_wishes {
  uint32_t struct_size;                  ///< sizeof(kaisched_group_wishes), set by the caller
  uint32_t has_most_price;               ///< 1: `most_price` counts
  int64_t most_price;                    ///< of a GPU for an hour
  const char* const* members;            ///< only these; may be NULL if there are none: all
  size_t member_count;                   ///< of `members`
  const kaisched_kv* required;           ///< labels that the member has
  size_t required_count;                 ///< of `required`
  const kaisched_preference* preferred;  ///< labels
  size_t preferred_count;                ///< of `preferred`
  const kaisched_preference* data;
  size_t data_count;  ///< of `data`
} kaisched_group_wishes;

/// Threads of the host for work whose result cannot depend on them, see kaisched_engine_set_executor.
typedef struct kaisched_executor {
  uint32_t struct_size;  ///< sizeof(kaisched_executor), set by the caller
  uint32_t width;        ///< into how many pieces work is divided: about the number of threads; 0 counts as 1
  void* state;           ///< handed to the functions below
  /// Calls `work(work_state, i)` once for every i below `count`, in any order and on any threads, and returns when all
  /// calls have returned. May be called from several threads at once. What it does not call the library calls itself.
  void (*run)(void* state, size_t count, void (*work)(void* work_state, size_t index), void* work_state);
  /// Called once when neither the engine nor one of its sessions needs the executor any more; may be NULL.
  void (*destroy)(void* state);
} kaisched_executor;

// ---- plug-ins: the host's own parts of a policy --------------------------------------------------------------------

/// A text that need not end with a NUL.
typedef struct kaisched_text {
  const char* data;  ///< NULL if there is no such text
  size_t size;
} kaisched_text;

/// What the view of a session tells of a node, a pod, a group, a queue. `struct_size` is set by the part.
typedef struct kaisched_node_facts {
  uint32_t struct_size;
  uint32_t ready;          ///< 0 or 1
  uint32_t unschedulable;  ///< 0 or 1
  uint32_t pad;            ///< 0
  kaisched_id id;
  kaisched_text name;
} kaisched_node_facts;
typedef struct kaisched_pod_facts {
  uint32_t struct_size;
  uint32_t status;         ///< kaisched_pod_status, now
  uint32_t node;           ///< row, or KAISCHED_NO_ROW
  uint32_t group;          ///< row, or KAISCHED_NO_ROW
  uint32_t pod_class;      ///< pods that ask for the same have the same class
  uint32_t request_count;  ///< of the values below; dimensions behind them are 0
  kaisched_id id;
  kaisched_text name;
  kaisched_text sub_group;  ///< empty if the group has no tree
  const int64_t* request;
} kaisched_pod_facts;
typedef struct kaisched_group_facts {
  uint32_t struct_size;
  uint32_t queue;             ///< row
  uint32_t preemptible;       ///< 0 or 1
  uint32_t semi_preemptible;  ///< 0 or 1: only what is beyond its gangs is preemptible
  int64_t priority;
  int64_t created;  ///< nanoseconds
  kaisched_id id;
  kaisched_text name;
} kaisched_group_facts;
typedef struct kaisched_queue_facts {
  uint32_t struct_size;
  uint32_t parent;  ///< row, or KAISCHED_NO_ROW
  kaisched_id id;
  kaisched_text name;
  const int64_t* allocated;   ///< KAISCHED_QUOTA_DIMENSIONS values, now
  const int64_t* fair_share;  ///< likewise
} kaisched_queue_facts;

/// "No row".
#define KAISCHED_NO_ROW UINT32_MAX

/// What a part sees of a session while it is called: arrays by row, and functions for the rest. Everything is borrowed
/// until the callback returns. Rows are dense numbers inside one session; nodes have the rows 0 to `node_count` - 1.
/// Facts of a row that nothing is in are 0.
typedef struct kaisched_view kaisched_view;
struct kaisched_view {
  uint32_t struct_size;
  uint32_t node_count;
  uint32_t dimension_count;
  uint32_t pad;                   ///< 0
  int64_t now;                    ///< nanoseconds, as given to the session
  const int64_t* node_capacity;   ///< [nodes x dimensions], row by row
  const int64_t* node_idle;       ///< likewise: free now
  const int64_t* node_releasing;  ///< likewise: coming free, claims taken off
  void (*node)(const kaisched_view* view, uint32_t row, kaisched_node_facts* out);
  void (*pod)(const kaisched_view* view, uint32_t row, kaisched_pod_facts* out);
  void (*group)(const kaisched_view* view, uint32_t row, kaisched_group_facts* out);
  void (*queue)(const kaisched_view* view, uint32_t row, kaisched_queue_facts* out);
  kaisched_text (*node_label)(const kaisched_view* view, uint32_t row, const char* key);
  kaisched_text (*pod_label)(const kaisched_view* view, uint32_t row, const char* key);
  kaisched_text (*dimension)(const kaisched_view* view, uint32_t number);  ///< its name
};

/// A sort key of a group; smaller comes first. Size: 16 bytes for ever.
typedef struct kaisched_order_key {
  int64_t first;
  int64_t second;
} kaisched_order_key;

/// A pod whose status has changed in the session. Size: 16 bytes for ever.
typedef struct kaisched_change {
  uint32_t pod;
  uint32_t node;  ///< where it is, or was if it is nowhere now
  uint32_t before;
  uint32_t now;  ///< both kaisched_pod_status
} kaisched_change;

/// Largest score that a part may give a node; the smallest is 0.
#define KAISCHED_MAX_SCORE INT64_C(10000)

/// A part of a policy that the host brings: order, filter, score, fair share, judgement of victims, permit, and what
/// changes. Each function gets arrays and fills arrays, so that one call serves a whole list; a function that is NULL
/// is not offered. What it says must depend on its arguments and its options only: no clock, no randomness.
///
/// `create` is called for each session and each fork of one; all functions of one state are called from one thread at
/// a time, those of different states may run concurrently. Arrays that are to be filled hold `count` values, 0 or what
/// is named below when the function is called. A function may call the functions of the view and no others of this
/// header, and no exception may leave it (one that does counts as an error).
///
/// A function that returns a negative status, or fills in what is not allowed, ends the action with KAISCHED_E_PLUGIN
/// and the message of the part; with KAISCHED_PART_NEUTRAL_ON_ERROR it counts as not called: equal keys, nobody
/// refused, no score, shares as divided, nobody spared, permitted. (A failing `create` or `session_open` always fails.)
typedef struct kaisched_part {
  uint32_t struct_size;  ///< sizeof(kaisched_part)
  uint32_t abi;          ///< KAISCHED_ABI_VERSION of the header that the part was built with
  const char* name;      ///< as in the option `parts`; copied
  uint32_t flags;        ///< of kaisched_part_flag
  uint32_t pad;          ///< 0
  void* context;         ///< handed to `create` and `release`
  /// @param options those that were given when the part was added. @param state receives what the others are handed;
  ///   may stay NULL. May be NULL itself.
  kaisched_status (*create)(void* context, const kaisched_kv* options, size_t count, void** state, kaisched_error* err);
  void (*destroy)(void* state);
  kaisched_status (*session_open)(void* state, const kaisched_view* view, kaisched_error* err);
  void (*session_close)(void* state);
  /// One key per group; those with equal keys are left to the next part, and in the end to age and name.
  kaisched_status (*order_groups)(void* state, const kaisched_view* view, const uint32_t* groups, size_t count,
                                  kaisched_order_key* keys, kaisched_error* err);
  /// One verdict per node: KAISCHED_CONSTRAINT_NONE to accept, as given; any other kaisched_constraint is the reason.
  /// Verdicts that are not NONE when the function is called stay as they are.
  kaisched_status (*filter_nodes)(void* state, const kaisched_view* view, uint32_t pod, const uint32_t* nodes,
                                  size_t count, uint8_t* verdicts, kaisched_error* err);
  /// One score per node, 0 to KAISCHED_MAX_SCORE. It is multiplied with the option `weight` of the part (1 if it has
  /// none) and added to those of other parts; the largest sum wins.
  kaisched_status (*score_nodes)(void* state, const kaisched_view* view, uint32_t pod, const uint32_t* nodes,
                                 size_t count, int64_t* scores, kaisched_error* err);
  /// Fair shares of all queues, once when the session opens.
  /// @param shares [count x KAISCHED_QUOTA_DIMENSIONS] in fixed units, as divided; not negative.
  kaisched_status (*divide_shares)(void* state, const kaisched_view* view, const uint32_t* queues, size_t count,
                                   int64_t* shares, kaisched_error* err);
  /// Which groups must not lose pods to a group that waits: 1 in `spared`.
  /// @param action kaisched_action that would evict.
  kaisched_status (*judge_victims)(void* state, const kaisched_view* view, uint32_t action, uint32_t waiting,
                                   const uint32_t* groups, size_t count, uint8_t* spared, kaisched_error* err);
  /// Whether pods that have found places may start now.
  /// @param pods all those of the group that would start together; their places are in the view.
  /// @param permitted holds 1; 0 makes the group wait (KAISCHED_CONSTRAINT_PLUGIN).
  kaisched_status (*permit)(void* state, const kaisched_view* view, uint32_t group, const uint32_t* pods, size_t count,
                            int32_t* permitted, kaisched_error* err);
  /// What has changed, in its order. An undo tells the same changes the other way round.
  void (*changed)(void* state, const kaisched_view* view, const kaisched_change* changes, size_t count);
  /// Called once when no engine and no session needs the part any more; may be NULL.
  void (*release)(void* context);
} kaisched_part;

/// Describes one option, see kaisched_option_info. The texts live as long as the library is loaded.
typedef struct kaisched_option {
  uint32_t struct_size;  ///< sizeof(kaisched_option), set by the caller
  uint32_t type;         ///< kaisched_option_type
  const char* name;
  const char* fallback;  ///< default, as text
  double least;          ///< bounds of numbers, inclusive
  double most;
  const char* choices;  ///< allowed values separated by blanks; empty if any text is allowed
  const char* doc;      ///< one sentence
  uint32_t applies_to;  ///< kaisched_option_target; 0 where the caller's structure is shorter
  uint32_t pad;         ///< 0
} kaisched_option;

/// Describes one kind of table, see kaisched_kind_info. The texts live as long as the library is loaded.
typedef struct kaisched_kind {
  uint32_t struct_size;   ///< sizeof(kaisched_kind), set by the caller
  uint32_t kind;          ///< kaisched_table_kind
  uint32_t input;         ///< 1: kaisched_cluster_apply takes it; 0: it is a result
  uint32_t column_count;  ///< see kaisched_column_info
  const char* name;       ///< such as "node"
  const char* doc;        ///< what its rows are
} kaisched_kind;

/// Describes one column of a kind of table, see kaisched_column_info. The texts live as long as the library is loaded.
typedef struct kaisched_column {
  uint32_t struct_size;  ///< sizeof(kaisched_column), set by the caller
  uint32_t id;           ///< such as KAISCHED_NODE_COL_NAME
  uint32_t type;         ///< kaisched_column_type; input may name entities by identifiers (KAISCHED_TYPE_U64) as well
  uint32_t shape;        ///< kaisched_column_shape
  uint32_t required;     ///< 1: has to be there where rows are added
  uint32_t refers_to;    ///< kaisched_entity_kind of what the values name, or KAISCHED_KIND_NONE
  const char* name;      ///< such as "capacity"
  const char* unit;      ///< or the form of the text; may be empty
  const char* fallback;  ///< default, as text; may be empty
  const char* doc;       ///< one sentence
} kaisched_column;

// ---- enumerations --------------------------------------------------------------------------------------------------

/// Status of a call. Groups of ten: -1x arguments, -2x identifiers, -3x state, -4x support, -5x limits, -6x plug-ins,
/// -7x memory, -9x internal.
enum kaisched_status_code {
  KAISCHED_OK = 0,               ///< the call ran
  KAISCHED_E_ARGUMENT = -10,     ///< an argument or a value of the input is not valid
  KAISCHED_E_STRUCT_SIZE = -11,  ///< a structure is shorter than its first version
  KAISCHED_E_NOT_FOUND = -20,    ///< a name or identifier names nothing
  KAISCHED_E_STALE_ID = -21,     ///< an identifier names something that has been removed
  KAISCHED_E_WRONG_KIND = -22,   ///< an identifier names another kind of entity
  KAISCHED_E_DUPLICATE = -23,    ///< a name is in use already
  KAISCHED_E_CONFLICT = -30,     ///< the cluster has moved since the snapshot
  KAISCHED_E_STATE = -31,        ///< the call is not allowed in the present state
  KAISCHED_E_UNSUPPORTED = -40,  ///< the table, column or feature is not known here
  KAISCHED_E_ABI = -41,          ///< the caller was built for another ABI
  KAISCHED_E_LIMIT = -50,        ///< a size or amount exceeds what can be represented, or what the buffer holds
  KAISCHED_E_CANCELLED = -51,    ///< the host cancelled the call
  KAISCHED_E_PLUGIN = -60,       ///< a plug-in failed
  KAISCHED_E_NO_MEMORY = -70,    ///< out of memory; the call has changed nothing, but for what its function says
  KAISCHED_E_INTERNAL = -99      ///< a defect of the library
};

/// Fallible functions, for `kaisched_error.where`.
enum kaisched_function {
  KAISCHED_FN_ENGINE_CREATE = 10,
  KAISCHED_FN_ENGINE_SET = 11,
  KAISCHED_FN_ENGINE_GET = 12,
  KAISCHED_FN_OPTION_INFO = 13,
  KAISCHED_FN_ENGINE_ADD_VENDORS = 14,
  KAISCHED_FN_ENGINE_SET_EXECUTOR = 15,
  KAISCHED_FN_ENGINE_ADD_PART = 16,
  KAISCHED_FN_KIND_INFO = 17,
  KAISCHED_FN_COLUMN_INFO = 18,
  KAISCHED_FN_CLUSTER_CREATE = 20,
  KAISCHED_FN_CLUSTER_APPLY = 21,
  KAISCHED_FN_CLUSTER_FIND = 22,
  KAISCHED_FN_CLUSTER_SNAPSHOT = 23,
  KAISCHED_FN_CLUSTER_SET_OPTION = 24,
  KAISCHED_FN_CLUSTER_GET_OPTION = 25,
  KAISCHED_FN_CLUSTER_ASSUME = 26,
  KAISCHED_FN_CLUSTER_CONFIRM = 27,
  KAISCHED_FN_CLUSTER_FORGET = 28,
  KAISCHED_FN_CLUSTER_TABLE = 29,
  KAISCHED_FN_SNAPSHOT_TABLE = 30,
  KAISCHED_FN_SNAPSHOT_DIGEST = 31,
  KAISCHED_FN_SNAPSHOT_SAVE = 32,
  KAISCHED_FN_SNAPSHOT_LOAD = 33,
  KAISCHED_FN_CLUSTER_RESUME = 34,
  KAISCHED_FN_CLUSTER_PREVIEW = 35,
  KAISCHED_FN_RUN = 40,
  KAISCHED_FN_SESSION_OPEN = 41,
  KAISCHED_FN_SESSION_RUN = 42,
  KAISCHED_FN_SESSION_TABLE = 43,
  KAISCHED_FN_SESSION_DIGEST = 44,
  KAISCHED_FN_SESSION_RUN_GROUP = 45,
  KAISCHED_FN_SESSION_FORK = 46,
  KAISCHED_FN_SESSION_ASK = 47,
  KAISCHED_FN_ANSWERS_TABLE = 48,
  KAISCHED_FN_SOLVE = 49,
  KAISCHED_FN_OBJECTS_READ = 50,
  KAISCHED_FN_OBJECTS_TABLES = 51,
  KAISCHED_FN_OBJECTS_NOW = 52,
  KAISCHED_FN_OBJECTS_FAULT = 53,
  KAISCHED_FN_OBJECTS_ACTIONS = 54,
  KAISCHED_FN_SESSION_MARK = 60,
  KAISCHED_FN_SESSION_ROLLBACK = 61,
  KAISCHED_FN_SESSION_ALLOCATE = 62,
  KAISCHED_FN_SESSION_PIPELINE = 63,
  KAISCHED_FN_SESSION_EVICT = 64,
  KAISCHED_FN_SESSION_COMMIT = 65,
  KAISCHED_FN_SESSION_CANDIDATES = 66,
  KAISCHED_FN_STAGING_CREATE = 70,
  KAISCHED_FN_STAGING_CLEAR = 71,
  KAISCHED_FN_STAGING_NUMBERS = 72,
  KAISCHED_FN_STAGING_RAGGED = 73,
  KAISCHED_FN_STAGING_TEXT = 74,
  KAISCHED_FN_STAGING_TABLE = 75,
  KAISCHED_FN_STAGING_TEXTS = 76,
  KAISCHED_FN_LOAD_PART = 80,
  KAISCHED_FN_SESSION_REMEDIES = 90,
  KAISCHED_FN_SESSION_CERTIFY = 91,
  KAISCHED_FN_SESSION_CHOICE = 92,
  KAISCHED_FN_SESSION_VICTIM = 93,
  KAISCHED_FN_SESSION_SHARE_STEPS = 94,
  KAISCHED_FN_SESSION_WHAT_IF = 95,
  KAISCHED_FN_SESSION_GAPS = 96,
  KAISCHED_FN_OBJECT_CACHE_CREATE = 100,
  KAISCHED_FN_OBJECT_CACHE_PUT = 101,
  KAISCHED_FN_OBJECT_CACHE_REMOVE = 102,
  KAISCHED_FN_OBJECT_CACHE_SNAPSHOT = 103,
  KAISCHED_FN_RECORDER_CREATE = 110,
  KAISCHED_FN_RECORDER_ADD = 111,
  KAISCHED_FN_RECORDING_OPEN = 112,
  KAISCHED_FN_RECORDING_NEXT = 113,
  KAISCHED_FN_RECORDING_SNAPSHOT = 114,
  KAISCHED_FN_RECORDING_CONFIGURE = 115,
  KAISCHED_FN_RECORDING_DIGEST = 116,
  KAISCHED_FN_SCALE = 120,
  KAISCHED_FN_SCALING_TABLE = 121,
  KAISCHED_FN_FEDERATION_CREATE = 130,
  KAISCHED_FN_FEDERATION_SET_EXECUTOR = 131,
  KAISCHED_FN_FEDERATION_ADD_MEMBER = 132,
  KAISCHED_FN_FEDERATION_ADD_KNOWN_MEMBER = 133,
  KAISCHED_FN_FEDERATION_CHANGE_MEMBER = 134,
  KAISCHED_FN_FEDERATION_UPDATE_MEMBER = 135,
  KAISCHED_FN_FEDERATION_LOSE_MEMBER = 136,
  KAISCHED_FN_FEDERATION_SUMMARY = 137,
  KAISCHED_FN_FEDERATION_SUBMIT = 138,
  KAISCHED_FN_FEDERATION_WISH = 139,
  KAISCHED_FN_FEDERATION_WITHDRAW = 140,
  KAISCHED_FN_FEDERATION_ANSWER = 141,
  KAISCHED_FN_FEDERATION_STAGE = 142,
  KAISCHED_FN_FEDERATION_QUEUES = 143,
  KAISCHED_FN_FEDERATION_DECIDE = 144,
  KAISCHED_FN_FEDERATED_TABLE = 145,
  KAISCHED_FN_FEDERATED_SESSION = 146,
  KAISCHED_FN_FEDERATED_DIGEST = 147,
  KAISCHED_FN_ENGINE_WARNING = 148,
  KAISCHED_FN_SESSION_WARNING = 149,
  KAISCHED_FN_IMPORT_CONFIGURATION = 150
};

/// Type of the values of a column.
enum kaisched_column_type {
  KAISCHED_TYPE_U8 = 1,
  KAISCHED_TYPE_U32 = 2,
  KAISCHED_TYPE_I64 = 3,
  KAISCHED_TYPE_U64 = 4,  ///< also identifiers
  KAISCHED_TYPE_F64 = 5,
  KAISCHED_TYPE_STRING = 6,       ///< ragged bytes: UTF-8 without NUL
  KAISCHED_TYPE_STRING_LIST = 7,  ///< ragged bytes: every element ends with a NUL, an empty range is an empty list
  KAISCHED_TYPE_I64_LIST = 8      ///< ragged int64; offsets count values
};

/// How many values a row of a column has.
enum kaisched_column_shape {
  KAISCHED_SHAPE_ONE = 0,
  KAISCHED_SHAPE_DIMENSIONS = 1,  ///< one per resource dimension, in order of registration; fewer are padded with 0
  KAISCHED_SHAPE_QUOTAS = 2,      ///< KAISCHED_QUOTA_DIMENSIONS values: cpu, memory, gpu
  KAISCHED_SHAPE_RAGGED = 3       ///< a text or a list
};

/// Flag of an input column: a library that does not know the column ignores it instead of failing.
#define KAISCHED_COLUMN_OPTIONAL 1u

/// What an input table does. Tables of one kaisched_cluster_apply take effect in order.
enum kaisched_table_op {
  KAISCHED_OP_NONE = 0,    ///< output tables
  KAISCHED_OP_ADD = 1,     ///< every row is a new entity; columns that are absent take their defaults
  KAISCHED_OP_CHANGE = 2,  ///< every row names an entity; only the columns that are present change
  KAISCHED_OP_REMOVE = 3   ///< every row names an entity; only the naming columns are read
};

/// What an identifier names.
enum kaisched_entity_kind {
  KAISCHED_KIND_NONE = 0,
  KAISCHED_KIND_RESOURCE = 1,
  KAISCHED_KIND_TOPOLOGY = 2,
  KAISCHED_KIND_QUEUE = 3,
  KAISCHED_KIND_NODE = 4,
  KAISCHED_KIND_DEVICE = 5,
  KAISCHED_KIND_POD_GROUP = 6,
  KAISCHED_KIND_SUB_GROUP = 7,
  KAISCHED_KIND_POD = 8,
  KAISCHED_KIND_NUMA_ZONE = 9,
  KAISCHED_KIND_RESOURCE_CLAIM = 10,
  KAISCHED_KIND_DEVICE_QUOTA = 11
};

/// Life of a pod.
enum kaisched_pod_status {
  KAISCHED_POD_STATUS_PENDING = 0,    ///< wants to be placed
  KAISCHED_POD_STATUS_GATED = 1,      ///< waits for something outside; asks for nothing
  KAISCHED_POD_STATUS_ALLOCATED = 2,  ///< placed in this session, not reported
  KAISCHED_POD_STATUS_PIPELINED = 3,  ///< holds a claim on resources that are being released
  KAISCHED_POD_STATUS_BINDING = 4,    ///< decided, the host is binding it
  KAISCHED_POD_STATUS_BOUND = 5,      ///< bound, not running
  KAISCHED_POD_STATUS_RUNNING = 6,
  KAISCHED_POD_STATUS_RELEASING = 7,           ///< terminating; its resources come free
  KAISCHED_POD_STATUS_STUCK_IN_RELEASING = 8,  ///< terminating for too long: its resources do not count as coming free
  KAISCHED_POD_STATUS_SUCCEEDED = 9,
  KAISCHED_POD_STATUS_FAILED = 10,
  KAISCHED_POD_STATUS_UNKNOWN = 11
};

/// Kind of a decision.
enum kaisched_decision_kind {
  /// Start the pod on the node, now. With checks outstanding (KAISCHED_DECISION_COL_CHECKS): hold the place for it.
  KAISCHED_DECISION_BIND = 1,
  KAISCHED_DECISION_PIPELINE = 2,  ///< hold the place: the pod starts when releasing resources are free
  /// Stop the pod. Of a pod that had a claim only: the claim is taken back, there is nothing to stop.
  KAISCHED_DECISION_EVICT = 3,
  /// Stop the pod and hold a place for it on another node. Of a pod that had a claim only: hold that place instead.
  KAISCHED_DECISION_MOVE = 4,
  KAISCHED_DECISION_UNSCHEDULABLE = 5,  ///< the pod group waits; see its reasons
  KAISCHED_DECISION_MIGRATE = 6,     ///< start a copy of the pod on the node, now, and stop the pod when the copy runs
  KAISCHED_DECISION_REPARTITION = 7  ///< divide a device of the node anew, once pods that leave its instances are gone
};

/// Actions of a session.
enum kaisched_action {
  KAISCHED_ACTION_NONE = 0,
  KAISCHED_ACTION_ALLOCATE = 1,
  KAISCHED_ACTION_CONSOLIDATION = 2,
  KAISCHED_ACTION_RECLAIM = 3,
  KAISCHED_ACTION_PREEMPT = 4,
  KAISCHED_ACTION_STALE_GANG_EVICTION = 5,
  KAISCHED_ACTION_BACKFILL = 6,
  KAISCHED_ACTION_RUNTIME_LIMIT = 7,
  KAISCHED_ACTION_REPARTITION = 8,
  KAISCHED_ACTION_OVER_LIMIT = 9,
  KAISCHED_ACTION_RESIZE = 10,
  KAISCHED_ACTION_VACATE = 11
};

/// What a reason is about.
enum kaisched_constraint {
  KAISCHED_CONSTRAINT_NONE = 0,
  KAISCHED_CONSTRAINT_RESOURCE = 1,               ///< too little of a dimension, even counting what is being released
  KAISCHED_CONSTRAINT_RESOURCE_BUSY = 2,          ///< enough in total, but not in one piece
  KAISCHED_CONSTRAINT_NODE_NOT_READY = 3,         ///< the node is not ready
  KAISCHED_CONSTRAINT_NODE_UNSCHEDULABLE = 4,     ///< the node is cordoned
  KAISCHED_CONSTRAINT_NODE_SELECTOR = 5,          ///< node selector or required node affinity
  KAISCHED_CONSTRAINT_TAINT = 6,                  ///< a taint that the pod does not tolerate
  KAISCHED_CONSTRAINT_HOST_PORT = 7,              ///< the port is taken on the node
  KAISCHED_CONSTRAINT_POD_AFFINITY = 8,           ///< required pod affinity
  KAISCHED_CONSTRAINT_POD_ANTI_AFFINITY = 9,      ///< required anti-affinity, of this pod or of a pod on the node
  KAISCHED_CONSTRAINT_OBSTACLE = 10,              ///< something that no eviction can remove
  KAISCHED_CONSTRAINT_LARGER_THAN_ANY_NODE = 11,  ///< the request exceeds the largest node of the cluster
  KAISCHED_CONSTRAINT_QUEUE_LIMIT = 12,           ///< a queue on the path would pass its limit
  KAISCHED_CONSTRAINT_QUEUE_QUOTA = 13,           ///< a non-preemptible group would pass the quota of a queue
  KAISCHED_CONSTRAINT_QUEUE_MISSING = 14,         ///< the group's queue does not exist or has child queues
  KAISCHED_CONSTRAINT_GANG_INCOMPLETE = 15,       ///< fewer pods exist than the gang needs
  KAISCHED_CONSTRAINT_GATED = 16,                 ///< pods are gated
  KAISCHED_CONSTRAINT_PLUGIN = 17,                ///< a plug-in refused the node
  KAISCHED_CONSTRAINT_SUB_GROUP_MISSING = 18,     ///< pods name a sub-group that does not exist or that has children
  KAISCHED_CONSTRAINT_NOT_TRIED = 19,       ///< a node would take the pod, but no action has tried to start the group
  KAISCHED_CONSTRAINT_RESERVATION = 20,     ///< the group at the head of the queue order would start later
  KAISCHED_CONSTRAINT_REQUEUE_DELAY = 21,   ///< the group was evicted and waits for its delay
  KAISCHED_CONSTRAINT_GPU_TYPE_LIMIT = 22,  ///< a queue would pass its limit for the GPUs of the node
  KAISCHED_CONSTRAINT_DEVICE_KIND = 23,     ///< devices of another kind: divided or not, or their memory is not known
  KAISCHED_CONSTRAINT_NUMA_ALIGNMENT = 24,  ///< the NUMA zones of the node cannot align the pod
  KAISCHED_CONSTRAINT_RESOURCE_CLAIM = 25,  ///< claims may not be used, or the node has no devices for them
  KAISCHED_CONSTRAINT_TOPOLOGY = 26,        ///< no domain has room for all pods that must be together
  KAISCHED_CONSTRAINT_VENDOR_DEVICE = 27,   ///< devices shared by the rules of their vendor do not suffice
  KAISCHED_CONSTRAINT_CELL = 28,            ///< the cells that a virtual cluster owns do not suffice
  KAISCHED_CONSTRAINT_DISRUPTION_BUDGET = 29,  ///< pods that would have to leave or move are more than a budget allows
  KAISCHED_CONSTRAINT_NODE_RESERVED = 30,      ///< the node is, or will soon be, reserved for others
  KAISCHED_CONSTRAINT_DEPENDENCY = 31,   ///< a group that it comes after has not begun, or not ended, as it should
  KAISCHED_CONSTRAINT_SPREAD = 32,       ///< pods like it would be spread less evenly than they must be
  KAISCHED_CONSTRAINT_SET_ASIDE = 33,    ///< what the node would have left is set aside for its free GPUs
  KAISCHED_CONSTRAINT_DEVICE_LOAD = 34,  ///< pods that share the devices of the node put too much on them already
  KAISCHED_CONSTRAINT_POWER = 35,        ///< a feed of the node has too little power left for the pod
  KAISCHED_CONSTRAINT_DEADLINE = 36      ///< the group would end after its deadline
};

/// Where a constraint applies.
enum kaisched_reason_scope {
  KAISCHED_SCOPE_NODE = 1,
  KAISCHED_SCOPE_QUEUE = 2,
  KAISCHED_SCOPE_GROUP = 3,
  KAISCHED_SCOPE_CLUSTER = 4,
  KAISCHED_SCOPE_DOMAIN = 5
};

/// How a part behaves, see kaisched_part.
enum kaisched_part_flag {
  /// The key of a group depends on what other groups hold: `allocate` asks for all keys again after every start.
  KAISCHED_PART_ORDER_IS_SHARED = 1,
  /// A function that fails counts as not called.
  KAISCHED_PART_NEUTRAL_ON_ERROR = 2,
  /// For tests: every function is called twice, with guards around its arrays. Different answers, or values written
  /// beyond an array, fail.
  KAISCHED_PART_VALIDATE = 4
};

/// Why a decision is taken back, see kaisched_cluster_forget.
enum kaisched_forget_reason {
  KAISCHED_FORGET_FAILED = 0,  ///< it did not happen: everything is as it was before the decision
  KAISCHED_FORGET_LOST = 1     ///< nobody knows: what may be taken stays taken, what may not have come free is not free
};

/// How kaisched_scale finds a set of nodes.
enum kaisched_scale_strategy {
  /// The cheapest set that was found with which all start that any offered nodes would let start.
  KAISCHED_SCALE_SEARCH = 0,
  KAISCHED_SCALE_FIRST_FIT = 1  ///< for comparison: pod by pod, without gangs, quotas and topology
};

/// What is better about one member of a federation than about another. That the group fits there as it is comes first
/// always, the name last.
enum kaisched_member_criterion {
  KAISCHED_MEMBER_PREFERENCE = 1,   ///< more weight of preferred labels
  KAISCHED_MEMBER_DATA = 2,         ///< less weight of data that is elsewhere
  KAISCHED_MEMBER_PRICE = 3,        ///< a lower price
  KAISCHED_MEMBER_ENTITLEMENT = 4,  ///< its queue holds less there than its quota
  KAISCHED_MEMBER_WAIT = 5,         ///< an earlier start, by expected ends and by what waits there
  KAISCHED_MEMBER_FIT = 6           ///< as kaisched_member_fit says
};

/// Between members that are equally good.
enum kaisched_member_fit {
  KAISCHED_FIT_PACK = 0,  ///< where fewest such pods have room besides, so that other members stay free for large gangs
  KAISCHED_FIT_SPREAD = 1  ///< where most have
};

/// Where a group of a federation is.
enum kaisched_group_stage {
  KAISCHED_STAGE_WAITS = 0,    ///< in the line, in no member
  KAISCHED_STAGE_STARTS = 1,   ///< in a member whose engine has given it places
  KAISCHED_STAGE_CLAIMS = 2,   ///< in a member whose engine holds places that come free for it
  KAISCHED_STAGE_OFFERED = 3,  ///< sent to a member that is known by its summary alone, which has not answered
  KAISCHED_STAGE_RUNS = 4      ///< as starts, since an earlier decision or as the member has answered
};

/// Type of an option's value. Values travel as text; numbers in the C locale.
enum kaisched_option_type {
  KAISCHED_OPTION_BOOLEAN = 1,  ///< true or false
  KAISCHED_OPTION_INTEGER = 2,
  KAISCHED_OPTION_NUMBER = 3,
  KAISCHED_OPTION_CHOICE = 4,  ///< one of `choices`
  KAISCHED_OPTION_LIST = 5     ///< names, separated by commas
};

/// What an option belongs to.
enum kaisched_option_target {
  KAISCHED_OPTION_TARGET_ENGINE = 1,  ///< kaisched_engine_set
  KAISCHED_OPTION_TARGET_CLUSTER = 2  ///< kaisched_cluster_set_option
};

/// Resource dimensions that every cluster has, in this order; `resource` tables add further ones behind them.
enum kaisched_dimension {
  KAISCHED_DIM_CPU = 0,     ///< milli-cores
  KAISCHED_DIM_MEMORY = 1,  ///< bytes
  KAISCHED_DIM_GPU = 2,     ///< milli-GPU: 1000 is one whole device
  KAISCHED_DIM_PODS = 3     ///< pod slots of a node; every pod asks for one
};
#define KAISCHED_BUILT_IN_DIMENSIONS 4u
/// Most dimensions that a cluster may register.
#define KAISCHED_MAX_DIMENSIONS 64u
/// Dimensions that queues are accounted in: cpu, memory, gpu.
#define KAISCHED_QUOTA_DIMENSIONS 3u
/// Most devices of one node that are tracked one by one.
#define KAISCHED_MAX_DEVICES_PER_NODE 64u
/// Milli-GPU of one whole device.
#define KAISCHED_WHOLE_DEVICE INT64_C(1000)
/// "Unlimited" for quotas and limits.
#define KAISCHED_UNLIMITED INT64_C(-1)
/// "Not set" for int64 columns where zero is a value.
#define KAISCHED_UNSET INT64_MIN
/// Largest amount that one row may hold.
#define KAISCHED_MAX_AMOUNT (INT64_C(1) << 52)

// ---- kinds of tables and their columns -----------------------------------------------------------------------------
// A column's comment gives its type, its width if that is not 1 ("x 3": cpu, memory, gpu; "x dimensions": up to one
// value per resource dimension, missing ones are 0), whether KAISCHED_OP_ADD requires it, else its default; then its
// meaning and, in brackets, its unit or the form of its text. Input columns that name another entity take a string (its
// name) or u64 (its identifier).

// clang-format off
// SCHEMA BEGIN (kept equal to the library's schema by the test abi/schema; its program rewrites it with --update)
/// Kinds of tables.
enum kaisched_table_kind {
  /// input: Resource dimensions beyond the built-in ones.
  KAISCHED_TABLE_RESOURCE = 1,
  /// input: Trees of domains over node labels.
  KAISCHED_TABLE_TOPOLOGY = 2,
  /// input: Queues: a forest with quotas, limits and weights.
  KAISCHED_TABLE_QUEUE = 3,
  /// input: Nodes.
  KAISCHED_TABLE_NODE = 4,
  /// input: Devices of nodes.
  KAISCHED_TABLE_DEVICE = 5,
  /// input: Pod groups: the unit of scheduling.
  KAISCHED_TABLE_POD_GROUP = 6,
  /// input: Trees of sub-groups inside pod groups.
  KAISCHED_TABLE_SUB_GROUP = 7,
  /// input: Pods.
  KAISCHED_TABLE_POD = 8,
  /// input: NUMA zones of nodes.
  KAISCHED_TABLE_NUMA_ZONE = 9,
  /// input: Claims of devices that pods share or bring along.
  KAISCHED_TABLE_RESOURCE_CLAIM = 10,
  /// input: What pods of a namespace may hold of vendor_devices.
  KAISCHED_TABLE_DEVICE_QUOTA = 11,
  /// input: Classes of devices that claims ask for.
  KAISCHED_TABLE_DEVICE_CLASS = 12,
  /// input: Parts of the pools in which drivers offer devices.
  KAISCHED_TABLE_RESOURCE_SLICE = 13,
  /// input: Devices of slices.
  KAISCHED_TABLE_SLICE_DEVICE = 14,
  /// input: Requests of resource claims.
  KAISCHED_TABLE_CLAIM_REQUEST = 15,
  /// input: How many pods that belong together may leave or move at once.
  KAISCHED_TABLE_DISRUPTION_BUDGET = 16,
  /// input: Nodes that are kept for somebody, or for nobody, at times.
  KAISCHED_TABLE_RESERVATION = 17,
  /// output: Decisions of a session.
  KAISCHED_TABLE_DECISION = 32,
  /// output: Why pod groups wait.
  KAISCHED_TABLE_REASON = 33,
  /// output: Shares of queues.
  KAISCHED_TABLE_QUEUE_SHARE = 34,
  /// output: Where pods are at the end.
  KAISCHED_TABLE_PLACEMENT = 35,
  /// output: Counters per action.
  KAISCHED_TABLE_STATISTIC = 36,
  /// output: Rows of the input that a snapshot lacks, and why.
  KAISCHED_TABLE_QUARANTINE = 37,
  /// output: What actions that evict did for groups that waited.
  KAISCHED_TABLE_ATTEMPT = 38,
  /// output: Devices that pods share, and which decisions opened and closed them.
  KAISCHED_TABLE_SHARING_GROUP = 39,
  /// output: Decisions that a cluster has taken in and nobody has reported on.
  KAISCHED_TABLE_ASSUMPTION = 40,
  /// output: What stood in the way of decisions that a cluster refused.
  KAISCHED_TABLE_CONFLICT = 41,
  /// output: How the nodes stand for one pod: those that can take it, best first, then the others by name.
  KAISCHED_TABLE_CANDIDATE = 42,
  /// output: What would let pod groups that wait start now: a row for each change, those of one remedy together let the
  /// group start.
  KAISCHED_TABLE_REMEDY = 43,
  /// output: Why a pod group cannot start, as a proof: a row for each bound over nodes, at least one.
  KAISCHED_TABLE_CERTIFICATE = 44,
  /// output: How the fair share of a queue came about: the divisions above it step by step, siblings included.
  KAISCHED_TABLE_SHARE_STEP = 45,
  /// output: Why a pod was put where it is: the choice, what gave the two nodes different scores, what would have
  /// turned it.
  KAISCHED_TABLE_CHOICE = 46,
  /// output: Why a pod had to leave or move: by which rules, for whom, who else lost pods, who was left alone.
  KAISCHED_TABLE_VICTIM = 47,
  /// output: What would become of pod groups if the cluster had changed: a row for each, asked about alone.
  KAISCHED_TABLE_FORECAST = 48,
  /// output: How far decisions are from the best that any scheduler could have made: a row for each bound that proves
  /// it, at least one.
  KAISCHED_TABLE_GAP = 49,
  /// output: What nodes that are added cost, and what nodes that are given back save: one row.
  KAISCHED_TABLE_SCALING = 50,
  /// output: Nodes to add, by type in the order of the offers.
  KAISCHED_TABLE_NODE_ADDITION = 51,
  /// output: What becomes of the pod groups that were asked about, with the nodes that are added: a row for each, in
  /// the order in which they wait.
  KAISCHED_TABLE_SCALED_GROUP = 52,
  /// output: Nodes that can be given back, or why they stay: in the order in which they were looked at, each closed
  /// when what ran there has moved.
  KAISCHED_TABLE_RETURNED_NODE = 53,
  /// output: Pod groups that got a member of a federation: in the order of rounds, then of the line.
  KAISCHED_TABLE_FEDERATED_PLACE = 54,
  /// output: Pod groups that wait in the line of a federation, in its order.
  KAISCHED_TABLE_FEDERATED_WAIT = 55,
  /// output: Queues over all members of a federation, by name.
  KAISCHED_TABLE_FEDERATED_QUEUE = 56,
  /// output: What members of a federation decided, by round and member, and then members that failed, by name.
  KAISCHED_TABLE_MEMBER_SESSION = 57,
  /// output: What a session comes to: one decision for each pod, the net one, in every mode.
  KAISCHED_TABLE_OUTCOME = 58
};

/// Columns of KAISCHED_TABLE_RESOURCE.
enum kaisched_resource_column {
  /// string, required. Name of the dimension, such as nvidia.com/mig-1g.5gb. cpu, memory, gpu and pods always exist.
  /// [name]
  KAISCHED_RESOURCE_COL_NAME = 1,
  /// string, default count. Unit of amounts, for reports only. [text]
  KAISCHED_RESOURCE_COL_UNIT = 2
};

/// Columns of KAISCHED_TABLE_TOPOLOGY.
enum kaisched_topology_column {
  /// string, required. Name of the tree. [name]
  KAISCHED_TOPOLOGY_COL_NAME = 1,
  /// string_list, required. Label keys of the levels, widest first. A node belongs to the domain that its labels name.
  /// [node label keys]
  KAISCHED_TOPOLOGY_COL_LEVELS = 2,
  /// u8, default 0. The tree along which nodes are numbered; at most one. [0 or 1]
  KAISCHED_TOPOLOGY_COL_PRIMARY = 3,
  /// string_list, default empty. Shapes by level, what pods get of a domain of the level: block:N (whole base blocks of
  /// N nodes and a part of one), line:N or ring:N (a run), mesh:NxN or torus:NxNxN (a box, up to four axes). Mode
  /// compat does not look at it. [key, value, key, value, ...]
  KAISCHED_TOPOLOGY_COL_SHAPES = 4
};

/// Columns of KAISCHED_TABLE_QUEUE.
enum kaisched_queue_column {
  /// string, required. Name of the queue. [name]
  KAISCHED_QUEUE_COL_NAME = 1,
  /// string, default empty. Parent queue; empty for a top-level queue. Only queues without children hold pod groups.
  /// [queue]
  KAISCHED_QUEUE_COL_PARENT = 2,
  /// i64, default 100. Larger is served first; compared among siblings.
  KAISCHED_QUEUE_COL_PRIORITY = 3,
  /// i64, default 0. Creation time; older first where everything else is equal. [ns]
  KAISCHED_QUEUE_COL_CREATED = 4,
  /// i64 x 3, default -1. Deserved amount of cpu, memory, gpu; -1 is unlimited. [fixed units]
  KAISCHED_QUEUE_COL_QUOTA = 5,
  /// i64 x 3, default -1. Most that the queue may hold; -1 is unlimited. [fixed units]
  KAISCHED_QUEUE_COL_LIMIT = 6,
  /// f64 x 3, default 1. Weight in the division of what is left after all quotas, 0 to 1e12; 0 gets nothing. -1, which
  /// KAI gives departments, counts as 0 in strict and as the number -1 in compat; strict counts at most 1e9.
  KAISCHED_QUEUE_COL_OVER_QUOTA_WEIGHT = 7,
  /// f64 x 3, default 0. Historical usage, decayed, as a part of the cluster's capacity. [part of capacity]
  KAISCHED_QUEUE_COL_USAGE = 8,
  /// i64, default unset. A group that runs for less is not reclaimed. [ns]
  KAISCHED_QUEUE_COL_RECLAIM_MIN_RUNTIME = 9,
  /// i64, default unset. A group that runs for less is not preempted. [ns]
  KAISCHED_QUEUE_COL_PREEMPT_MIN_RUNTIME = 10,
  /// i64, default unset. Longest time for which a group of the queue or of one below may run; for the action
  /// runtimelimit. [ns]
  KAISCHED_QUEUE_COL_MAX_RUNTIME = 11,
  /// string_list, default empty. Most GPUs of a type that the queue may hold, by the label nvidia.com/gpu.product of
  /// nodes; for the part gputypes. [key, value, key, value, ...]
  KAISCHED_QUEUE_COL_GPU_LIMITS = 12,
  /// i64 x 3, default 0. What is kept for the queue, whether or not it uses it; for the action volcano. [fixed units]
  KAISCHED_QUEUE_COL_GUARANTEE = 13,
  /// u8, default 1. 0: other queues take nothing back from it; for the action volcano. [0 or 1]
  KAISCHED_QUEUE_COL_RECLAIMABLE = 14,
  /// string_list, default empty. Path from the root to the queue, with the weight of each step; for the plug-in drf of
  /// the action volcano. [name:weight]
  KAISCHED_QUEUE_COL_HIERARCHY = 15,
  /// string_list, default empty. Groups of nodes that the queue wants or avoids, as required:NAME, preferred:NAME,
  /// avoided:NAME, rather_avoided:NAME; for the plug-in nodegroup of the action volcano. [affinity:name]
  KAISCHED_QUEUE_COL_NODE_GROUPS = 16
};

/// Columns of KAISCHED_TABLE_NODE.
enum kaisched_node_column {
  /// string, required. Name of the node; of equal nodes the name that sorts first is taken. [name]
  KAISCHED_NODE_COL_NAME = 1,
  /// i64 x dimensions, required. Allocatable amount of every dimension. [fixed units]
  KAISCHED_NODE_COL_CAPACITY = 2,
  /// u8, default 1. 0: nothing is placed here and the capacity does not count. [0 or 1]
  KAISCHED_NODE_COL_READY = 3,
  /// u8, default 0. 1: cordoned; nothing is placed here and the capacity does not count. [0 or 1]
  KAISCHED_NODE_COL_UNSCHEDULABLE = 4,
  /// string_list, default empty. Labels. [key, value, key, value, ...]
  KAISCHED_NODE_COL_LABELS = 5,
  /// string_list, default empty. Taints; NoSchedule and NoExecute keep pods away, other effects are ignored.
  /// [key=value:Effect]
  KAISCHED_NODE_COL_TAINTS = 6,
  /// i64, default 0. Memory of each GPU; 0 if unknown. [bytes]
  KAISCHED_NODE_COL_GPU_MEMORY = 7,
  /// string, default empty. How the node aligns pods with its NUMA zones: none, best-effort, restricted,
  /// single-numa-node; empty if unknown. [policy]
  KAISCHED_NODE_COL_NUMA_POLICY = 8,
  /// string, default empty. What is aligned: container or pod; empty if unknown. [scope]
  KAISCHED_NODE_COL_NUMA_SCOPE = 9,
  /// string_list, default empty. Devices that resource claims of a class can be given here, first choice first. GPUs
  /// among them count in capacity as well. [class=driver/pool/device]
  KAISCHED_NODE_COL_CLAIMABLE = 10,
  /// string_list, default empty. Devices that are shared by the rules of their vendor, in the node's order: id, type,
  /// mode, index, numa, slots, memory in bytes, cores, healthy, cordoned, links=score:score:...,
  /// profiles=NAME/SLICES/MEMORY:..., attribute.NAME. A node with such devices gives GPUs by these rules alone; mode
  /// strict. See docs/vendors.md. [id=...,type=...,slots=...]
  KAISCHED_NODE_COL_VENDOR_DEVICES = 11,
  /// string_list, default empty. How these devices are chosen and registered, before the option devices.settings:
  /// device_policy, mode, slots, memory_permille, core_permille, soft_division, weights=slot:core:memory.
  /// [setting=value]
  KAISCHED_NODE_COL_DEVICE_SETTINGS = 12,
  /// string_list, default empty. By level, where the node is in its domain of a level with a shape: coordinates from 0,
  /// joined by x, such as 1x0x2. [key, value, key, value, ...]
  KAISCHED_NODE_COL_POSITION = 13,
  /// i64, default -1. What the node draws without its devices when no pod uses its CPU; -1 if unknown. [milliwatts]
  KAISCHED_NODE_COL_POWER_IDLE = 14,
  /// i64, default -1. The same when pods have all of its CPU; -1 if unknown. [milliwatts]
  KAISCHED_NODE_COL_POWER_MAX = 15,
  /// i64, default -1. Measured mean utilisation of the CPU; -1 if unknown. [per mille]
  KAISCHED_NODE_COL_CPU_UTILIZATION = 16,
  /// i64, default 0. Standard deviation of it. [per mille]
  KAISCHED_NODE_COL_CPU_DEVIATION = 17,
  /// i64, default -1. Measured mean utilisation of the memory; -1 if unknown. [per mille]
  KAISCHED_NODE_COL_MEMORY_UTILIZATION = 18,
  /// i64, default 0. Standard deviation of it. [per mille]
  KAISCHED_NODE_COL_MEMORY_DEVIATION = 19,
  /// string_list, default empty. What the node draws its power from, and the most that all nodes of the feed may draw;
  /// for the part powercap. The least that one of them says counts. [feed:milliwatts]
  KAISCHED_NODE_COL_POWER_FEEDS = 20
};

/// Columns of KAISCHED_TABLE_DEVICE.
enum kaisched_device_column {
  /// string, required. Node of the device. [node]
  KAISCHED_DEVICE_COL_NODE = 1,
  /// u32, required. Index on the node. Nodes without device rows have one device per whole GPU of their capacity.
  /// [0..63]
  KAISCHED_DEVICE_COL_INDEX = 2,
  /// string, default empty. Hardware identifier. [text]
  KAISCHED_DEVICE_COL_UUID = 3,
  /// string, default empty. Model name. [text]
  KAISCHED_DEVICE_COL_MODEL = 4,
  /// i64, default 0. Memory; 0 stands for the node's gpu_memory. [bytes]
  KAISCHED_DEVICE_COL_MEMORY = 5,
  /// i64, default 1000. How much of one GPU the device offers. [milli-GPU]
  KAISCHED_DEVICE_COL_SHARE = 6,
  /// i64, default -1. NUMA node; -1 if unknown. [zone]
  KAISCHED_DEVICE_COL_NUMA = 7,
  /// u8, default 1. 0: nothing new is placed on the device. [0 or 1]
  KAISCHED_DEVICE_COL_HEALTHY = 8,
  /// i64_list, default empty. Bandwidth to the devices of the node, by index; empty if unknown. [bandwidth in MB/s per
  /// device]
  KAISCHED_DEVICE_COL_LINKS = 9,
  /// string, default empty. How pods share it: exclusive (not at all), time_slicing, mps, hard_isolation, or mig (its
  /// instances are resources, and it offers nothing else); empty if unknown. Mode compat does not look at it. [mode]
  KAISCHED_DEVICE_COL_SHARING = 10,
  /// string_list, default empty. Instances of a device that is divided (mig): 3g.40gb@4 begins at memory slice 4. The
  /// action repartition looks only at nodes where they are all that capacity says. [profile@start]
  KAISCHED_DEVICE_COL_INSTANCES = 11,
  /// i64, default -1. What the device draws when no pod uses it; -1 if unknown. [milliwatts]
  KAISCHED_DEVICE_COL_POWER_IDLE = 12,
  /// i64, default -1. The same when some pod uses it; -1 if unknown. [milliwatts]
  KAISCHED_DEVICE_COL_POWER_MAX = 13,
  /// i64, default -1. Measured mean utilisation; -1 if unknown. [per mille]
  KAISCHED_DEVICE_COL_UTILIZATION = 14,
  /// i64, default 0. Standard deviation of it. [per mille]
  KAISCHED_DEVICE_COL_DEVIATION = 15
};

/// Columns of KAISCHED_TABLE_POD_GROUP.
enum kaisched_pod_group_column {
  /// string, required. Name of the group. [name]
  KAISCHED_POD_GROUP_COL_NAME = 1,
  /// string, required. Queue that is charged. [queue]
  KAISCHED_POD_GROUP_COL_QUEUE = 2,
  /// i64, default 50. Larger is served first inside a queue.
  KAISCHED_POD_GROUP_COL_PRIORITY = 3,
  /// u8, default 1. 0: never evicted, and only started within quota. [0 or 1]
  KAISCHED_POD_GROUP_COL_PREEMPTIBLE = 4,
  /// i64, default 0. Creation time. [ns]
  KAISCHED_POD_GROUP_COL_CREATED = 5,
  /// i64, default 1. Size of the gang; for groups without sub-groups. More pods than this are elastic. [pods]
  KAISCHED_POD_GROUP_COL_MIN_MEMBER = 6,
  /// i64, default unset. Number of top-level sub-groups needed; all if unset. [members]
  KAISCHED_POD_GROUP_COL_MIN_SUB_GROUP = 7,
  /// string, default empty. Pod affinity looks at pods of the same namespace. [name]
  KAISCHED_POD_GROUP_COL_NAMESPACE = 8,
  /// i64, default unset. When the group last started; unset if never. [ns]
  KAISCHED_POD_GROUP_COL_LAST_START = 9,
  /// i64, default unset. When a pod of the group was last evicted. [ns]
  KAISCHED_POD_GROUP_COL_LAST_EVICTION = 10,
  /// i64, default unset. Since when the group has fewer active pods than its gang. [ns]
  KAISCHED_POD_GROUP_COL_STALE_SINCE = 11,
  /// i64, default unset. The group evicts no pod before it has waited for so long. [ns]
  KAISCHED_POD_GROUP_COL_PREEMPTION_DELAY = 12,
  /// i64, default unset. How long a stale group is left alone; negative is for ever. [ns]
  KAISCHED_POD_GROUP_COL_STALENESS_GRACE = 13,
  /// i64, default unset. Expected run time. [ns]
  KAISCHED_POD_GROUP_COL_RUNTIME_ESTIMATE = 14,
  /// string, default empty. Topology that the levels of the group belong to; empty: the group may be anywhere.
  /// [topology]
  KAISCHED_POD_GROUP_COL_TOPOLOGY = 15,
  /// string, default empty. Level of the topology: all pods of the group must be in one of its domains; empty: no
  /// requirement. [node label key]
  KAISCHED_POD_GROUP_COL_REQUIRED_LEVEL = 16,
  /// string, default empty. Level of the topology: the pods should be in one of its domains; empty: no preference.
  /// [node label key]
  KAISCHED_POD_GROUP_COL_PREFERRED_LEVEL = 17,
  /// i64, default unset. When the group should be done; for the part deadline. [ns]
  KAISCHED_POD_GROUP_COL_DEADLINE = 18,
  /// i64, default 0. GPU time that the group has had before its last start; for the part las. [milli-GPU seconds]
  KAISCHED_POD_GROUP_COL_ATTAINED_SERVICE = 19,
  /// i64, default unset. Longest time for which the group may run; for the action runtimelimit. [ns]
  KAISCHED_POD_GROUP_COL_MAX_RUNTIME = 20,
  /// i64, default unset. After an eviction the group is not served for so long. [ns]
  KAISCHED_POD_GROUP_COL_REQUEUE_DELAY = 21,
  /// string, default empty. Whose group it is; for the part userfairness. [name]
  KAISCHED_POD_GROUP_COL_USER = 22,
  /// string, default empty. Stands for both priority and preemptible: train (50), build-preemptible (75), build (100),
  /// inference (125); below 100 groups are preemptible. Read only: what is kept is the two. [class]
  KAISCHED_POD_GROUP_COL_PRIORITY_CLASS = 23,
  /// i64, default 0. In how many sessions pods of the group were evicted before: for reports, and the option
  /// victims.most_evictions. The host counts.
  KAISCHED_POD_GROUP_COL_EVICTIONS = 24,
  /// u8, default 0. 1: the core, which is what the gangs of the group need, counts as not preemptible, all beyond it as
  /// preemptible. preemptible is 0 then. [0 or 1]
  KAISCHED_POD_GROUP_COL_SEMI_PREEMPTIBLE = 25,
  /// i64, default unset. Consolidation may migrate so many pods of the group at a time, preemptible or not, less those
  /// that are not on a node; unset: it treats the group like any other. [pods]
  KAISCHED_POD_GROUP_COL_DISRUPTION_BUDGET = 26,
  /// i64, default 0. While pods of the group are outdated, limits and quotas leave out so many of these. [pods]
  KAISCHED_POD_GROUP_COL_MAX_SURGE = 27,
  /// string_list, default empty. Groups that have to begin or end before: ok:NAME (all pods succeeded), failed:NAME,
  /// any:NAME (ended either way), started:NAME. The cluster writes never:NAME where a group left otherwise. [kind:pod
  /// group]
  KAISCHED_POD_GROUP_COL_AFTER = 28,
  /// string_list, default empty. Controllers that have to agree before pods of the group may start. The group is
  /// decided as ever and holds what it gets; its decisions name those that have not agreed. [names]
  KAISCHED_POD_GROUP_COL_CHECKS = 29,
  /// string_list, default empty. How fast the group is with so many pods, such as 1:1, 2:1.9, 4:3.5; what a further pod
  /// brings never grows. For the part goodput and the action resize. [pods:throughput]
  KAISCHED_POD_GROUP_COL_SPEEDUP = 30,
  /// i64, default unset. When the group last saved its work; for the part lost_work. [ns]
  KAISCHED_POD_GROUP_COL_LAST_CHECKPOINT = 31,
  /// i64, default 0. How long the group takes to go on after it has been stopped; for the part lost_work. [ns]
  KAISCHED_POD_GROUP_COL_RESTART_COST = 32,
  /// i64, default 0. What a pod of the group exchanges with the others; for the part traffic. [MB/s]
  KAISCHED_POD_GROUP_COL_TRAFFIC = 33,
  /// string_list, default empty. What the group needs at least, in fixed units, when it is let in; empty: what the
  /// first pods of its gang ask for. For the action volcano. [resource:amount]
  KAISCHED_POD_GROUP_COL_MIN_RESOURCES = 34,
  /// i64, default 0. Actions that have searched for victims of the group while searches took more effort than one
  /// session has: 4 consolidation, 8 reclaim, 16 preempt. Groups without the bit are searched for first. 256 times
  /// these: actions whose last long search found nothing, at the second that the bits from 65536 on count. A session
  /// says what it becomes (table pod_group of a session). [bits]
  KAISCHED_POD_GROUP_COL_SEARCHED = 35
};

/// Columns of KAISCHED_TABLE_SUB_GROUP.
enum kaisched_sub_group_column {
  /// string, required. Pod group of the sub-group. [pod group]
  KAISCHED_SUB_GROUP_COL_GROUP = 1,
  /// string, required. Name, unique in the pod group. [name]
  KAISCHED_SUB_GROUP_COL_NAME = 2,
  /// string, default empty. Parent sub-group of the same pod group; empty below the root. Parents hold no pods.
  /// [sub-group]
  KAISCHED_SUB_GROUP_COL_PARENT = 3,
  /// i64, default 0. Size of the gang, for sub-groups that hold pods. [pods]
  KAISCHED_SUB_GROUP_COL_MIN_MEMBER = 4,
  /// i64, default unset. Number of child sub-groups needed; all if unset. Makes the sub-group an inner one. [members]
  KAISCHED_SUB_GROUP_COL_MIN_SUB_GROUP = 5,
  /// string, default empty. Topology that the levels of the sub-group belong to; empty: no constraint of its own.
  /// [topology]
  KAISCHED_SUB_GROUP_COL_TOPOLOGY = 6,
  /// string, default empty. Level of the topology: all pods of the sub-group must be in one of its domains; empty: no
  /// requirement. [node label key]
  KAISCHED_SUB_GROUP_COL_REQUIRED_LEVEL = 7,
  /// string, default empty. Level of the topology: the pods should be in one of its domains; empty: no preference.
  /// [node label key]
  KAISCHED_SUB_GROUP_COL_PREFERRED_LEVEL = 8,
  /// i64, default 0. Pods of the sub-group in one unit of the group, which grows beyond its gangs, and shrinks, by
  /// whole units; 0: the sub-group is in none. [pods]
  KAISCHED_SUB_GROUP_COL_UNIT = 9
};

/// Columns of KAISCHED_TABLE_POD.
enum kaisched_pod_column {
  /// string, required. Name of the pod, unique in the cluster. [name]
  KAISCHED_POD_COL_NAME = 1,
  /// string, default empty. Pod group of the pod; empty: the pod only uses its node (a daemon), is charged to no queue,
  /// and is never placed or evicted. [pod group]
  KAISCHED_POD_COL_GROUP = 2,
  /// string, default empty. Sub-group that holds the pod; empty in groups without sub-groups. [sub-group]
  KAISCHED_POD_COL_SUB_GROUP = 3,
  /// i64 x dimensions, required. Requested amount of every dimension. A request of 0 pods is read as 1. [fixed units]
  KAISCHED_POD_COL_REQUEST = 4,
  /// u32, default 0. Number of devices that the gpu request is spread over, in equal shares; 0: whole devices, or one.
  /// [devices]
  KAISCHED_POD_COL_DEVICE_COUNT = 5,
  /// u8, default 0. 0 pending, 1 gated, 2 allocated, 3 pipelined, 4 binding, 5 bound, 6 running, 7 releasing, 8 stuck
  /// in releasing, 9 succeeded, 10 failed, 11 unknown. [pod status]
  KAISCHED_POD_COL_STATUS = 6,
  /// string, default empty. Node that the pod is on or leaves; empty if none. [node]
  KAISCHED_POD_COL_NODE = 7,
  /// i64_list, default empty. Devices that the pod holds; chosen by the library, lowest index first, if empty; -1
  /// alone: not known. [device indices]
  KAISCHED_POD_COL_DEVICES = 8,
  /// i64, default 0. Creation time. [ns]
  KAISCHED_POD_COL_CREATED = 9,
  /// i64, default unset. Order inside the group: larger first, unset last.
  KAISCHED_POD_COL_PRIORITY = 10,
  /// u8, default 0. 1: placed before the other pods of the group. [0 or 1]
  KAISCHED_POD_COL_LEADER = 11,
  /// string_list, default empty. Labels that a node must have. [key, value, key, value, ...]
  KAISCHED_POD_COL_NODE_SELECTOR = 12,
  /// string_list, default empty. Required node affinity: one of the terms must match. A term is a selector such as
  /// 'zone in (a,b),!spot,cores>8'. [label selectors]
  KAISCHED_POD_COL_NODE_AFFINITY = 13,
  /// string_list, default empty. Tolerations: 'key=value:Effect', 'key:Effect' (any value), 'key=value', 'key' (any
  /// effect), '*' (everything), '*:Effect'. [key=value:Effect]
  KAISCHED_POD_COL_TOLERATIONS = 14,
  /// string_list, default empty. Required pod affinity: in the domain of the node (equal value of the label) there is a
  /// pod that matches. [topology key: label selector]
  KAISCHED_POD_COL_AFFINITY = 15,
  /// string_list, default empty. Required pod anti-affinity; binds in both directions. [topology key: label selector]
  KAISCHED_POD_COL_ANTI_AFFINITY = 16,
  /// string_list, default empty. Ports of the node that the pod takes; protocol TCP unless given.
  /// [[address:]port[/protocol]]
  KAISCHED_POD_COL_HOST_PORTS = 17,
  /// string_list, default empty. Labels, for the affinity of other pods. [key, value, key, value, ...]
  KAISCHED_POD_COL_LABELS = 18,
  /// string, default empty. What keeps the pod from every node and no eviction can remove, such as a missing volume
  /// claim. [text]
  KAISCHED_POD_COL_OBSTACLE = 19,
  /// string, default empty. Node on which the pod has been promised a place, which is kept for it
  /// (nominations.timeout); preferred over all others. [node]
  KAISCHED_POD_COL_NOMINATED_NODE = 20,
  /// i64, default 0. Memory wanted of each of device_count devices (0: of one), instead of a gpu request. [bytes]
  KAISCHED_POD_COL_GPU_MEMORY = 21,
  /// string_list, default empty. Names of the resource claims of the pod. A claim may appear later than the pod that
  /// waits for it. [resource claims]
  KAISCHED_POD_COL_CLAIMS = 22,
  /// i64_list, default empty. NUMA zones of the node that the pod uses, by position; empty if unknown. [0..63]
  KAISCHED_POD_COL_NUMA_ZONES = 23,
  /// string, default empty. Quality of service: Guaranteed, Burstable or BestEffort; empty if unknown. [class]
  KAISCHED_POD_COL_QOS = 24,
  /// u8, default 0. 1: an update replaces the pod: it ends when a new one runs. See max_surge of groups. [0 or 1]
  KAISCHED_POD_COL_OUTDATED = 25,
  /// string_list, default empty. What each container asks for, in fixed units, for the alignment with NUMA zones;
  /// sidecars are init containers that stay. Empty: one container asks for all. Other rules look at request only.
  /// [[init:|sidecar:]name=amount,...]
  KAISCHED_POD_COL_CONTAINERS = 26,
  /// u32, default 0. How many of the whole GPUs in request are those of the claims: they are counted, and the claims
  /// say which. [devices]
  KAISCHED_POD_COL_CLAIMED_GPUS = 27,
  /// string, default empty. How the devices that it gets parts of must be shared: time_slicing, mps or hard_isolation;
  /// empty: in any way. [mode]
  KAISCHED_POD_COL_SHARING = 28,
  /// string_list, default empty. What each container asks of a vendor: container, init, vendor, count, and of each
  /// device memory in bytes or memory_permille, cores, slices, amount. Such a pod goes to nodes with vendor_devices;
  /// the GPUs in request are then only what queues and the node are charged. [container=0,vendor=NVIDIA,count=1,...]
  KAISCHED_POD_COL_DEVICE_REQUESTS = 29,
  /// string_list, default empty. Annotations that rules read: of vendors about types, ids and policies, of Volcano
  /// about roles. [key=value]
  KAISCHED_POD_COL_ANNOTATIONS = 30,
  /// string_list, default empty. What a pod on a node has of its vendor_devices, and where it is in cells
  /// (cell=LEVEL,number=0,gpus=0+1), as decisions say it. Empty: not known, the session takes what it would give.
  /// [container=0,device=ID,memory=...,...]
  KAISCHED_POD_COL_DEVICE_GRANTS = 31,
  /// string_list, default empty. Instances of divided devices that the pod uses on its node; empty if unknown: all of
  /// their profile that no other pod uses stay as they are. [device/profile@start]
  KAISCHED_POD_COL_MIG_INSTANCES = 32,
  /// string, default empty. Disruption budget that the pod counts in, for the option respect_disruption_budgets; empty:
  /// none. A budget may appear later than its pods, and bounds nothing until then. [disruption budget]
  KAISCHED_POD_COL_DISRUPTION_BUDGET = 33,
  /// string_list, default empty. Preferred node affinity: the weight of each selector that a node matches, 1 to 100,
  /// counts for it. Read by the plug-in nodeorder of volcano. [weight: label selector]
  KAISCHED_POD_COL_NODE_PREFERENCES = 34,
  /// string_list, default empty. How evenly pods that the selector matches must be spread over the domains of a key:
  /// 'SKEW key [WORD ...]: selector', see the part topologyspread. [skew key: label selector]
  KAISCHED_POD_COL_SPREAD = 35,
  /// string_list, default empty. Preferred affinity to pods, and where the weight is negative anti-affinity: -100 to
  /// 100, see the part interpodaffinity. [weight topology key: label selector]
  KAISCHED_POD_COL_PREFERENCES = 36,
  /// string_list, default empty. What the pod uses of resources of its device that are shared by time, such as
  /// compute:400, bandwidth:700; for the part colocation. [resource:thousandths]
  KAISCHED_POD_COL_LOAD = 37,
  /// i64, default unset. When the pod got its nominated_node; unset: the promise does not run out. [ns]
  KAISCHED_POD_COL_NOMINATED_SINCE = 38
};

/// Columns of KAISCHED_TABLE_NUMA_ZONE.
enum kaisched_numa_zone_column {
  /// string, required. Node of the zone. [node]
  KAISCHED_NUMA_ZONE_COL_NODE = 1,
  /// string, required. Name, unique on the node. Zones are numbered from 0 by the number at the end of their names;
  /// those without a number come last, by name. [name]
  KAISCHED_NUMA_ZONE_COL_NAME = 2,
  /// i64 x dimensions, required. Allocatable amount of every dimension in the zone. [fixed units]
  KAISCHED_NUMA_ZONE_COL_CAPACITY = 3,
  /// i64 x dimensions, default 0. What of it is free, as the node reports. [fixed units]
  KAISCHED_NUMA_ZONE_COL_AVAILABLE = 4
};

/// Columns of KAISCHED_TABLE_RESOURCE_CLAIM.
enum kaisched_resource_claim_column {
  /// string, required. Name, unique in the cluster, such as namespace/name. [name]
  KAISCHED_RESOURCE_CLAIM_COL_NAME = 1,
  /// string, default empty. Class of the devices. [text]
  KAISCHED_RESOURCE_CLAIM_COL_DEVICE_CLASS = 2,
  /// i64, default 1. Number of devices. [devices]
  KAISCHED_RESOURCE_CLAIM_COL_COUNT = 3,
  /// string_list, default empty. Labels. [key, value, key, value, ...]
  KAISCHED_RESOURCE_CLAIM_COL_LABELS = 4,
  /// string_list, default empty. Devices that the claim has been given; empty: none yet. [driver/pool/device]
  KAISCHED_RESOURCE_CLAIM_COL_DEVICES = 5,
  /// string_list, default empty. Pods that use the devices of the claim. Names of pods elsewhere are kept as they are.
  /// [pod names]
  KAISCHED_RESOURCE_CLAIM_COL_RESERVED_FOR = 6,
  /// string, default empty. Node of the devices; empty if not known: every node can use them. [node]
  KAISCHED_RESOURCE_CLAIM_COL_NODE = 7,
  /// u8, default 0. 1: made for one pod from a template. Other claims of GPUs need the label kai.scheduler/queue with
  /// the queue of the pod. [0 or 1]
  KAISCHED_RESOURCE_CLAIM_COL_FROM_TEMPLATE = 8,
  /// string_list, default empty. What devices of the claim have in common: match domain/name, or distinct domain/name,
  /// and ': request, request/alternative' if it is not for all. For mode strict. [match domain/name]
  KAISCHED_RESOURCE_CLAIM_COL_CONSTRAINTS = 9,
  /// string_list, default empty. Which request has which device: request[/alternative]=driver/pool/device, ;admin,
  /// ;domain/name=amount for what it consumes of a device that several share. [request=driver/pool/device]
  KAISCHED_RESOURCE_CLAIM_COL_RESULTS = 10
};

/// Columns of KAISCHED_TABLE_DEVICE_QUOTA.
enum kaisched_device_quota_column {
  /// string, required. Namespace of pod groups. [name]
  KAISCHED_DEVICE_QUOTA_COL_NAMESPACE = 1,
  /// string, required. Vendor, unique within the namespace. [key]
  KAISCHED_DEVICE_QUOTA_COL_VENDOR = 2,
  /// i64, default -1. Most memory of vendor_devices that its pods may hold together; -1 is unlimited. [bytes]
  KAISCHED_DEVICE_QUOTA_COL_MEMORY = 3,
  /// i64, default -1. The same for cores. [of the vendor]
  KAISCHED_DEVICE_QUOTA_COL_CORES = 4,
  /// i64, default -1. The same for places on devices. [sharers]
  KAISCHED_DEVICE_QUOTA_COL_SLOTS = 5
};

/// Columns of KAISCHED_TABLE_DEVICE_CLASS.
enum kaisched_device_class_column {
  /// string, required. Name of the class. [name]
  KAISCHED_DEVICE_CLASS_COL_NAME = 1,
  /// string_list, default empty. Expressions that all choose a device of the class. [CEL]
  KAISCHED_DEVICE_CLASS_COL_SELECTORS = 2
};

/// Columns of KAISCHED_TABLE_RESOURCE_SLICE.
enum kaisched_resource_slice_column {
  /// string, required. Name, unique in the cluster. [name]
  KAISCHED_RESOURCE_SLICE_COL_NAME = 1,
  /// string, default empty. Driver of the devices. [text]
  KAISCHED_RESOURCE_SLICE_COL_DRIVER = 2,
  /// string, default empty. Pool that the slice is a part of. [text]
  KAISCHED_RESOURCE_SLICE_COL_POOL = 3,
  /// i64, default 0. Of a pool only the slices of the highest generation count.
  KAISCHED_RESOURCE_SLICE_COL_GENERATION = 4,
  /// i64, default 1. How many slices of this generation the pool has; until they are there none of its devices is
  /// given. [slices]
  KAISCHED_RESOURCE_SLICE_COL_SLICES = 5,
  /// string, default empty. Node that the devices can be used from. [node]
  KAISCHED_RESOURCE_SLICE_COL_NODE = 6,
  /// string, default empty. Nodes that they can be used from, if there is no node. [label selector]
  KAISCHED_RESOURCE_SLICE_COL_NODE_SELECTOR = 7,
  /// u8, default 0. 1: they can be used from everywhere. [0 or 1]
  KAISCHED_RESOURCE_SLICE_COL_ALL_NODES = 8,
  /// string_list, default empty. Counters that devices of the pool share. [set/counter=amount]
  KAISCHED_RESOURCE_SLICE_COL_COUNTERS = 9
};

/// Columns of KAISCHED_TABLE_SLICE_DEVICE.
enum kaisched_slice_device_column {
  /// string, required. Name, unique in the cluster, such as slice/device. [name]
  KAISCHED_SLICE_DEVICE_COL_NAME = 1,
  /// string, default empty. Slice that offers it; it may come later. [text]
  KAISCHED_SLICE_DEVICE_COL_SLICE = 2,
  /// string, default the name. Name in its pool. [text]
  KAISCHED_SLICE_DEVICE_COL_DEVICE = 3,
  /// i64, default 0. Devices of a slice are tried in this order, then by name.
  KAISCHED_SLICE_DEVICE_COL_POSITION = 4,
  /// string_list, default empty. Attributes; type is int, bool, string or version, or ints, bools, strings, versions
  /// once for each value of a list. [domain/name=type:value]
  KAISCHED_SLICE_DEVICE_COL_ATTRIBUTES = 5,
  /// string_list, default empty. Capacities; ;default=, ;value=, ;min=, ;max=, ;step= say how requests share them.
  /// [domain/name=amount]
  KAISCHED_SLICE_DEVICE_COL_CAPACITIES = 6,
  /// string_list, default empty. What it takes of counters of its pool. [set/counter=amount]
  KAISCHED_SLICE_DEVICE_COL_CONSUMES = 7,
  /// string_list, default empty. Taints; NoSchedule and NoExecute keep requests away. [key=value:Effect]
  KAISCHED_SLICE_DEVICE_COL_TAINTS = 8,
  /// u8, default 0. 1: several requests can have it, up to its capacities. [0 or 1]
  KAISCHED_SLICE_DEVICE_COL_SHARED = 9,
  /// string, default empty. Node that it can be used from; if none of these three is given, that of the slice. [node]
  KAISCHED_SLICE_DEVICE_COL_NODE = 10,
  /// string, default empty. Nodes that it can be used from. [label selector]
  KAISCHED_SLICE_DEVICE_COL_NODE_SELECTOR = 11,
  /// u8, default 0. 1: it can be used from everywhere. [0 or 1]
  KAISCHED_SLICE_DEVICE_COL_ALL_NODES = 12
};

/// Columns of KAISCHED_TABLE_CLAIM_REQUEST.
enum kaisched_claim_request_column {
  /// string, required. Name, unique in the cluster, such as claim/request/alternative. [name]
  KAISCHED_CLAIM_REQUEST_COL_NAME = 1,
  /// string, default empty. Resource claim; it may come later. [text]
  KAISCHED_CLAIM_REQUEST_COL_CLAIM = 2,
  /// string, default the name. Request of the claim. Rows with the same request are alternatives, of which one is
  /// enough. [text]
  KAISCHED_CLAIM_REQUEST_COL_REQUEST = 3,
  /// string, default empty. Name of the alternative. [text]
  KAISCHED_CLAIM_REQUEST_COL_ALTERNATIVE = 4,
  /// i64, default 0. Requests of a claim, and alternatives, are served in this order, then by name.
  KAISCHED_CLAIM_REQUEST_COL_POSITION = 5,
  /// string, default empty. Class whose selectors choose the devices. [text]
  KAISCHED_CLAIM_REQUEST_COL_DEVICE_CLASS = 6,
  /// string_list, default empty. Further expressions that all choose a device. [CEL]
  KAISCHED_CLAIM_REQUEST_COL_SELECTORS = 7,
  /// i64, default 1. Number of devices. [devices]
  KAISCHED_CLAIM_REQUEST_COL_COUNT = 8,
  /// u8, default 0. 1: all devices that are chosen. [0 or 1]
  KAISCHED_CLAIM_REQUEST_COL_ALL = 9,
  /// u8, default 0. 1: access beside all others, which takes nothing. [0 or 1]
  KAISCHED_CLAIM_REQUEST_COL_ADMIN = 10,
  /// string_list, default empty. Taints of devices that do not matter. [key=value:Effect]
  KAISCHED_CLAIM_REQUEST_COL_TOLERATIONS = 11,
  /// string_list, default empty. What a device must have; of one that several share, what the request takes.
  /// [[domain/]name=amount]
  KAISCHED_CLAIM_REQUEST_COL_CAPACITIES = 12
};

/// Columns of KAISCHED_TABLE_DISRUPTION_BUDGET.
enum kaisched_disruption_budget_column {
  /// string, required. Name, unique in the cluster, such as namespace/name. [name]
  KAISCHED_DISRUPTION_BUDGET_COL_NAME = 1,
  /// i64, default 0. How many of the pods that name the budget may be made to leave or move now. [pods]
  KAISCHED_DISRUPTION_BUDGET_COL_ALLOWED = 2
};

/// Columns of KAISCHED_TABLE_RESERVATION.
enum kaisched_reservation_column {
  /// string, required. Name, unique in the cluster. [name]
  KAISCHED_RESERVATION_COL_NAME = 1,
  /// string_list, default empty. Nodes that are reserved, by name; they may come later. With neither names nor a
  /// selector: all nodes. [nodes]
  KAISCHED_RESERVATION_COL_NODES = 2,
  /// string, default empty. Nodes that are reserved beside those that are named. [label selector]
  KAISCHED_RESERVATION_COL_NODE_SELECTOR = 3,
  /// i64, default 0. From when on the nodes are reserved. [ns]
  KAISCHED_RESERVATION_COL_START = 4,
  /// i64, default unset. Until when, later than start; unset: until the row is removed. [ns]
  KAISCHED_RESERVATION_COL_END = 5,
  /// i64, default unset. After how long the time from start to end comes again, and again; not shorter than that.
  /// Unset: never. [ns]
  KAISCHED_RESERVATION_COL_EVERY = 6,
  /// string, default empty. Groups of this queue and of those below may use the nodes meanwhile; it may come later.
  /// [queue]
  KAISCHED_RESERVATION_COL_QUEUE = 7,
  /// string, default empty. This pod group may use them; it may come later. With neither queue nor group: no group may.
  /// [pod group]
  KAISCHED_RESERVATION_COL_GROUP = 8,
  /// i64, default unset. How long before each start others who would still be there are evicted by the action vacate;
  /// 0: at the start. Unset: never. [ns]
  KAISCHED_RESERVATION_COL_EVICT_BEFORE = 9
};

/// Columns of KAISCHED_TABLE_DECISION.
enum kaisched_decision_column {
  /// u8. 1 bind, 2 pipeline, 3 evict, 4 move, 5 unschedulable, 6 migrate, 7 repartition. [decision kind]
  KAISCHED_DECISION_COL_KIND = 1,
  /// u64. Pod, or 0. [id]
  KAISCHED_DECISION_COL_POD = 2,
  /// u64. Pod group. [id]
  KAISCHED_DECISION_COL_GROUP = 3,
  /// u64. Target node; for evict the node that the pod leaves; 0 if none. [id]
  KAISCHED_DECISION_COL_NODE = 4,
  /// i64_list. Devices of the node; empty for a claim on whole devices: any that come free will do. [device indices]
  KAISCHED_DECISION_COL_DEVICES = 5,
  /// i64. Share of each device. [milli-GPU]
  KAISCHED_DECISION_COL_DEVICE_SHARE = 6,
  /// string. Action that decided. [action]
  KAISCHED_DECISION_COL_ACTION = 7,
  /// u32. Decisions of one commit stand or fall together; 0 for unschedulable. [number]
  KAISCHED_DECISION_COL_COMMIT = 8,
  /// string. Name of pod. [name]
  KAISCHED_DECISION_COL_POD_NAME = 9,
  /// string. Name of node. [name]
  KAISCHED_DECISION_COL_NODE_NAME = 10,
  /// string. Name of group. [name]
  KAISCHED_DECISION_COL_GROUP_NAME = 11,
  /// i64_list. NUMA zones of the node that the pod is expected to use, by position; for the part numa. [0..63]
  KAISCHED_DECISION_COL_NUMA_ZONES = 12,
  /// string_list. Devices of the pod's claims; empty for evict. [claim=driver/pool/device]
  KAISCHED_DECISION_COL_CLAIM_DEVICES = 13,
  /// i64_list. What the pod may use of each of the devices; 0 where the memory of the device is not known, empty if
  /// that of none is. [bytes]
  KAISCHED_DECISION_COL_DEVICE_MEMORY = 14,
  /// string_list. How each of the devices is shared: the column sharing of the table device, or unknown; empty if
  /// nothing is said of the node's devices. [modes]
  KAISCHED_DECISION_COL_SHARING = 15,
  /// string_list. What each container gets of each of the node's vendor_devices, and where the pod is in cells; empty
  /// for evict. [container=0,device=ID,memory=...,...]
  KAISCHED_DECISION_COL_DEVICE_GRANTS = 16,
  /// string_list. Of repartition: all instances that the device has then, by start. [profile@start]
  KAISCHED_DECISION_COL_LAYOUT = 17,
  /// string_list. Of repartition: instances that the device has no more. [profile@start]
  KAISCHED_DECISION_COL_GONE = 18,
  /// i64. Of repartition: what the pods hold that have to leave instances of the device. [milli-GPU]
  KAISCHED_DECISION_COL_DRAIN_COST = 19,
  /// string_list. Of bind and pipeline: checks that must agree that the group may start. The host holds the place until
  /// they have. [names]
  KAISCHED_DECISION_COL_CHECKS = 20
};

/// Columns of KAISCHED_TABLE_REASON.
enum kaisched_reason_column {
  /// u64. Pod group that waits. [id]
  KAISCHED_REASON_COL_GROUP = 1,
  /// string. Its name. [name]
  KAISCHED_REASON_COL_GROUP_NAME = 2,
  /// u64. First pod without a place, or 0. [id]
  KAISCHED_REASON_COL_POD = 3,
  /// string. What stands in the way. [constraint]
  KAISCHED_REASON_COL_CONSTRAINT = 4,
  /// string. node, queue, group, cluster or domain. [scope]
  KAISCHED_REASON_COL_SCOPE = 5,
  /// u64. Queue that refuses, or pod group that would start later; 0 if neither. [id]
  KAISCHED_REASON_COL_SUBJECT = 6,
  /// string. Dimension that is short, or empty. [resource]
  KAISCHED_REASON_COL_DIMENSION = 7,
  /// i64. What is needed. [fixed units]
  KAISCHED_REASON_COL_NEED = 8,
  /// i64. Most that there is in one place. [fixed units]
  KAISCHED_REASON_COL_HAVE = 9,
  /// u32. Nodes or domains that refuse so. [nodes]
  KAISCHED_REASON_COL_NODES = 10,
  /// string. Node that misses the least, or empty. [node]
  KAISCHED_REASON_COL_NEAREST_NODE = 11,
  /// string. The reason as a sentence. [text]
  KAISCHED_REASON_COL_TEXT = 12
};

/// Columns of KAISCHED_TABLE_QUEUE_SHARE.
enum kaisched_queue_share_column {
  /// u64. Queue. [id]
  KAISCHED_QUEUE_SHARE_COL_QUEUE = 1,
  /// string. Its name. [name]
  KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME = 2,
  /// string. Parent, or empty. [name]
  KAISCHED_QUEUE_SHARE_COL_PARENT_NAME = 3,
  /// i64 x 3. Quota; -1 unlimited. [fixed units]
  KAISCHED_QUEUE_SHARE_COL_QUOTA = 4,
  /// i64 x 3. Limit; -1 unlimited. [fixed units]
  KAISCHED_QUEUE_SHARE_COL_LIMIT = 5,
  /// i64 x 3. Fair share of this session. [fixed units]
  KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE = 6,
  /// i64 x 3. Held and asked for at the start of the session. [fixed units]
  KAISCHED_QUEUE_SHARE_COL_REQUEST = 7,
  /// i64 x 3. Held at the end of the session. [fixed units]
  KAISCHED_QUEUE_SHARE_COL_ALLOCATED = 8,
  /// i64. Pods of the queue and its children that still wait. [pods]
  KAISCHED_QUEUE_SHARE_COL_PENDING_PODS = 9,
  /// i64. How often groups of the queue and its children were evicted, in this session and before.
  KAISCHED_QUEUE_SHARE_COL_EVICTIONS = 10,
  /// i64. Pods of the queue and its children that this session evicts or moves. [pods]
  KAISCHED_QUEUE_SHARE_COL_EVICTED_PODS = 11
};

/// Columns of KAISCHED_TABLE_PLACEMENT.
enum kaisched_placement_column {
  /// u64. Pod. [id]
  KAISCHED_PLACEMENT_COL_POD = 1,
  /// string. Its name. [name]
  KAISCHED_PLACEMENT_COL_POD_NAME = 2,
  /// u8. Status at the end. [pod status]
  KAISCHED_PLACEMENT_COL_STATUS = 3,
  /// u64. Node, or 0. [id]
  KAISCHED_PLACEMENT_COL_NODE = 4,
  /// string. Name of node, or empty. [name]
  KAISCHED_PLACEMENT_COL_NODE_NAME = 5,
  /// i64_list. Devices held. [device indices]
  KAISCHED_PLACEMENT_COL_DEVICES = 6,
  /// i64_list. NUMA zones of the node that the pod is expected to use, by position; for the part numa. [0..63]
  KAISCHED_PLACEMENT_COL_NUMA_ZONES = 7
};

/// Columns of KAISCHED_TABLE_STATISTIC.
enum kaisched_statistic_column {
  /// string. Action. [action]
  KAISCHED_STATISTIC_COL_ACTION = 1,
  /// u64. Units of work. [steps]
  KAISCHED_STATISTIC_COL_STEPS = 2,
  /// u64. Attempts to place a chunk of a group.
  KAISCHED_STATISTIC_COL_GROUPS_TRIED = 3,
  /// u64. Attempts that succeeded.
  KAISCHED_STATISTIC_COL_GROUPS_PLACED = 4,
  /// u64. Nodes tested for a fit.
  KAISCHED_STATISTIC_COL_CANDIDATES = 5,
  /// u64. Nodes refused.
  KAISCHED_STATISTIC_COL_FILTERED = 6,
  /// u64. Operations undone.
  KAISCHED_STATISTIC_COL_ROLLBACKS = 7,
  /// u64. Sets of victims that were tried.
  KAISCHED_STATISTIC_COL_SIMULATIONS = 8
};

/// Columns of KAISCHED_TABLE_QUARANTINE.
enum kaisched_quarantine_column {
  /// string. Kind of the object, such as pod_group. [kind of table]
  KAISCHED_QUARANTINE_COL_KIND = 1,
  /// string. Pod group of a sub-group, node of a device or NUMA zone; empty for other kinds. [name]
  KAISCHED_QUARANTINE_COL_OWNER = 2,
  /// string. Name of the object; of a device its index. What cannot be shown of it is replaced by U+FFFD. [name]
  KAISCHED_QUARANTINE_COL_NAME = 3,
  /// string. Column at fault; empty if it is the object as a whole. [column]
  KAISCHED_QUARANTINE_COL_COLUMN = 4,
  /// string. What the call would have failed with, such as not_found. [status]
  KAISCHED_QUARANTINE_COL_STATUS = 5,
  /// string. The reason as a sentence. [text]
  KAISCHED_QUARANTINE_COL_TEXT = 6,
  /// string. The object in quarantine that this one depends on, such as 'queue research'; empty if the fault is its
  /// own. [kind and name]
  KAISCHED_QUARANTINE_COL_BECAUSE_OF = 7,
  /// u8. 1: there is an object of this name: one that a bad change or removal left as it was, or a pod that only uses
  /// its node instead of the one that was left out. [0 or 1]
  KAISCHED_QUARANTINE_COL_PRESENT = 8
};

/// Columns of KAISCHED_TABLE_ATTEMPT.
enum kaisched_attempt_column {
  /// string. Action. [action]
  KAISCHED_ATTEMPT_COL_ACTION = 1,
  /// u64. Pod group that waited. [id]
  KAISCHED_ATTEMPT_COL_GROUP = 2,
  /// string. Its name. [name]
  KAISCHED_ATTEMPT_COL_GROUP_NAME = 3,
  /// string. How it ended, such as placed, delayed, no_victims or cut. [outcome]
  KAISCHED_ATTEMPT_COL_OUTCOME = 4,
  /// u64. Sets of victims that were tried.
  KAISCHED_ATTEMPT_COL_SETS = 5,
  /// u64. Of these, made room but were refused by the rules of the action.
  KAISCHED_ATTEMPT_COL_REFUSED = 6,
  /// u8. 1: a group was left alone because of its minimum runtime. [0 or 1]
  KAISCHED_ATTEMPT_COL_SPARED = 7,
  /// string. A disruption budget that did not let pods go; empty: none was in the way. [disruption budget]
  KAISCHED_ATTEMPT_COL_BUDGET = 8,
  /// u64. Steps that the search took, see the options search_steps, action_steps and session_steps. [steps]
  KAISCHED_ATTEMPT_COL_STEPS = 9,
  /// u8. 1: no steps were left before the search had come to its end, or before it began. [0 or 1]
  KAISCHED_ATTEMPT_COL_CUT = 10
};

/// Columns of KAISCHED_TABLE_SHARING_GROUP.
enum kaisched_sharing_group_column {
  /// string. Name of the group: node and device. In compat node/group-N where the device is not known, and
  /// node/device/N if an older group of the device is still closing. [node/device]
  KAISCHED_SHARING_GROUP_COL_NAME = 1,
  /// u64. Node. [id]
  KAISCHED_SHARING_GROUP_COL_NODE = 2,
  /// string. Its name. [name]
  KAISCHED_SHARING_GROUP_COL_NODE_NAME = 3,
  /// i64. Index of the device on the node; -1: not known, which happens in compat. [index]
  KAISCHED_SHARING_GROUP_COL_DEVICE = 4,
  /// string. How the device is shared; empty: nothing is said. [mode]
  KAISCHED_SHARING_GROUP_COL_SHARING = 5,
  /// string. open: pods hold parts and stay; promised: some only wait for parts; closing: all are leaving. [state]
  KAISCHED_SHARING_GROUP_COL_STATE = 6,
  /// i64. Memory of the device; 0: not known, and the three amounts below are thousandths of the device. [bytes]
  KAISCHED_SHARING_GROUP_COL_MEMORY = 7,
  /// i64. Held by pods, those that are leaving included. [bytes]
  KAISCHED_SHARING_GROUP_COL_USED = 8,
  /// i64. Held by pods that stay; in compat as KAI counts, those that are leaving included. [bytes]
  KAISCHED_SHARING_GROUP_COL_ALLOCATED = 9,
  /// i64. Coming free, less what is promised to pods that wait; negative where they wait for free parts. [bytes]
  KAISCHED_SHARING_GROUP_COL_RELEASING = 10,
  /// string_list. Pods that hold or wait for parts, by name. [names]
  KAISCHED_SHARING_GROUP_COL_PODS = 11,
  /// i64. Decision that made the device a shared one, as row of the table of decisions; -1: none of the session. [row]
  KAISCHED_SHARING_GROUP_COL_OPENED_BY = 12,
  /// i64. Decision after which no pod stays and none waits; -1: none of the session. [row]
  KAISCHED_SHARING_GROUP_COL_CLOSED_BY = 13
};

/// Columns of KAISCHED_TABLE_ASSUMPTION.
enum kaisched_assumption_column {
  /// u64. Pod that was decided on. [id]
  KAISCHED_ASSUMPTION_COL_POD = 1,
  /// string. Its name. [name]
  KAISCHED_ASSUMPTION_COL_POD_NAME = 2,
  /// u64. Its pod group. [id]
  KAISCHED_ASSUMPTION_COL_GROUP = 3,
  /// string. Name of group. [name]
  KAISCHED_ASSUMPTION_COL_GROUP_NAME = 4,
  /// u8. 1 bind, 3 evict, 4 move or 6 migrate, as in the table of decisions. [decision kind]
  KAISCHED_ASSUMPTION_COL_KIND = 5,
  /// u64. Target node; for evict and move the node that the pod leaves. [id]
  KAISCHED_ASSUMPTION_COL_NODE = 6,
  /// string. Name of node. [name]
  KAISCHED_ASSUMPTION_COL_NODE_NAME = 7,
  /// u8. 1: nobody knows whether it happened; the place stays taken. [0 or 1]
  KAISCHED_ASSUMPTION_COL_LOST = 8
};

/// Columns of KAISCHED_TABLE_CONFLICT.
enum kaisched_conflict_column {
  /// u32. Commit of the session that was refused. [number]
  KAISCHED_CONFLICT_COL_COMMIT = 1,
  /// string. Kind of the object that stands in the way: queue, node, pod_group, pod or resource_claim. [kind of table]
  KAISCHED_CONFLICT_COL_KIND = 2,
  /// u64. That object as the session knew it; 0 for a resource claim. [id]
  KAISCHED_CONFLICT_COL_SUBJECT = 3,
  /// string. Its name. [name]
  KAISCHED_CONFLICT_COL_NAME = 4,
  /// string. What has changed, as a sentence. [text]
  KAISCHED_CONFLICT_COL_TEXT = 5
};

/// Columns of KAISCHED_TABLE_CANDIDATE.
enum kaisched_candidate_column {
  /// u64. Node. [id]
  KAISCHED_CANDIDATE_COL_NODE = 1,
  /// string. Its name. [name]
  KAISCHED_CANDIDATE_COL_NODE_NAME = 2,
  /// u8. 1: the pod can be placed here. [0 or 1]
  KAISCHED_CANDIDATE_COL_FITS = 3,
  /// u8. 1: everything is free; else the pod would hold a claim on what is being released. [0 or 1]
  KAISCHED_CANDIDATE_COL_STARTS_NOW = 4,
  /// u8. 1: the session has put the pod here. [0 or 1]
  KAISCHED_CANDIDATE_COL_CHOSEN = 5,
  /// f64. Sum of all parts.
  KAISCHED_CANDIDATE_COL_SCORE = 6,
  /// string_list. What each part that scores gave, in the order of the policy. [part=score]
  KAISCHED_CANDIDATE_COL_SCORES = 7,
  /// i64_list. What the pod would take. [device indices]
  KAISCHED_CANDIDATE_COL_DEVICES = 8,
  /// i64. Share of each device. [milli-GPU]
  KAISCHED_CANDIDATE_COL_DEVICE_SHARE = 9,
  /// string. Why the pod cannot be placed here; none if it can. [constraint]
  KAISCHED_CANDIDATE_COL_CONSTRAINT = 10,
  /// string. The same as a sentence; empty if it can. [text]
  KAISCHED_CANDIDATE_COL_TEXT = 11
};

/// Columns of KAISCHED_TABLE_REMEDY.
enum kaisched_remedy_column {
  /// u64. Pod group that waits. [id]
  KAISCHED_REMEDY_COL_GROUP = 1,
  /// string. Its name. [name]
  KAISCHED_REMEDY_COL_GROUP_NAME = 2,
  /// u32. Number within the group, from 1; 0: nothing was found, and the row has no change. [number]
  KAISCHED_REMEDY_COL_REMEDY = 3,
  /// string. What changes, such as queue_limit; empty: nothing, an action has to try. [change]
  KAISCHED_REMEDY_COL_CHANGE = 4,
  /// u64. Group, queue, pod or node that changes; the node that new ones are like; 0 without a change. [id]
  KAISCHED_REMEDY_COL_SUBJECT = 5,
  /// string. Its name. [name]
  KAISCHED_REMEDY_COL_SUBJECT_NAME = 6,
  /// string. Dimension of the amounts; empty if they count pods, sub-groups or nodes, or bytes of GPU memory.
  /// [dimension]
  KAISCHED_REMEDY_COL_DIMENSION = 7,
  /// i64. Amount now; -1 is unlimited. [unit of the dimension]
  KAISCHED_REMEDY_COL_BEFORE = 8,
  /// i64. Amount that is needed; -1 is unlimited. [unit of the dimension]
  KAISCHED_REMEDY_COL_AFTER = 9,
  /// string. Level, taint, label or affinity now; of sizes the sub-group, empty: the group. [text]
  KAISCHED_REMEDY_COL_TEXT_BEFORE = 10,
  /// string. Level that is needed, empty: none; label that the node gets. [text]
  KAISCHED_REMEDY_COL_TEXT_AFTER = 11,
  /// u32. Pods of the group that start with the remedy. [pods]
  KAISCHED_REMEDY_COL_STARTS = 12,
  /// string. Action that evicts; none if no pod has to leave. [action]
  KAISCHED_REMEDY_COL_ACTION = 13,
  /// u8. 0: more was not searched for the group, a limit was reached. [0 or 1]
  KAISCHED_REMEDY_COL_COMPLETE = 14,
  /// u32. Sessions that were opened to try something for the group. [sessions]
  KAISCHED_REMEDY_COL_TRIALS = 15,
  /// string. The remedy as half a sentence; empty if nothing was found. [text]
  KAISCHED_REMEDY_COL_TEXT = 16,
  /// string. Sub-group that a size or level is of; empty: the group itself. [name]
  KAISCHED_REMEDY_COL_SUB_GROUP = 17
};

/// Columns of KAISCHED_TABLE_CERTIFICATE.
enum kaisched_certificate_column {
  /// u64. Pod group. [id]
  KAISCHED_CERTIFICATE_COL_GROUP = 1,
  /// string. Its name. [name]
  KAISCHED_CERTIFICATE_COL_GROUP_NAME = 2,
  /// string. What the proof is made of, such as queue_bound; none: there is no proof. [kind of proof]
  KAISCHED_CERTIFICATE_COL_KIND = 3,
  /// string. Under which it holds: as_is, without_preemptible or empty; none without a proof. [assumption]
  KAISCHED_CERTIFICATE_COL_ASSUMPTION = 4,
  /// string. Of structures and queue bounds: what is violated; else none. [constraint]
  KAISCHED_CERTIFICATE_COL_CONSTRAINT = 5,
  /// string. Queue of a queue bound. [name]
  KAISCHED_CERTIFICATE_COL_QUEUE = 6,
  /// string. Sub-group that lacks pods, or that has to be in one domain; empty: the group. [name]
  KAISCHED_CERTIFICATE_COL_SUB_GROUP = 7,
  /// string. Dimension of need and have; empty if they count pods. [dimension]
  KAISCHED_CERTIFICATE_COL_DIMENSION = 8,
  /// i64. What a start takes at least; of a domain bound, in the domain of the row. [unit of the dimension]
  KAISCHED_CERTIFICATE_COL_NEED = 9,
  /// i64. What there is at most; of a domain bound, in the domain of the row. [unit of the dimension]
  KAISCHED_CERTIFICATE_COL_HAVE = 10,
  /// string. Topology of a domain bound. [name]
  KAISCHED_CERTIFICATE_COL_TOPOLOGY = 11,
  /// string. Level of a domain bound. [node label key]
  KAISCHED_CERTIFICATE_COL_LEVEL = 12,
  /// string. Domain of the row: label values from the widest level down, joined by dots; empty: the whole cluster, or
  /// nodes that are in no domain of the level. [domain]
  KAISCHED_CERTIFICATE_COL_DOMAIN = 13,
  /// string. Why each of the nodes of the row has no more; none: by what it takes of each kind of pod alone; empty: the
  /// row bounds no nodes. [constraint]
  KAISCHED_CERTIFICATE_COL_BOUND = 14,
  /// string. Dimension of a bound by resource; else empty. [dimension]
  KAISCHED_CERTIFICATE_COL_BOUND_DIMENSION = 15,
  /// i64. Pods that each of the nodes can have at most; of a sum_bound the amount that is free. [pods]
  KAISCHED_CERTIFICATE_COL_BOUND_MOST = 16,
  /// string_list. Nodes of the row. [names]
  KAISCHED_CERTIFICATE_COL_NODES = 17,
  /// string. The whole proof in a few sentences, in each row. [text]
  KAISCHED_CERTIFICATE_COL_TEXT = 18,
  /// string. counting_bound, sum_bound or matching_cut: what need and have of the row are; empty without bounds over
  /// nodes. [kind of proof]
  KAISCHED_CERTIFICATE_COL_BOUND_KIND = 19,
  /// string_list. Pods in question: those that wait and ask for the same as one of these. [names]
  KAISCHED_CERTIFICATE_COL_PODS = 20
};

/// Columns of KAISCHED_TABLE_SHARE_STEP.
enum kaisched_share_step_column {
  /// u64. Queue that is given to; 0 for the steps total and left. [id]
  KAISCHED_SHARE_STEP_COL_QUEUE = 1,
  /// string. Its name. [name]
  KAISCHED_SHARE_STEP_COL_QUEUE_NAME = 2,
  /// string. Queue whose share is divided; empty: what the cluster has. [name]
  KAISCHED_SHARE_STEP_COL_PARENT = 3,
  /// string. total, quota, over_quota, unit, part or left. [step]
  KAISCHED_SHARE_STEP_COL_STEP = 4,
  /// string. What is divided; amounts are in its unit. [dimension]
  KAISCHED_SHARE_STEP_COL_DIMENSION = 5,
  /// u32. Round, from 1, of a priority or of quotas that share what is too little; else 0. [number]
  KAISCHED_SHARE_STEP_COL_ROUND = 6,
  /// i64. Priority of the queue.
  KAISCHED_SHARE_STEP_COL_PRIORITY = 7,
  /// f64. Over-quota weight of the queue.
  KAISCHED_SHARE_STEP_COL_WEIGHT = 8,
  /// f64. History of the queue. [part of capacity]
  KAISCHED_SHARE_STEP_COL_USAGE = 9,
  /// f64. Part of what a round divides to which weight and history, or the quota, pull; of unit the remainder that is
  /// rounded up, in units.
  KAISCHED_SHARE_STEP_COL_PROPORTION = 10,
  /// i64. What the queue asked for at that moment, beyond before and within its limit. [unit of the dimension]
  KAISCHED_SHARE_STEP_COL_WANTED = 11,
  /// i64. Fair share before the step. [unit of the dimension]
  KAISCHED_SHARE_STEP_COL_BEFORE = 12,
  /// i64. What the step gives; before and given are after. [unit of the dimension]
  KAISCHED_SHARE_STEP_COL_GIVEN = 13,
  /// i64. Fair share after the step. [unit of the dimension]
  KAISCHED_SHARE_STEP_COL_AFTER = 14,
  /// string. Of the step part: its name. [part]
  KAISCHED_SHARE_STEP_COL_BY = 15,
  /// string. The step as half a sentence. [text]
  KAISCHED_SHARE_STEP_COL_TEXT = 16
};

/// Columns of KAISCHED_TABLE_CHOICE.
enum kaisched_choice_column {
  /// u64. Pod that was placed. [id]
  KAISCHED_CHOICE_COL_POD = 1,
  /// string. Its name. [name]
  KAISCHED_CHOICE_COL_POD_NAME = 2,
  /// string. chosen: the choice, the first row; difference: what a part gave to the node and to the runner-up;
  /// without_part, more_score, closed_node: what would have turned the choice. [row]
  KAISCHED_CHOICE_COL_WHAT = 3,
  /// u64. Node that was chosen; of what would have turned the choice the node of the pod then, 0: it would have waited.
  /// [id]
  KAISCHED_CHOICE_COL_NODE = 4,
  /// string. Its name. [name]
  KAISCHED_CHOICE_COL_NODE_NAME = 5,
  /// string. The best other node that could take the pod, or empty; of rows chosen and difference. [name]
  KAISCHED_CHOICE_COL_RUNNER_UP = 6,
  /// string. Of the row chosen: only_node, score, name or not_by_score; else empty. [rule]
  KAISCHED_CHOICE_COL_RULE = 7,
  /// string. Of the row chosen: the larger plan that the node belongs to, such as topology, or none; else empty. [plan]
  KAISCHED_CHOICE_COL_PLAN = 8,
  /// u32. Of the row chosen: nodes that could take the pod. [nodes]
  KAISCHED_CHOICE_COL_FITTING = 9,
  /// u32. Of the row chosen: place of the node among them, from 1; 0: not one of them. [number]
  KAISCHED_CHOICE_COL_RANK = 10,
  /// f64. Of the row chosen: its score less that of the runner-up.
  KAISCHED_CHOICE_COL_MARGIN = 11,
  /// string. Of the rows difference and without_part: the part of the policy. [part]
  KAISCHED_CHOICE_COL_PART = 12,
  /// f64. Of the row difference: what the part gave to the node; of more_score: the least that is enough.
  KAISCHED_CHOICE_COL_SCORE = 13,
  /// f64. Of the row difference: what it gave to the runner-up.
  KAISCHED_CHOICE_COL_OTHER_SCORE = 14,
  /// string. The row as a sentence; empty for the rows difference, which the first sentence names. [text]
  KAISCHED_CHOICE_COL_TEXT = 15
};

/// Columns of KAISCHED_TABLE_VICTIM.
enum kaisched_victim_column {
  /// u64. Pod that had to leave or move. [id]
  KAISCHED_VICTIM_COL_POD = 1,
  /// string. Its name. [name]
  KAISCHED_VICTIM_COL_POD_NAME = 2,
  /// string. rule: what spoke for taking the pod; placed: a group that got places, the first one asked; victim: a group
  /// that lost pods; spared: a group that was left alone; protected: what if the group of the pod had been protected;
  /// protected_victim: who would have lost pods then. [row]
  KAISCHED_VICTIM_COL_WHAT = 3,
  /// string. Of a rule its name, such as queue_over_share; of spared why, such as priority; of protected how the search
  /// ended, untried if it was not asked, empty if nothing was searched. [code]
  KAISCHED_VICTIM_COL_CODE = 4,
  /// u64. Group of the row; of a rule that of the pod, of protected the one that asked; 0: none. [id]
  KAISCHED_VICTIM_COL_GROUP = 5,
  /// string. Its name. [name]
  KAISCHED_VICTIM_COL_GROUP_NAME = 6,
  /// u32. Pods that got places or were lost; of protected, that would still have got places. [pods]
  KAISCHED_VICTIM_COL_PODS = 7,
  /// string. Action that decided. [action]
  KAISCHED_VICTIM_COL_ACTION = 8,
  /// u32. Its commit. [number]
  KAISCHED_VICTIM_COL_COMMIT = 9,
  /// string. The row as half a sentence; empty for groups that got places or lost pods. [text]
  KAISCHED_VICTIM_COL_TEXT = 10,
  /// string. What happened to the pod: evict, move or migrate. [decision kind]
  KAISCHED_VICTIM_COL_KIND = 11
};

/// Columns of KAISCHED_TABLE_FORECAST.
enum kaisched_forecast_column {
  /// string. Pod group. [name]
  KAISCHED_FORECAST_COL_GROUP_NAME = 1,
  /// string. How it would start: now, displaces, later, unknown; none: nothing of it waits. [way]
  KAISCHED_FORECAST_COL_WAY = 2,
  /// u32. Its pods that would start, or claim places. [pods]
  KAISCHED_FORECAST_COL_STARTS = 3,
  /// string. Action that would place them, or none. [action]
  KAISCHED_FORECAST_COL_ACTION = 4,
  /// i64. When it would have a place if nobody else were served before it; -1: nobody knows. [ns]
  KAISCHED_FORECAST_COL_EARLIEST = 5,
  /// i64. When it would start in the order of the queues; -1: nobody knows. [ns]
  KAISCHED_FORECAST_COL_EXPECTED = 6,
  /// string. What is known about expected: known, no_estimate, never, horizon; none: not asked. [knowledge]
  KAISCHED_FORECAST_COL_KNOWLEDGE = 7,
  /// u32. Groups that end until then. [groups]
  KAISCHED_FORECAST_COL_ENDS_BEFORE = 8,
  /// u32. Groups that wait now and start until then. [groups]
  KAISCHED_FORECAST_COL_STARTS_BEFORE = 9,
  /// string_list. Why it does not start on what is free, as sentences. [texts]
  KAISCHED_FORECAST_COL_REASONS = 10,
  /// string_list. Its pods that would get places. [names]
  KAISCHED_FORECAST_COL_PLACED_PODS = 11,
  /// string_list. Their nodes, in the same order. [names]
  KAISCHED_FORECAST_COL_PLACED_NODES = 12,
  /// string_list. Pods that would have to leave or move. [names]
  KAISCHED_FORECAST_COL_DISPLACED_PODS = 13,
  /// string_list. Their groups, in the same order. [names]
  KAISCHED_FORECAST_COL_DISPLACED_GROUPS = 14,
  /// string. The forecast in a sentence or two. [text]
  KAISCHED_FORECAST_COL_TEXT = 15,
  /// string_list. evict, move or migrate: what would happen to each of displaced_pods. [decision kinds]
  KAISCHED_FORECAST_COL_DISPLACED_BY = 16
};

/// Columns of KAISCHED_TABLE_GAP.
enum kaisched_gap_column {
  /// u32. Comparison that the row belongs to, from 1. [number]
  KAISCHED_GAP_COL_GAP = 1,
  /// string. victims: pods that had to leave or move; domains: domains of the level that the pods prefer to share;
  /// fragmentation: further pods that fit. [kind of gap]
  KAISCHED_GAP_COL_KIND = 2,
  /// u32. Commit that is compared; of fragmentation 0, all of them. [number]
  KAISCHED_GAP_COL_COMMIT = 3,
  /// string. Action that decided it; of fragmentation none. [action]
  KAISCHED_GAP_COL_ACTION = 4,
  /// u64. Group that started; of fragmentation one that waits; 0: none. [id]
  KAISCHED_GAP_COL_GROUP = 5,
  /// string. Its name. [name]
  KAISCHED_GAP_COL_GROUP_NAME = 6,
  /// u64. One of the pods in question, which ask for the same. [id]
  KAISCHED_GAP_COL_POD = 7,
  /// string. Its name. [name]
  KAISCHED_GAP_COL_POD_NAME = 8,
  /// i64. How many of them started, or wait. [pods]
  KAISCHED_GAP_COL_PODS = 9,
  /// i64. What was achieved: pods that had to leave or move, domains, further pods that fit. [pods or domains]
  KAISCHED_GAP_COL_ACHIEVED = 10,
  /// i64. What no scheduler can better: at least as many victims or domains, at most as many further pods. [pods or
  /// domains]
  KAISCHED_GAP_COL_BOUND = 11,
  /// i64. How much better something could be at most; 0: nothing could be better. [pods or domains]
  KAISCHED_GAP_COL_DISTANCE = 12,
  /// string. Level of the domains; of victims the one that the group requires, or empty. [node label key]
  KAISCHED_GAP_COL_LEVEL = 13,
  /// string. Of fragmentation: the dimension that bounds, or empty: the sizes of nodes. [dimension]
  KAISCHED_GAP_COL_DIMENSION = 14,
  /// string. Of victims: values of labels from the widest level down, joined by /; empty: all nodes. [domain]
  KAISCHED_GAP_COL_DOMAIN = 15,
  /// u8. Of victims: even without any of its pods the domain has no room. [0 or 1]
  KAISCHED_GAP_COL_TOO_SMALL = 16,
  /// i64. Of victims: p of the proof. What a node can give costs at least p / q of a victim for each pod.
  KAISCHED_GAP_COL_PRICE = 17,
  /// i64. Of victims: q of the proof.
  KAISCHED_GAP_COL_PER_VICTIM = 18,
  /// i64. Of victims: fewest in this domain, unless it is too small; bound is the least of them. [pods]
  KAISCHED_GAP_COL_DOMAIN_BOUND = 19,
  /// i64_list. Of domains: the most pods that each of the largest takes, one fewer than the bound. [pods]
  KAISCHED_GAP_COL_LARGEST = 20
};

/// Columns of KAISCHED_TABLE_SCALING.
enum kaisched_scaling_column {
  /// i64. Of all nodes that are added. [price of an hour]
  KAISCHED_SCALING_COL_COST = 1,
  /// i64. No set of offered nodes that lets as much start costs less. [price of an hour]
  KAISCHED_SCALING_COL_LOWER_BOUND = 2,
  /// u8. Proven: no cheaper set does. [0 or 1]
  KAISCHED_SCALING_COL_CHEAPEST = 3,
  /// u8. Proven: without one of the nodes, whichever, less starts. [0 or 1]
  KAISCHED_SCALING_COL_MINIMAL = 4,
  /// u32. Of groups that were not asked about, that get a place as well. [pods]
  KAISCHED_SCALING_COL_OTHER_PODS = 5,
  /// u32. That were opened to find what to add. [sessions]
  KAISCHED_SCALING_COL_VERIFICATIONS = 6,
  /// i64. Of all nodes that are given back, as far as prices are known. [price of an hour]
  KAISCHED_SCALING_COL_SAVED = 7,
  /// u8. All nodes were looked at; 0: there were no more sessions to try with. [0 or 1]
  KAISCHED_SCALING_COL_COMPLETE = 8,
  /// u32. That were opened to find what to give back. [sessions]
  KAISCHED_SCALING_COL_DOWN_VERIFICATIONS = 9
};

/// Columns of KAISCHED_TABLE_NODE_ADDITION.
enum kaisched_node_addition_column {
  /// string. Name that the node has in the answer: TYPE+1, TYPE+2, ... [name]
  KAISCHED_NODE_ADDITION_COL_NAME = 1,
  /// string. Its type. [name]
  KAISCHED_NODE_ADDITION_COL_TYPE = 2,
  /// i64. What it costs. [price of an hour]
  KAISCHED_NODE_ADDITION_COL_PRICE = 3
};

/// Columns of KAISCHED_TABLE_SCALED_GROUP.
enum kaisched_scaled_group_column {
  /// string. Pod group. [name]
  KAISCHED_SCALED_GROUP_COL_GROUP_NAME = 1,
  /// string. Its queue, or empty. [name]
  KAISCHED_SCALED_GROUP_COL_QUEUE = 2,
  /// u32. Its pods that waited. [pods]
  KAISCHED_SCALED_GROUP_COL_WAITED = 3,
  /// u32. Of these, that get a place. [pods]
  KAISCHED_SCALED_GROUP_COL_PLACED = 4,
  /// u8. Some set of offered nodes lets more of it start than nothing. [0 or 1]
  KAISCHED_SCALED_GROUP_COL_HELPED = 5,
  /// string_list. Its pods that get places. [names]
  KAISCHED_SCALED_GROUP_COL_PLACED_PODS = 6,
  /// string_list. Their nodes, in the same order. [names]
  KAISCHED_SCALED_GROUP_COL_PLACED_NODES = 7,
  /// string_list. bind or pipeline, in the same order. [decision kinds]
  KAISCHED_SCALED_GROUP_COL_PLACED_BY = 8,
  /// string_list. Why the rest waits, whatever is bought. [constraints]
  KAISCHED_SCALED_GROUP_COL_CONSTRAINTS = 9,
  /// string_list. These as sentences, in the same order. [texts]
  KAISCHED_SCALED_GROUP_COL_REASONS = 10
};

/// Columns of KAISCHED_TABLE_RETURNED_NODE.
enum kaisched_returned_node_column {
  /// string. Node. [name]
  KAISCHED_RETURNED_NODE_COL_NAME = 1,
  /// string. Its type; empty: none of the offers. [name]
  KAISCHED_RETURNED_NODE_COL_TYPE = 2,
  /// i64. What it costs; -1: not known. [price of an hour]
  KAISCHED_RETURNED_NODE_COL_PRICE = 3,
  /// u8. It can be given back. [0 or 1]
  KAISCHED_RETURNED_NODE_COL_RETURNED = 4,
  /// u8. Nothing runs there. [0 or 1]
  KAISCHED_RETURNED_NODE_COL_EMPTY = 5,
  /// string_list. Pods that have to move first, in this order. [names]
  KAISCHED_RETURNED_NODE_COL_MOVED_PODS = 6,
  /// string_list. Their groups, in the same order. [names]
  KAISCHED_RETURNED_NODE_COL_MOVED_GROUPS = 7,
  /// string_list. Where they are, in the same order. [names]
  KAISCHED_RETURNED_NODE_COL_MOVED_FROM = 8,
  /// string_list. Where they go; the same node: they start again there with their gang. [names]
  KAISCHED_RETURNED_NODE_COL_MOVED_TO = 9,
  /// string. Why it stays, or empty. [text]
  KAISCHED_RETURNED_NODE_COL_KEEPS = 10
};

/// Columns of KAISCHED_TABLE_FEDERATED_PLACE.
enum kaisched_federated_place_column {
  /// string. Pod group. [name]
  KAISCHED_FEDERATED_PLACE_COL_GROUP_NAME = 1,
  /// string. Its queue. [name]
  KAISCHED_FEDERATED_PLACE_COL_QUEUE = 2,
  /// string. Member. [name]
  KAISCHED_FEDERATED_PLACE_COL_MEMBER = 3,
  /// string. starts, claims, offered or runs. [stage]
  KAISCHED_FEDERATED_PLACE_COL_STAGE = 4,
  /// string. Why this member and not the runner-up, such as price; only: there was no other. [criterion]
  KAISCHED_FEDERATED_PLACE_COL_BY = 5,
  /// string. The next best member, or empty. [name]
  KAISCHED_FEDERATED_PLACE_COL_RUNNER_UP = 6,
  /// u32. Round in which it was sent there, from 1. [number]
  KAISCHED_FEDERATED_PLACE_COL_ROUND = 7,
  /// u32. That have places; of offers 0. [pods]
  KAISCHED_FEDERATED_PLACE_COL_PODS = 8,
  /// u8. Another decision had given it a member, and it came back to the line. [0 or 1]
  KAISCHED_FEDERATED_PLACE_COL_RETURNED = 9
};

/// Columns of KAISCHED_TABLE_FEDERATED_WAIT.
enum kaisched_federated_wait_column {
  /// string. Pod group. [name]
  KAISCHED_FEDERATED_WAIT_COL_GROUP_NAME = 1,
  /// string. Its queue. [name]
  KAISCHED_FEDERATED_WAIT_COL_QUEUE = 2,
  /// string. Queue whose limit over all members it would pass, or empty. [name]
  KAISCHED_FEDERATED_WAIT_COL_LIMIT = 3,
  /// string_list. All members, by name. [names]
  KAISCHED_FEDERATED_WAIT_COL_MEMBERS = 4,
  /// string_list. How the group stands with each of them, such as full or never. [verdicts]
  KAISCHED_FEDERATED_WAIT_COL_VERDICTS = 5,
  /// string. What is wrong with its rows, or empty. [text]
  KAISCHED_FEDERATED_WAIT_COL_TEXT = 6,
  /// string. Where it would start first as far as ends are known, or empty. [name]
  KAISCHED_FEDERATED_WAIT_COL_EXPECTED_MEMBER = 7,
  /// i64. When; -1: nobody knows. [ns]
  KAISCHED_FEDERATED_WAIT_COL_EXPECTED = 8,
  /// u8. A decision had given it a member, and it came back to the line. [0 or 1]
  KAISCHED_FEDERATED_WAIT_COL_RETURNED = 9
};

/// Columns of KAISCHED_TABLE_FEDERATED_QUEUE.
enum kaisched_federated_queue_column {
  /// string. Queue. [name]
  KAISCHED_FEDERATED_QUEUE_COL_NAME = 1,
  /// string. Its parent, or empty. [name]
  KAISCHED_FEDERATED_QUEUE_COL_PARENT = 2,
  /// i64 x 3. Deserved amount over all members; -1 is unlimited. [fixed units]
  KAISCHED_FEDERATED_QUEUE_COL_QUOTA = 3,
  /// i64 x 3. Most that it may hold over all members; -1 is unlimited. [fixed units]
  KAISCHED_FEDERATED_QUEUE_COL_LIMIT = 4,
  /// i64 x 3. What it holds in all members, and what is offered. [fixed units]
  KAISCHED_FEDERATED_QUEUE_COL_ALLOCATED = 5
};

/// Columns of KAISCHED_TABLE_MEMBER_SESSION.
enum kaisched_member_session_column {
  /// string. Member. [name]
  KAISCHED_MEMBER_SESSION_COL_MEMBER = 1,
  /// u32. From 1; of a member that failed 0. [number]
  KAISCHED_MEMBER_SESSION_COL_ROUND = 2,
  /// string. Digest of the session; empty: the member failed. [SHA-256]
  KAISCHED_MEMBER_SESSION_COL_DIGEST = 3,
  /// string. Why it failed, or empty. [text]
  KAISCHED_MEMBER_SESSION_COL_TEXT = 4
};

/// Columns of KAISCHED_TABLE_OUTCOME.
enum kaisched_outcome_column {
  /// u8. 1 bind, 2 pipeline, 3 evict, 4 move, 5 unschedulable, 6 migrate, 7 repartition. [decision kind]
  KAISCHED_OUTCOME_COL_KIND = 1,
  /// u64. Pod, or 0. [id]
  KAISCHED_OUTCOME_COL_POD = 2,
  /// u64. Pod group. [id]
  KAISCHED_OUTCOME_COL_GROUP = 3,
  /// u64. Target node; for evict the node that the pod leaves; 0 if none. [id]
  KAISCHED_OUTCOME_COL_NODE = 4,
  /// i64_list. Devices of the node; empty for a claim on whole devices: any that come free will do. [device indices]
  KAISCHED_OUTCOME_COL_DEVICES = 5,
  /// i64. Share of each device. [milli-GPU]
  KAISCHED_OUTCOME_COL_DEVICE_SHARE = 6,
  /// string. Action that decided. [action]
  KAISCHED_OUTCOME_COL_ACTION = 7,
  /// u32. Decisions of one commit stand or fall together; 0 for unschedulable. [number]
  KAISCHED_OUTCOME_COL_COMMIT = 8,
  /// string. Name of pod. [name]
  KAISCHED_OUTCOME_COL_POD_NAME = 9,
  /// string. Name of node. [name]
  KAISCHED_OUTCOME_COL_NODE_NAME = 10,
  /// string. Name of group. [name]
  KAISCHED_OUTCOME_COL_GROUP_NAME = 11,
  /// i64_list. NUMA zones of the node that the pod is expected to use, by position; for the part numa. [0..63]
  KAISCHED_OUTCOME_COL_NUMA_ZONES = 12,
  /// string_list. Devices of the pod's claims; empty for evict. [claim=driver/pool/device]
  KAISCHED_OUTCOME_COL_CLAIM_DEVICES = 13,
  /// i64_list. What the pod may use of each of the devices; 0 where the memory of the device is not known, empty if
  /// that of none is. [bytes]
  KAISCHED_OUTCOME_COL_DEVICE_MEMORY = 14,
  /// string_list. How each of the devices is shared: the column sharing of the table device, or unknown; empty if
  /// nothing is said of the node's devices. [modes]
  KAISCHED_OUTCOME_COL_SHARING = 15,
  /// string_list. What each container gets of each of the node's vendor_devices, and where the pod is in cells; empty
  /// for evict. [container=0,device=ID,memory=...,...]
  KAISCHED_OUTCOME_COL_DEVICE_GRANTS = 16,
  /// string_list. Of repartition: all instances that the device has then, by start. [profile@start]
  KAISCHED_OUTCOME_COL_LAYOUT = 17,
  /// string_list. Of repartition: instances that the device has no more. [profile@start]
  KAISCHED_OUTCOME_COL_GONE = 18,
  /// i64. Of repartition: what the pods hold that have to leave instances of the device. [milli-GPU]
  KAISCHED_OUTCOME_COL_DRAIN_COST = 19,
  /// string_list. Of bind and pipeline: checks that must agree that the group may start. The host holds the place until
  /// they have. [names]
  KAISCHED_OUTCOME_COL_CHECKS = 20
};
// SCHEMA END
// clang-format on

// ---- library -------------------------------------------------------------------------------------------------------

/// @return the version of the loaded library, such as "0.1.0". Lives as long as the library is loaded.
KAISCHED_API const char* kaisched_version_string(void) KAISCHED_NOEXCEPT;

/// @return the name of a status, such as "not_found"; "unknown" for a number that is no status. Never NULL. Lives as
/// long as the library is loaded.
KAISCHED_API const char* kaisched_status_name(kaisched_status status) KAISCHED_NOEXCEPT;

// ---- tables: what they may hold, and what they hold ----------------------------------------------------------------

/// Describes kind of table number `index`, counted from 0, in the order in which a cluster is built up, results last;
/// KAISCHED_E_NOT_FOUND behind the last one.
/// @param out `out->struct_size` is set by the caller and stays as it is; the library fills what fits.
KAISCHED_API kaisched_status kaisched_kind_info(size_t index, kaisched_kind* out,
                                                kaisched_error* err) KAISCHED_NOEXCEPT;

/// Describes column number `index`, counted from 0, of a kind of table; KAISCHED_E_NOT_FOUND behind the last one.
/// @param kind kaisched_table_kind; KAISCHED_E_UNSUPPORTED for others.
/// @param out as for kaisched_kind_info.
KAISCHED_API kaisched_status kaisched_column_info(uint32_t kind, size_t index, kaisched_column* out,
                                                  kaisched_error* err) KAISCHED_NOEXCEPT;

/// @return the name of a value of a column that holds kinds of decisions or statuses of pods, such as "bind" or
/// "running"; NULL for other columns, and for values that have no name. Lives as long as the library is loaded.
/// @param kind kaisched_table_kind.
/// @param column of that kind, such as KAISCHED_DECISION_COL_KIND.
KAISCHED_API const char* kaisched_value_name(uint32_t kind, uint32_t column, uint64_t value) KAISCHED_NOEXCEPT;

/// @return the column of a table with this number, or NULL: the table has none, or is NULL itself. Lives as long as the
/// columns of the table.
KAISCHED_API const kaisched_col* kaisched_table_column(const kaisched_table* table, uint32_t column) KAISCHED_NOEXCEPT;

// ---- engine --------------------------------------------------------------------------------------------------------

/// Makes an engine.
/// @param abi KAISCHED_ABI_VERSION of the caller. KAISCHED_E_ABI if the library's major version differs, or its minor
///   version is older.
/// @param options `count` options, set in order as by kaisched_engine_set; may be NULL if `count` is 0.
/// @param out receives the engine, to be given back with kaisched_engine_destroy.
/// Errors: as kaisched_engine_set.
KAISCHED_API kaisched_status kaisched_engine_create(uint32_t abi, const kaisched_kv* options, size_t count,
                                                    kaisched_engine** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives an engine back. Its sessions stay valid.
KAISCHED_API void kaisched_engine_destroy(kaisched_engine* engine) KAISCHED_NOEXCEPT;

/// Sets one option. `preset` replaces all others, so it goes first. Sessions that are open do not change.
/// Names of options and actions of the version before are taken for the present ones, see kaisched_engine_warning.
/// Errors: KAISCHED_E_NOT_FOUND for an unknown option, KAISCHED_E_ARGUMENT for a bad value or an option of a cluster;
/// the message names the option and what was expected.
KAISCHED_API kaisched_status kaisched_engine_set(kaisched_engine* engine, const char* option, const char* value,
                                                 kaisched_error* err) KAISCHED_NOEXCEPT;

/// Adds vendors, or models of devices that are divided in hardware, from a JSON text (docs/vendors.md) to those that
/// the library comes with; a vendor with a key that is there already is replaced. Sessions that are open do not change.
/// @param json `size` bytes of UTF-8.
/// @param source how messages name the text; NULL: "vendors".
/// Errors: KAISCHED_E_ARGUMENT for what cannot be read, with line, object and field; nothing is added then.
KAISCHED_API kaisched_status kaisched_engine_add_vendors(kaisched_engine* engine, const char* json, size_t size,
                                                         const char* source, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives the engine threads of the host, for sessions that are opened from now on: what nodes say about many kinds of
/// pods, and questions about many groups. Decisions are the same with any executor and without one.
/// @param executor copied during the call; NULL: none but the caller's thread, as at first.
/// Errors: KAISCHED_E_ARGUMENT without `run`, KAISCHED_E_STRUCT_SIZE; `destroy` is not called then.
KAISCHED_API kaisched_status kaisched_engine_set_executor(kaisched_engine* engine, const kaisched_executor* executor,
                                                          kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes the value of one option as text; see "Texts" above for `buffer`, `capacity` and `needed`.
KAISCHED_API kaisched_status kaisched_engine_get(const kaisched_engine* engine, const char* option, char* buffer,
                                                 size_t capacity, size_t* needed,
                                                 kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes warning number `index`, counted from 0, about the options that were set: a sentence in English, of one line,
/// for each name of the version before, which says the present name. Each is there once, in the order of the calls, and
/// stays there when the option is set again or `preset` is set. No decision depends on them.
/// @param buffer, capacity, needed see "Texts" above; sizes are in bytes.
/// Errors: KAISCHED_E_NOT_FOUND behind the last one; KAISCHED_E_ARGUMENT if `engine` is NULL.
/// Threads: as kaisched_engine_get, concurrently with calls that only read the engine.
KAISCHED_API kaisched_status kaisched_engine_warning(const kaisched_engine* engine, size_t index, char* buffer,
                                                     size_t capacity, size_t* needed,
                                                     kaisched_error* err) KAISCHED_NOEXCEPT;

/// Adds a part of the host to those that the option `parts` can name; it takes effect when that option names it.
/// @param part copied during the call, with its options: `count` of them, read by the part, but for `weight`, a number
///   that its scores are multiplied with; may be NULL if `count` is 0.
/// Errors: KAISCHED_E_STRUCT_SIZE, KAISCHED_E_ABI; KAISCHED_E_ARGUMENT for a part without name or functions, or a bad
/// weight; KAISCHED_E_DUPLICATE for a name that is taken. `release` is not called then.
KAISCHED_API kaisched_status kaisched_engine_add_part(kaisched_engine* engine, const kaisched_part* part,
                                                      const kaisched_kv* options, size_t count,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

/// Describes option number `index`, counted from 0, of an engine or a cluster; KAISCHED_E_NOT_FOUND behind the last
/// one.
/// @param out `out->struct_size` is set by the caller and stays as it is; the library fills what fits.
KAISCHED_API kaisched_status kaisched_option_info(size_t index, kaisched_option* out,
                                                  kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- cluster -------------------------------------------------------------------------------------------------------

/// Makes an empty cluster, to be given back with kaisched_cluster_destroy.
KAISCHED_API kaisched_status kaisched_cluster_create(kaisched_cluster** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Makes a cluster that goes on from a snapshot, one that was loaded as well: identifiers stay what they are, decisions
/// that are being carried out are not taken over (pods are what the snapshot says), options are the defaults. The
/// cluster that the snapshot came from is another one from then on. Cost: the whole cluster.
/// @param out receives the cluster, to be given back with kaisched_cluster_destroy.
KAISCHED_API kaisched_status kaisched_cluster_resume(const kaisched_snapshot* from, kaisched_cluster** out,
                                                     kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives a cluster back. Its snapshots stay valid.
KAISCHED_API void kaisched_cluster_destroy(kaisched_cluster* cluster) KAISCHED_NOEXCEPT;

/// Sets one option of the cluster, for the deltas that follow. `on_invalid` says what kaisched_cluster_apply does about
/// a bad row: `reject` (the default) applies nothing; `quarantine` leaves out the row and what depends on it and keeps
/// the reason, see KAISCHED_TABLE_QUARANTINE. Errors: KAISCHED_E_NOT_FOUND for an unknown option, KAISCHED_E_ARGUMENT
/// for a bad value or an option of an engine.
KAISCHED_API kaisched_status kaisched_cluster_set_option(kaisched_cluster* cluster, const char* option,
                                                         const char* value, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes the value of one option of the cluster as text; see "Texts" above for `buffer`, `capacity` and `needed`.
KAISCHED_API kaisched_status kaisched_cluster_get_option(const kaisched_cluster* cluster, const char* option,
                                                         char* buffer, size_t capacity, size_t* needed,
                                                         kaisched_error* err) KAISCHED_NOEXCEPT;

/// Applies tables in order: all of them, or none if any row is bad. Cost: what the tables touch. With the option
/// `on_invalid` = `quarantine` only a table that is wrong as a whole, or a bad row of KAISCHED_TABLE_RESOURCE, fails.
/// @param tables `count` pointers to tables; may be NULL if `count` is 0. Input is copied during the call.
/// Errors: KAISCHED_E_ARGUMENT, _NOT_FOUND, _STALE_ID, _WRONG_KIND, _DUPLICATE, _UNSUPPORTED, _LIMIT, _STRUCT_SIZE; the
/// message names table, row, column and entity, `subject` is the entity if it exists.
KAISCHED_API kaisched_status kaisched_cluster_apply(kaisched_cluster* cluster, const kaisched_table* const* tables,
                                                    size_t count, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Finds an entity by name: a resource, queue, node, pod group or pod.
/// @param kind kaisched_entity_kind; KAISCHED_E_UNSUPPORTED for kinds other than those.
/// @param out receives the identifier. KAISCHED_E_NOT_FOUND if there is none.
KAISCHED_API kaisched_status kaisched_cluster_find(const kaisched_cluster* cluster, uint32_t kind, const char* name,
                                                   kaisched_id* out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Takes the present version of a cluster. Cost: what changed since the last snapshot.
/// @param out receives the snapshot with one reference, to be given back with kaisched_snapshot_release.
KAISCHED_API kaisched_status kaisched_cluster_snapshot(kaisched_cluster* cluster, kaisched_snapshot** out,
                                                       kaisched_error* err) KAISCHED_NOEXCEPT;

/// Makes the snapshot that the cluster would have with these tables: for questions about nodes that are not there,
/// other quotas, groups that do not exist yet. The cluster stays as it is. Cost and errors: as kaisched_cluster_apply.
/// @param out receives the snapshot with one reference, to be given back with kaisched_snapshot_release. Identifiers of
///   what the tables add are those of this snapshot only.
KAISCHED_API kaisched_status kaisched_cluster_preview(kaisched_cluster* cluster, const kaisched_table* const* tables,
                                                      size_t count, kaisched_snapshot** out,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- decisions that are being carried out --------------------------------------------------------------------------

/// Takes the decisions of a session in, each commit as a whole or not at all: pods that start hold their places
/// (KAISCHED_POD_STATUS_BINDING), pods that have to go are KAISCHED_POD_STATUS_RELEASING, a pod that migrates holds its
/// new place through a stand-in named `NAME~copy`, and groups know when they started or were evicted. In mode strict a
/// place that is promised (KAISCHED_DECISION_PIPELINE, KAISCHED_DECISION_MOVE) becomes the `nominated_node` of the pod,
/// and a place that is lost is removed from it: the host has nothing to report on a claim. Devices to divide
/// (KAISCHED_DECISION_REPARTITION) change nothing: later sessions decide them again. Every other decision stays open
/// until the host reports on its pod: kaisched_cluster_confirm or kaisched_cluster_forget. The page docs/embedding.md
/// states what each decision asks of the host.
///
/// The cluster may have changed since the snapshot of the session. A commit is refused if one of its pods, groups,
/// queues, nodes or claims is no longer what the session saw, if its evictions rest on shares that have moved, or if a
/// place is no longer free, allowed or within limits: KAISCHED_TABLE_CONFLICT has a row for each object that is to
/// blame. (Conflicts by object and all or nothing for a gang: Omega, Schwarzkopf et al., EuroSys 2013.)
/// Cost: what is decided, if nothing has changed since the snapshot; else that of opening a session as well.
/// @param session over a snapshot of this cluster, after its last action: what was taken in before is in conflict.
/// @param conflicts receives the number of rows of KAISCHED_TABLE_CONFLICT; may be NULL.
/// Errors: those of a plug-in that is asked again; nothing is taken in then.
KAISCHED_API kaisched_status kaisched_cluster_assume(kaisched_cluster* cluster, const kaisched_session* session,
                                                     uint64_t* conflicts, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Reports that what was decided on these pods has been carried out: what starts is KAISCHED_POD_STATUS_BOUND, what
/// goes stays KAISCHED_POD_STATUS_RELEASING until a delta removes it, a pod that migrated is on its new node. Pods
/// without an open decision are passed over, gone ones included: a delta may have come before the report.
/// @param pods `count` identifiers; may be NULL if `count` is 0. KAISCHED_E_WRONG_KIND for what is no pod.
KAISCHED_API kaisched_status kaisched_cluster_confirm(kaisched_cluster* cluster, const kaisched_id* pods, size_t count,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

/// Reports that what was decided on these pods did not happen (KAISCHED_FORGET_FAILED): they are what they were before,
/// and so are the times of their groups unless something of what was decided on these happened. Or that nobody knows
/// (KAISCHED_FORGET_LOST): a pod that was to start keeps its place and its decision stays open, one that was to go is
/// taken for running. Parameters and errors: as above; KAISCHED_E_ARGUMENT for another reason.
/// @param why kaisched_forget_reason.
KAISCHED_API kaisched_status kaisched_cluster_forget(kaisched_cluster* cluster, const kaisched_id* pods, size_t count,
                                                     uint32_t why, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Open decisions (KAISCHED_TABLE_ASSUMPTION), by identifier of their pods, or what stood in the way of the session
/// that was taken in last (KAISCHED_TABLE_CONFLICT). A delta that gives a pod another state or place than was decided
/// ends its decision: the host knows better.
/// @param kind one of these two; KAISCHED_E_UNSUPPORTED for others.
/// @param out receives a table that is borrowed until the next call that may change the cluster.
KAISCHED_API kaisched_status kaisched_cluster_table(const kaisched_cluster* cluster, uint32_t kind,
                                                    const kaisched_table** out, kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- snapshot: immutable, so every function takes it as const ------------------------------------------------------

/// Adds a reference. Nothing happens for NULL.
KAISCHED_API void kaisched_snapshot_retain(const kaisched_snapshot* snapshot) KAISCHED_NOEXCEPT;

/// Gives one reference back; the last one frees the snapshot and the tables that were asked of it. Sessions over it
/// stay valid. Threads that hold references of their own may go on using the snapshot meanwhile.
KAISCHED_API void kaisched_snapshot_release(const kaisched_snapshot* snapshot) KAISCHED_NOEXCEPT;

/// All entities of one kind with every column, ordered by name: what KAISCHED_OP_ADD needs to build an equal cluster.
/// The table is made by the first call and kept, so asking again costs nothing.
/// @param kind kaisched_table_kind of an input table, or KAISCHED_TABLE_QUARANTINE: the rows of the input that the
///   snapshot lacks, by kind, owner and name, with the reasons. KAISCHED_E_UNSUPPORTED for others.
/// @param out receives a table that is borrowed until the snapshot is released.
KAISCHED_API kaisched_status kaisched_snapshot_table(const kaisched_snapshot* snapshot, uint32_t kind,
                                                     const kaisched_table** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Size of the buffer for a digest: 64 hexadecimal digits and a NUL.
#define KAISCHED_DIGEST_SIZE 65u

/// Writes the SHA-256 of the snapshot as text. Equal digests lead to equal decisions; how the cluster came about does
/// not matter. Cost: the whole snapshot. See "Texts" above for `buffer`, `capacity` and `needed`.
KAISCHED_API kaisched_status kaisched_snapshot_digest(const kaisched_snapshot* snapshot, char* buffer, size_t capacity,
                                                      size_t* needed, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes the whole snapshot as bytes (format `kaisched-snapshot/2`, little-endian, with a checksum;
/// docs/recordings.md) for kaisched_snapshot_load. See "Texts" above for `buffer`, `capacity` and `needed`; there is no
/// final NUL. The bytes are kept between the question for their size and their delivery.
KAISCHED_API kaisched_status kaisched_snapshot_save(const kaisched_snapshot* snapshot, void* buffer, size_t capacity,
                                                    size_t* needed, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Reads what kaisched_snapshot_save wrote, that of version 0.1 (`kaisched-snapshot/1`, no checksum) as well; every
/// length and every value is checked, so the bytes may come from anywhere. Errors: KAISCHED_E_ARGUMENT for bytes that
/// are damaged, cut off or none of a snapshot; those of kaisched_cluster_apply for what the tables say.
/// @param out receives the snapshot with one reference. Its identifiers are its own.
KAISCHED_API kaisched_status kaisched_snapshot_load(const void* bytes, size_t size, kaisched_snapshot** out,
                                                    kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- session -------------------------------------------------------------------------------------------------------

/// Opens a session and runs the actions of the engine's options.
/// @param now_ns time of the session in nanoseconds, on the clock that the tables use.
/// @param out receives the session, to be given back with kaisched_session_close.
/// Errors: KAISCHED_E_NOT_FOUND for an unknown part or action, KAISCHED_E_PLUGIN.
KAISCHED_API kaisched_status kaisched_run(const kaisched_engine* engine, const kaisched_snapshot* snapshot,
                                          int64_t now_ns, kaisched_session** out,
                                          kaisched_error* err) KAISCHED_NOEXCEPT;

/// All in one call: an engine with options, a cluster of tables, and a session that has run.
/// @param abi, options, option_count as of kaisched_engine_create.
/// @param tables, table_count as of kaisched_cluster_apply.
/// @param now_ns, out as of kaisched_run.
/// Errors: those of these three.
KAISCHED_API kaisched_status kaisched_solve(uint32_t abi, const kaisched_kv* options, size_t option_count,
                                            const kaisched_table* const* tables, size_t table_count, int64_t now_ns,
                                            kaisched_session** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Opens a session without running anything. Parameters and errors: as kaisched_run.
KAISCHED_API kaisched_status kaisched_session_open(const kaisched_engine* engine, const kaisched_snapshot* snapshot,
                                                   int64_t now_ns, kaisched_session** out,
                                                   kaisched_error* err) KAISCHED_NOEXCEPT;

/// Runs one action by name, such as "allocate"; NULL runs all actions of the options in order. A name of the version
/// before is taken for the present one, see kaisched_session_warning.
/// Tables that were asked for before stay valid and show the state before the run.
/// Memory: the run takes a copy of the session, so after KAISCHED_E_NO_MEMORY the session is as it was. With parts of the
/// host, which each copy would open anew, it takes none: the session can only be closed then.
KAISCHED_API kaisched_status kaisched_session_run(kaisched_session* session, const char* action,
                                                  kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes warning number `index`, counted from 0, about a session: those of its engine when the session was opened (see
/// kaisched_engine_warning), then one for each action that was run by a name of the version before. So a host that has
/// no engine, because it calls kaisched_solve, gets the warnings about its options.
/// @param buffer, capacity, needed see "Texts" above; sizes are in bytes.
/// Errors: KAISCHED_E_NOT_FOUND behind the last one; KAISCHED_E_ARGUMENT if `session` is NULL.
/// Threads: as kaisched_session_digest, concurrently with calls that only read the session.
KAISCHED_API kaisched_status kaisched_session_warning(const kaisched_session* session, size_t index, char* buffer,
                                                      size_t capacity, size_t* needed,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

/// Runs an action for one pod group alone, the others wait as they are: would it start now ("allocate"), and if others
/// made room ("reclaim", "preempt", "consolidation", "repartition")? Asked on a fork it changes nothing. A group that
/// has nothing to start is passed over.
/// @param group of the cluster that the snapshot was taken of.
/// Errors: as kaisched_session_run; KAISCHED_E_ARGUMENT for an action that is not for groups that wait;
/// KAISCHED_E_NOT_FOUND, _STALE_ID, _WRONG_KIND for an identifier that names no group of the snapshot.
KAISCHED_API kaisched_status kaisched_session_run_group(kaisched_session* session, const char* action,
                                                        kaisched_id group, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Asks the action that runs, and questions that try things out, to end soon: their calls return KAISCHED_E_CANCELLED,
/// what was being tried is undone, and decisions that are committed stay. Where no action runs the next one ends so,
/// once, and questions until then. Forks do not notice.
/// Threads: any thread may call this at any time before the session is closed, also while another one uses the session.
KAISCHED_API void kaisched_session_cancel(const kaisched_session* session) KAISCHED_NOEXCEPT;

/// Makes a second session in the same state, for what-if questions. Cost: microseconds, whatever the cluster's size.
/// The open statement and the decisions so far are copied.
/// @param out receives the session, to be given back with kaisched_session_close.
KAISCHED_API kaisched_status kaisched_session_fork(const kaisched_session* session, kaisched_session** out,
                                                   kaisched_error* err) KAISCHED_NOEXCEPT;

/// What an action would do for each of some pod groups if it ran for that group alone, as a fork of its own finds out.
/// Nothing changes. Uses the executor of the engine.
/// @param groups `count` groups, see kaisched_session_run_group; may be NULL if `count` is 0.
/// @param out receives the answers, to be given back with kaisched_answers_destroy.
/// Errors: as kaisched_session_run_group, those of the first group that has one.
KAISCHED_API kaisched_status kaisched_session_ask(const kaisched_session* session, const char* action,
                                                  const kaisched_id* groups, size_t count, kaisched_answers** out,
                                                  kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives answers and their table back.
KAISCHED_API void kaisched_answers_destroy(kaisched_answers* answers) KAISCHED_NOEXCEPT;

/// All answers as one table: of decisions (KAISCHED_TABLE_DECISION), those of other groups that make room included; of
/// candidates, see kaisched_session_candidates; or of what the functions beside that one explain.
/// @param out receives a table that is borrowed until the answers are given back.
/// @param first receives an array, borrowed as long: the rows for question i are first[i] to first[i + 1], exclusive.
///   No decisions: nothing would change.
KAISCHED_API kaisched_status kaisched_answers_table(const kaisched_answers* answers, const kaisched_table** out,
                                                    const uint64_t** first, kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- the statement of a session: operations by hand, undone or turned into decisions ------------------------------

// Where memory is missing half-way through kaisched_session_rollback, _allocate, _pipeline, _evict or _commit
// (KAISCHED_E_NO_MEMORY), the session can only be closed: every other call gives KAISCHED_E_STATE and says why.

/// The present end of the statement; checkpoints nest.
KAISCHED_API kaisched_status kaisched_session_mark(const kaisched_session* session, kaisched_checkpoint* out,
                                                   kaisched_error* err) KAISCHED_NOEXCEPT;

/// Undoes everything since a checkpoint, the last operation first: exactly, to the byte. Mode `compat` undoes as KAI
/// does, which is not exact where pods share devices or have resource claims.
/// Errors: KAISCHED_E_STATE if the checkpoint lies beyond the end or belongs to a statement that has been committed.
KAISCHED_API kaisched_status kaisched_session_rollback(kaisched_session* session, const kaisched_checkpoint* to,
                                                       kaisched_error* err) KAISCHED_NOEXCEPT;

/// Puts a pending pod on a node, on free resources. Only resources and devices are tested, not the rules of the policy.
/// @param placed receives 1, or 0 if the pod does not fit now; nothing changes then. May be NULL.
/// Errors: KAISCHED_E_STATE for a pod that is not pending; KAISCHED_E_NOT_FOUND, _STALE_ID, _WRONG_KIND for identifiers
/// that name no pod or node of the snapshot.
KAISCHED_API kaisched_status kaisched_session_allocate(kaisched_session* session, kaisched_id pod, kaisched_id node,
                                                       int32_t* placed, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Claims free resources of a node, or such as come free, for a pending or evicted pod. Parameters and errors: as
/// kaisched_session_allocate.
KAISCHED_API kaisched_status kaisched_session_pipeline(kaisched_session* session, kaisched_id pod, kaisched_id node,
                                                       int32_t* placed, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Stops a pod that is on a node; its resources come free. Errors: KAISCHED_E_STATE for a pod that is on no node, has
/// no pod group, has a claim only, or has been placed by the open statement (kaisched_session_rollback undoes that);
/// identifiers as above.
KAISCHED_API kaisched_status kaisched_session_evict(kaisched_session* session, kaisched_id pod,
                                                    kaisched_error* err) KAISCHED_NOEXCEPT;

/// Turns the statement into decisions of one commit. An empty statement commits nothing.
KAISCHED_API kaisched_status kaisched_session_commit(kaisched_session* session, kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- results of a session ------------------------------------------------------------------------------------------

/// Results so far: decisions, reasons, queue shares, placements, statistics, attempts or sharing groups; resource
/// claims as the session leaves them; of pod groups the column searched, where it changes, to be applied to the cluster
/// by hosts that do not use kaisched_cluster_assume. The table is made by the first call after a run and kept.
/// @param kind kaisched_table_kind of such a table; KAISCHED_E_UNSUPPORTED for others.
/// @param out receives a table that is borrowed until the session is closed.
KAISCHED_API kaisched_status kaisched_session_table(const kaisched_session* session, uint32_t kind,
                                                    const kaisched_table** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Why here, or why nowhere: every part is asked about every node for one pod. For a pod that waits in the state of the
/// session now; for a pod that this session has placed in the state in which it was placed. Cost: a scan of all nodes,
/// and the decisions before.
/// @param out receives the answer, to be given back with kaisched_answers_destroy; its table (kaisched_answers_table)
///   is of KAISCHED_TABLE_CANDIDATE, with a row for each node: those that can take the pod, best first, then the others
///   by name.
/// Errors: KAISCHED_E_STATE for a pod that was on its node when the session opened; KAISCHED_E_NOT_FOUND, _STALE_ID,
/// _WRONG_KIND for an identifier that names no pod of the snapshot; those of plug-ins.
KAISCHED_API kaisched_status kaisched_session_candidates(const kaisched_session* session, kaisched_id pod,
                                                         kaisched_answers** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// What would let groups that wait start now: fewer pods or sub-groups that must start together, a smaller request, a
/// wider level of the topology, more limit or quota for queues, new nodes, nodes that are closed, tolerations, labels,
/// or what the actions that evict would do. Of each kind the smallest change, of several kinds together where none
/// alone is enough. Every one has been tried in a session over a cluster with this session's decisions and the change.
/// Nothing changes. Cost: that of opening a session, for each trial.
/// @param groups `count` groups, see kaisched_session_run_group; may be NULL if `count` is 0.
/// @param limits how much is tried; NULL: the defaults.
/// @param out receives the answers, to be given back with kaisched_answers_destroy. The table (kaisched_answers_table)
///   is of KAISCHED_TABLE_REMEDY, with a row for each change: fewest kinds of changes first. A group for which nothing
///   was found has one row, whose KAISCHED_REMEDY_COL_REMEDY is 0. Amounts are in the unit of the row's dimension.
/// Errors: KAISCHED_E_STATE for an open statement; KAISCHED_E_STRUCT_SIZE; KAISCHED_E_NOT_FOUND, _STALE_ID, _WRONG_KIND
/// for an identifier that names no group of the snapshot; those of plug-ins. Those of the first group that has one.
KAISCHED_API kaisched_status kaisched_session_remedies(const kaisched_session* session, const kaisched_id* groups,
                                                       size_t count, const kaisched_remedy_limits* limits,
                                                       kaisched_answers** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Why a group that waits cannot start, as a proof of the strongest statement that could be shown: what no scheduler
/// can do, not what an action did not find. Of kind `none` if there is no proof, which does not mean that the group can
/// start, and for a group that waits for nothing. Nothing changes.
/// @param out receives the answer, to be given back with kaisched_answers_destroy; its table is of
///   KAISCHED_TABLE_CERTIFICATE, with a row for each bound over nodes, at least one. Amounts are in the unit of the
///   row's dimension.
/// Errors: KAISCHED_E_STATE for an open statement; identifiers as kaisched_session_run_group.
KAISCHED_API kaisched_status kaisched_session_certify(const kaisched_session* session, kaisched_id group,
                                                      kaisched_answers** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Why the node of a pod that this session has placed was chosen: the runner-up, the parts that decided, and what would
/// have turned the choice, each tried. Cost: some times that of kaisched_session_candidates.
/// @param out receives the answer, to be given back with kaisched_answers_destroy; its table is of
///   KAISCHED_TABLE_CHOICE: the choice first, then differences of scores, then what would have turned it.
/// Errors: as kaisched_session_candidates; KAISCHED_E_STATE for a pod that waits as well.
KAISCHED_API kaisched_status kaisched_session_choice(const kaisched_session* session, kaisched_id pod,
                                                     kaisched_answers** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Why this session made a pod leave or move: for whom, by which rules, who was left alone and why, and what would have
/// happened if its group had been protected, which the action itself finds out in the state before.
/// @param out receives the answer, to be given back with kaisched_answers_destroy; its table is of
///   KAISCHED_TABLE_VICTIM, in the order of the values that KAISCHED_VICTIM_COL_WHAT names.
/// Errors: KAISCHED_E_STATE for a pod that no decision evicted or moved; identifiers as kaisched_session_candidates;
/// those of plug-ins.
KAISCHED_API kaisched_status kaisched_session_victim(const kaisched_session* session, kaisched_id pod,
                                                     kaisched_answers** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// How the fair share of a queue came about: the divisions among the children of the cluster and of every queue above
/// it, siblings included, in the order in which they happened; then what parts changed for those queues. Cost: that of
/// opening the session once more.
/// @param out receives the answer, to be given back with kaisched_answers_destroy; its table is of
///   KAISCHED_TABLE_SHARE_STEP. Amounts are in the unit of the row's dimension; before and given are after.
/// Errors: KAISCHED_E_NOT_FOUND, _STALE_ID, _WRONG_KIND for an identifier that names no queue of the snapshot; those of
/// plug-ins.
KAISCHED_API kaisched_status kaisched_session_share_steps(const kaisched_session* session, kaisched_id queue,
                                                          kaisched_answers** out,
                                                          kaisched_error* err) KAISCHED_NOEXCEPT;

/// What would become of groups if the cluster had changed: would they start now, whom would they displace, when would
/// they start? The tables are applied to the cluster as this session leaves it, each group is asked about alone, and
/// nothing changes. Times are nanoseconds on the clock of the session; groups end `runtime_estimate` after their last
/// start.
/// @param tables, table_count as of kaisched_cluster_apply.
/// @param groups `group_count` names; may be NULL if `group_count` is 0, which stands for those that the tables add.
/// @param limits how much is tried; NULL: the defaults.
/// @param out receives the answers, to be given back with kaisched_answers_destroy; the table is of
///   KAISCHED_TABLE_FORECAST, with a row for each group, in the order of the names.
/// Errors: KAISCHED_E_STATE for an open statement; KAISCHED_E_STRUCT_SIZE; those of kaisched_cluster_apply for the
/// tables; KAISCHED_E_NOT_FOUND for a name that no group has; KAISCHED_E_ARGUMENT if nothing is asked: no name, and no
/// group that the tables add; those of plug-ins.
KAISCHED_API kaisched_status kaisched_session_what_if(const kaisched_session* session,
                                                      const kaisched_table* const* tables, size_t table_count,
                                                      const char* const* groups, size_t group_count,
                                                      const kaisched_what_if_limits* limits, kaisched_answers** out,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

/// How far what was decided is from the best that any scheduler could have done: pods that had to leave or move,
/// domains of groups that prefer to share one, and room that fragmentation wastes for what waits, each beside a bound
/// that can be checked without the engine. Nothing changes. Cost: all nodes and the pods on them, for each commit with
/// victims and each kind of pods.
/// @param out receives the answers, one for each comparison, by commits and then by what waits; to be given back with
///   kaisched_answers_destroy. The table (kaisched_answers_table) is of KAISCHED_TABLE_GAP, with a row for each bound
///   over domains, at least one; KAISCHED_GAP_COL_GAP counts the comparisons. No rows: nothing is to be compared.
/// Errors: KAISCHED_E_STATE for an open statement.
KAISCHED_API kaisched_status kaisched_session_gaps(const kaisched_session* session, kaisched_answers** out,
                                                   kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes the SHA-256 over preset, mode and decisions as text, see KAISCHED_DIGEST_SIZE. Names count, not identifiers:
/// equal clusters give equal digests. See "Texts" above for `buffer`, `capacity` and `needed`.
KAISCHED_API kaisched_status kaisched_session_digest(const kaisched_session* session, char* buffer, size_t capacity,
                                                     size_t* needed, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives a session and the tables that were asked of it back.
KAISCHED_API void kaisched_session_close(kaisched_session* session) KAISCHED_NOEXCEPT;

// ---- nodes to add, nodes to give back ------------------------------------------------------------------------------

/// Decides the cluster as it is, without making anybody leave, and then asks: with which offered nodes does what still
/// waits start, at the least cost? Which nodes can go, and all that runs still has a place? Every answer has been
/// decided on a cluster that is so changed before it is told. Nothing changes. Cost: that of a session, for each trial.
/// @param now_ns time of the sessions, as of kaisched_run.
/// @param nodes `node_table_count` tables of kind node, device or NUMA zone (KAISCHED_OP_ADD) with a node for each
///   type, in the dimensions of the cluster. Nothing of them is added to it.
/// @param types `type_count` offers; may be NULL if there are none, then nothing can be added.
/// @param question NULL: both questions, about all groups.
/// @param out receives the answer, to be given back with kaisched_scaling_destroy.
/// Errors: KAISCHED_E_STRUCT_SIZE; KAISCHED_E_ARGUMENT for an offer that is wrong, with type and field;
/// KAISCHED_E_UNSUPPORTED for tables of other kinds; those of kaisched_cluster_apply for the tables;
/// KAISCHED_E_NOT_FOUND for a queue or group that is not there; those of kaisched_run.
KAISCHED_API kaisched_status kaisched_scale(const kaisched_engine* engine, const kaisched_snapshot* snapshot,
                                            int64_t now_ns, const kaisched_table* const* nodes, size_t node_table_count,
                                            const kaisched_node_type* const* types, size_t type_count,
                                            const kaisched_scale_question* question, kaisched_scaling** out,
                                            kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives an answer and its tables back.
KAISCHED_API void kaisched_scaling_destroy(kaisched_scaling* scaling) KAISCHED_NOEXCEPT;

/// The answer as a table: KAISCHED_TABLE_SCALING (costs and what is proven, one row), _NODE_ADDITION (nodes to add),
/// _SCALED_GROUP (what starts with them and where, why the rest waits) or _RETURNED_NODE (nodes that can go and the
/// moves that it takes, or what keeps them).
/// @param kind kaisched_table_kind of such a table; KAISCHED_E_UNSUPPORTED for others.
/// @param out receives a table that is borrowed until the answer is given back.
KAISCHED_API kaisched_status kaisched_scaling_table(const kaisched_scaling* scaling, uint32_t kind,
                                                    const kaisched_table** out, kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- federations: many clusters with one line ----------------------------------------------------------------------

/// Makes a federation without members.
/// @param options NULL: the defaults.
/// @param out to be given back with kaisched_federation_destroy.
/// Errors: KAISCHED_E_STRUCT_SIZE; KAISCHED_E_ARGUMENT for a number that is no criterion, or is given twice, and for a
/// fit that there is not.
KAISCHED_API kaisched_status kaisched_federation_create(const kaisched_federation_options* options,
                                                        kaisched_federation** out,
                                                        kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives a federation and what was asked of it back. Clusters and engines of its members stay. After
/// KAISCHED_E_NO_MEMORY from a call that changes a federation nothing else is left: other calls give KAISCHED_E_STATE.
/// What members had taken in by then is open in their clusters (KAISCHED_TABLE_ASSUMPTION).
KAISCHED_API void kaisched_federation_destroy(kaisched_federation* federation) KAISCHED_NOEXCEPT;

/// Threads for the members of a round, which decide at once then, with the same outcome; see
/// kaisched_engine_set_executor. Engines of members must not have the same executor.
/// @param executor copied; NULL: none but the caller's.
KAISCHED_API kaisched_status kaisched_federation_set_executor(kaisched_federation* federation,
                                                              const kaisched_executor* executor,
                                                              kaisched_error* err) KAISCHED_NOEXCEPT;

/// Adds a cluster of this process and the engine that decides in it. The federation shares both with the host, which
/// goes on to feed the cluster between calls, and may give its handles back. Calls on the federation may change the
/// cluster and read the engine: no other call may use the two meanwhile.
/// Errors: KAISCHED_E_DUPLICATE for a name that is there; KAISCHED_E_ARGUMENT for an empty name or a price that is not
/// between 0 and KAISCHED_MAX_AMOUNT; KAISCHED_E_STRUCT_SIZE.
KAISCHED_API kaisched_status kaisched_federation_add_member(kaisched_federation* federation,
                                                            const kaisched_member* about, kaisched_cluster* cluster,
                                                            const kaisched_engine* engine,
                                                            kaisched_error* err) KAISCHED_NOEXCEPT;

/// Adds a member that is elsewhere and known by its summary alone: groups are offered to it, and the host tells what
/// has become of them (kaisched_federation_answer).
/// @param summary `size` bytes of JSON, `kaisched-cluster-summary/1`: kaisched_federation_summary of the other side.
/// Errors: as above, and KAISCHED_E_ARGUMENT for a text that is no summary.
KAISCHED_API kaisched_status kaisched_federation_add_known_member(kaisched_federation* federation,
                                                                  const kaisched_member* about, const char* summary,
                                                                  size_t size, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Replaces what is said about the member of this name.
/// Errors: KAISCHED_E_NOT_FOUND; as above.
KAISCHED_API kaisched_status kaisched_federation_change_member(kaisched_federation* federation,
                                                               const kaisched_member* about,
                                                               kaisched_error* err) KAISCHED_NOEXCEPT;

/// A newer summary of a member that is known by it alone. It counts what was accepted; offers that were not answered
/// stay on top.
/// Errors: KAISCHED_E_NOT_FOUND; KAISCHED_E_STATE for a member in this process; KAISCHED_E_ARGUMENT as above.
KAISCHED_API kaisched_status kaisched_federation_update_member(kaisched_federation* federation, const char* name,
                                                               const char* summary, size_t size,
                                                               kaisched_error* err) KAISCHED_NOEXCEPT;

/// The member is gone, and with it all that ran there: its groups are in the line again. Only for what is certain: one
/// that cannot be reached may still run them; close it (kaisched_federation_change_member).
/// @param groups receives how many these are; may be NULL.
/// Errors: KAISCHED_E_NOT_FOUND.
KAISCHED_API kaisched_status kaisched_federation_lose_member(kaisched_federation* federation, const char* name,
                                                             uint64_t* groups, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes what a member looks like now as JSON, `kaisched-cluster-summary/1`. See "Texts" above for `buffer`,
/// `capacity` and `needed`.
/// Errors: KAISCHED_E_NOT_FOUND; those of kaisched_session_open.
KAISCHED_API kaisched_status kaisched_federation_summary(kaisched_federation* federation, const char* member,
                                                         int64_t now_ns, char* buffer, size_t capacity, size_t* needed,
                                                         kaisched_error* err) KAISCHED_NOEXCEPT;

/// Takes tables in: resources and topologies (KAISCHED_OP_ADD), queues over all members (add, change, remove), and
/// whole groups that wait: pod groups, sub-groups and pods (add). All or nothing.
/// Errors: as kaisched_cluster_apply; KAISCHED_E_UNSUPPORTED for other tables; KAISCHED_E_DUPLICATE for a group that is
/// here; KAISCHED_E_ARGUMENT for a pod that does not wait or has no group.
KAISCHED_API kaisched_status kaisched_federation_submit(kaisched_federation* federation,
                                                        const kaisched_table* const* tables, size_t count,
                                                        kaisched_error* err) KAISCHED_NOEXCEPT;

/// What a group says about members, instead of what it has said before.
/// @param wishes NULL: nothing.
/// Errors: KAISCHED_E_NOT_FOUND; KAISCHED_E_STRUCT_SIZE; KAISCHED_E_ARGUMENT for a weight or price out of bounds.
KAISCHED_API kaisched_status kaisched_federation_wish(kaisched_federation* federation, const char* group,
                                                      const kaisched_group_wishes* wishes,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

/// The groups are wanted no more, or have ended. Of those in a member of this process the rows are removed there if
/// they are there still.
/// Errors: KAISCHED_E_NOT_FOUND; nothing is done then.
KAISCHED_API kaisched_status kaisched_federation_withdraw(kaisched_federation* federation, const char* const* groups,
                                                          size_t count, kaisched_error* err) KAISCHED_NOEXCEPT;

/// What a member that is known by its summary has made of an offer. One that refused is asked again when it has a newer
/// summary.
/// @param accepted 0 or 1.
/// Errors: KAISCHED_E_NOT_FOUND; KAISCHED_E_STATE if the group is not offered.
KAISCHED_API kaisched_status kaisched_federation_answer(kaisched_federation* federation, const char* group,
                                                        int32_t accepted, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Where a group is.
/// @param stage receives kaisched_group_stage; may be NULL.
/// @param buffer, capacity, needed the member as text, empty if it is in none; see "Texts" above.
/// Errors: KAISCHED_E_NOT_FOUND.
KAISCHED_API kaisched_status kaisched_federation_stage(const kaisched_federation* federation, const char* group,
                                                       uint32_t* stage, char* buffer, size_t capacity, size_t* needed,
                                                       kaisched_error* err) KAISCHED_NOEXCEPT;

/// Queues over all members and what they hold now.
/// @param out receives a table of KAISCHED_TABLE_FEDERATED_QUEUE that is borrowed until the next call of this function,
///   or until the federation is given back.
KAISCHED_API kaisched_status kaisched_federation_queues(kaisched_federation* federation, int64_t now_ns,
                                                        const kaisched_table** out,
                                                        kaisched_error* err) KAISCHED_NOEXCEPT;

/// Decides. Groups in the order of the line are sent to their best members; members with something to decide run the
/// actions of their engines, all that are their own included; who was not started goes on to the next one, until
/// nothing can be sent. What is decided is in the clusters already, as kaisched_cluster_assume takes it: the host
/// carries it out and reports to these clusters, as ever. A member that fails is in the answer, and its groups go
/// elsewhere. Tables that were borrowed of the clusters are gone.
/// @param out receives the answer, to be given back with kaisched_federated_destroy.
KAISCHED_API kaisched_status kaisched_federation_decide(kaisched_federation* federation, int64_t now_ns,
                                                        kaisched_federated** out,
                                                        kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives an answer, its tables and its sessions back.
KAISCHED_API void kaisched_federated_destroy(kaisched_federated* federated) KAISCHED_NOEXCEPT;

/// The answer as a table: KAISCHED_TABLE_FEDERATED_PLACE (who got which member, and why that one), _FEDERATED_WAIT (who
/// waits, and how it stands with every member) or _MEMBER_SESSION (who decided).
/// @param kind kaisched_table_kind of such a table; KAISCHED_E_UNSUPPORTED for others.
/// @param out receives a table that is borrowed until the answer is given back.
KAISCHED_API kaisched_status kaisched_federated_table(const kaisched_federated* federated, uint32_t kind,
                                                      const kaisched_table** out,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

/// The session in which a member decided.
/// @param index row of KAISCHED_TABLE_MEMBER_SESSION.
/// @param out receives a session that is borrowed until the answer is given back.
/// Errors: KAISCHED_E_NOT_FOUND for a row that there is not, and for a member that failed.
KAISCHED_API kaisched_status kaisched_federated_session(const kaisched_federated* federated, size_t index,
                                                        const kaisched_session** out,
                                                        kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes the SHA-256 over who got which member, who waits, and the digests of all sessions; see KAISCHED_DIGEST_SIZE.
KAISCHED_API kaisched_status kaisched_federated_digest(const kaisched_federated* federated, char* buffer,
                                                       size_t capacity, size_t* needed,
                                                       kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- staging: input tables in memory of the library, for callers whose own memory moves or is collected -----------

/// Makes a table without columns.
/// @param kind kaisched_table_kind of an input table; KAISCHED_E_UNSUPPORTED for others.
/// @param op kaisched_table_op but KAISCHED_OP_NONE; KAISCHED_E_ARGUMENT for others.
/// @param rows of every column.
/// @param out receives the table, to be given back with kaisched_staging_destroy.
KAISCHED_API kaisched_status kaisched_staging_create(uint32_t kind, uint32_t op, uint64_t rows, kaisched_staging** out,
                                                     kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives a table back, with all that was borrowed of it.
KAISCHED_API void kaisched_staging_destroy(kaisched_staging* staging) KAISCHED_NOEXCEPT;

/// Starts anew with so many rows and no columns; what was borrowed is gone.
KAISCHED_API kaisched_status kaisched_staging_clear(kaisched_staging* staging, uint64_t rows,
                                                    kaisched_error* err) KAISCHED_NOEXCEPT;

/// Memory for the numbers of a column, all 0: `rows` times `width` values, row by row. Asking again gives the same.
/// @param column of the table's kind, such as KAISCHED_NODE_COL_CAPACITY.
/// @param type what the caller is going to write, that of the column (kaisched_column_type); KAISCHED_TYPE_U64 for the
///   identifiers of a column that names entities. Any other is KAISCHED_E_ARGUMENT: the memory has no room for it.
/// @param width values per row: 1, or the number of dimensions given.
/// @param out receives memory to write to, borrowed until the table is cleared or given back.
/// Errors: KAISCHED_E_UNSUPPORTED for a column that the kind does not have, KAISCHED_E_ARGUMENT for one of texts or
/// lists or for another width than before.
KAISCHED_API kaisched_status kaisched_staging_numbers(kaisched_staging* staging, uint32_t column, uint32_t type,
                                                      uint32_t width, void** out,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

/// Copies a whole column of texts or lists, in the form of kaisched_col.
/// @param data the values one row after the other; may be NULL if there are none.
/// @param offsets `rows` + 1 of them, ascending from 0.
/// Errors: KAISCHED_E_UNSUPPORTED, KAISCHED_E_ARGUMENT as above, for offsets that do not ascend and for a list of texts
/// whose last one does not end with a NUL.
KAISCHED_API kaisched_status kaisched_staging_ragged(kaisched_staging* staging, uint32_t column, const void* data,
                                                     const uint32_t* offsets, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Adds the text of the next row to a column of texts.
/// @param text `size` bytes of UTF-8, copied; may be NULL if `size` is 0.
/// Errors: KAISCHED_E_LIMIT behind the last row; others as above.
KAISCHED_API kaisched_status kaisched_staging_text(kaisched_staging* staging, uint32_t column, const char* text,
                                                   size_t size, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Copies a whole column of texts, one row after the other, each of which ends with a NUL.
/// @param texts `size` bytes of UTF-8, the NULs included; may be NULL if `size` is 0.
/// Errors: KAISCHED_E_ARGUMENT if there are more or fewer texts than rows; others as above.
KAISCHED_API kaisched_status kaisched_staging_texts(kaisched_staging* staging, uint32_t column, const char* texts,
                                                    size_t size, kaisched_error* err) KAISCHED_NOEXCEPT;

/// The table as kaisched_cluster_apply takes it.
/// @param out receives a table that is borrowed until the next call on `staging`.
/// Errors: KAISCHED_E_ARGUMENT if a column of texts does not have all its rows.
KAISCHED_API kaisched_status kaisched_staging_table(kaisched_staging* staging, const kaisched_table** out,
                                                    kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- objects of Kubernetes: what the API server says as tables, and decisions as what to tell it ------------------

/// Reads objects of Kubernetes and KAI in JSON: lists and single objects, one or several after each other, as the API
/// server and `kubectl get -o json` give them. What becomes of each is on the page docs/kubernetes-objects.md.
/// @param text `size` bytes; may be NULL if `size` is 0.
/// @param options `count` options: `scheduler` adds the name of a scheduler whose pods are decided, `node_pool` is the
///   value of the label of the nodes, queues and pod groups that take part, `node_pool_label` and `queue_label` are
///   keys of labels, `now` is the time in nanoseconds since 1970, `vendors` is a JSON file as
///   kaisched_engine_add_vendors takes it, whose devices are read too, `find_devices` (true or false) says whether
///   devices that nobody registers are found by what nodes say, else they are in clusters of HAMi,
///   `queue_rules` is a JSON file of rules that say which queue a group belongs to (docs/kubernetes-hooks.md),
///   `later_members` (true or false) says whether pods in no sub-group of a group that has some start when they come;
///   may be NULL if `count` is 0.
/// @param out receives the objects, to be given back with kaisched_objects_destroy.
/// Errors: KAISCHED_E_ARGUMENT for a text that is no JSON or holds something that is no object, KAISCHED_E_NOT_FOUND
/// for an unknown option. An object that cannot be read is no error here, see kaisched_objects_fault.
KAISCHED_API kaisched_status kaisched_objects_read(const char* text, size_t size, const kaisched_kv* options,
                                                   size_t count, kaisched_objects** out,
                                                   kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives objects and the tables that were asked of them back.
KAISCHED_API void kaisched_objects_destroy(kaisched_objects* objects) KAISCHED_NOEXCEPT;

/// The objects as tables with KAISCHED_OP_ADD, in the order that kaisched_cluster_apply wants. What lives holds objects
/// that nobody can schedule, such as a pod group of a queue that does not exist; the option `on_invalid` = `quarantine`
/// of the cluster leaves these out.
/// @param out receives `count` pointers to tables, borrowed until the objects are given back.
KAISCHED_API kaisched_status kaisched_objects_tables(const kaisched_objects* objects, const kaisched_table* const** out,
                                                     size_t* count, kaisched_error* err) KAISCHED_NOEXCEPT;

/// The time at which the cluster was looked at, in nanoseconds since 1970: that of the option `now`, else the latest
/// one that an object names.
KAISCHED_API kaisched_status kaisched_objects_now(const kaisched_objects* objects, int64_t* out,
                                                  kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes why object number `index`, counted from 0, of those that could not be read has no row: line, object, path and
/// what was expected there. KAISCHED_E_NOT_FOUND behind the last one. See "Texts" above for `buffer`, `capacity` and
/// `needed`.
KAISCHED_API kaisched_status kaisched_objects_fault(const kaisched_objects* objects, size_t index, char* buffer,
                                                    size_t capacity, size_t* needed,
                                                    kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes the decisions of a session as a list of objects in JSON, in their order: a binding for each pod that starts,
/// an `Eviction` for each that leaves, a `Pod` with the part of the status to patch for each that is promised a node or
/// waits. Before a binding stands what it needs: a `Pod` with the metadata that says which devices of vendors it has,
/// and in the form `kubernetes` a `ResourceClaim` for each claim that it does not use yet.
/// @param session a session over a cluster that was built from these objects.
/// @param form `kai`: bindings are `BindRequest`s; `kubernetes`: they are `Binding`s.
/// Errors: KAISCHED_E_ARGUMENT for another form, KAISCHED_E_UNSUPPORTED for a migration. See "Texts" above for
/// `buffer`, `capacity` and `needed`.
KAISCHED_API kaisched_status kaisched_objects_actions(const kaisched_objects* objects, const kaisched_session* session,
                                                      const char* form, char* buffer, size_t capacity, size_t* needed,
                                                      kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- objects of Kubernetes that change: for hosts that watch them --------------------------------------------------

/// Makes a cache without objects.
/// @param options as for kaisched_objects_read, but for `now`, which is given with each snapshot; a value of it here
///   has no effect.
/// @param out receives the cache, to be given back with kaisched_object_cache_destroy.
/// Errors: KAISCHED_E_NOT_FOUND for an unknown option, KAISCHED_E_ARGUMENT for a bad value.
KAISCHED_API kaisched_status kaisched_object_cache_create(const kaisched_kv* options, size_t count,
                                                          kaisched_object_cache** out,
                                                          kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives a cache back. Snapshots and objects that came of it stay valid.
KAISCHED_API void kaisched_object_cache_destroy(kaisched_object_cache* cache) KAISCHED_NOEXCEPT;

/// Takes objects: each takes the place of the one of the same group, kind, namespace and name. Cost: the text.
/// @param text `size` bytes of JSON, as for kaisched_objects_read; may be NULL if `size` is 0.
/// Errors: KAISCHED_E_ARGUMENT for a text that is no JSON or holds something that is no object; nothing is taken then.
KAISCHED_API kaisched_status kaisched_object_cache_put(kaisched_object_cache* cache, const char* text, size_t size,
                                                       kaisched_error* err) KAISCHED_NOEXCEPT;

/// Drops the objects that have group, kind, namespace and name of those in a text, which need nothing else. What is not
/// there is passed over. Parameters and errors: as above.
KAISCHED_API kaisched_status kaisched_object_cache_remove(kaisched_object_cache* cache, const char* text, size_t size,
                                                          kaisched_error* err) KAISCHED_NOEXCEPT;

/// The cluster of the objects as they are, with what nobody can schedule in quarantine: the snapshot is equal, and so
/// are the decisions, to one of kaisched_objects_read over all objects, ordered by group, kind and name. Cost: a look
/// at every object, and reading what has changed and what depends on it. Where one of a kind that concerns all changes,
/// such as a queue, a topology, a claim or a resource that is new, the cluster is made anew.
/// @param now nanoseconds since 1970.
/// @param snapshot receives the snapshot with one reference, to be given back with kaisched_snapshot_release.
/// @param objects receives what kaisched_objects_fault and kaisched_objects_actions need, to be given back with
///   kaisched_objects_destroy; it has no tables. May be NULL.
KAISCHED_API kaisched_status kaisched_object_cache_snapshot(kaisched_object_cache* cache, int64_t now,
                                                            kaisched_snapshot** snapshot, kaisched_objects** objects,
                                                            kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- configurations of other schedulers ----------------------------------------------------------------------------

/// Reads the configuration of another scheduler and writes the preset and the options that come nearest, as JSON in the
/// format `kaisched-import/1`: `from`, the name of the scheduler; `options`, names and values for kaisched_engine_set,
/// the preset first, in the units of kaisched_option_info; `rows`, lines of a scenario with nodes, queues and
/// topologies (docs/scenario.md has their units); `queue_rules`, rules for the option `queue_rules` of
/// kaisched_objects_read, or null; `left_out`, a sentence for each part that has no counterpart, with its line.
/// @param scheduler `kai`, `kube-scheduler`, `kueue`, `slurm`, `volcano` or `yunikorn`; NULL or empty: the one that the
///   text looks like.
/// @param text `size` bytes of JSON; a configuration in YAML has to be converted. Of kueue objects and lists of them,
///   one or several after each other; of slurm a slurm.conf as it is, with gres.conf and topology.conf behind it. May
///   be NULL if `size` is 0.
/// Errors: KAISCHED_E_ARGUMENT for another name, for a text that is no such configuration, and for values that no
/// option takes; the message names line and place. See "Texts" above for `buffer`, `capacity` and `needed`.
KAISCHED_API kaisched_status kaisched_import_configuration(const char* scheduler, const char* text, size_t size,
                                                           char* buffer, size_t capacity, size_t* needed,
                                                           kaisched_error* err) KAISCHED_NOEXCEPT;

// ---- recordings: what was decided over what, to be decided again ---------------------------------------------------

/// Makes a recorder that has written nothing.
/// @param out receives the recorder, to be given back with kaisched_recorder_destroy.
KAISCHED_API kaisched_status kaisched_recorder_create(kaisched_recorder** out, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives a recorder back. NULL is fine.
KAISCHED_API void kaisched_recorder_destroy(kaisched_recorder* recorder) KAISCHED_NOEXCEPT;

/// Adds a session: the bytes that follow those of the sessions before (format `kaisched-recording/2`,
/// docs/recordings.md). All of them one after the other are a recording; one that ends early is read up to there.
/// Between two sessions only rows that differ are written. Cost: all tables of the cluster and their digest.
/// @param engine the one that opened the session. Parts that were registered are recorded by name alone.
/// @param now_ns as it was given to kaisched_run or kaisched_session_open.
/// @param bytes receives the bytes, which belong to the recorder and live until the next call with it.
/// @param size receives their number.
/// Errors: KAISCHED_E_STATE for a session with an open statement. Threads: exclusive use of the recorder.
KAISCHED_API kaisched_status kaisched_recorder_add(kaisched_recorder* recorder, const kaisched_engine* engine,
                                                   const kaisched_session* session, int64_t now_ns, const void** bytes,
                                                   size_t* size, kaisched_error* err) KAISCHED_NOEXCEPT;

/// Opens a recording before its first session.
/// @param bytes the recording, as it is or packed by gzip (format `kaisched-recording/2` or `/1`); it is copied, and
///   unpacked as it is read.
/// @param out receives the recording, to be given back with kaisched_recording_close.
/// Errors: KAISCHED_E_ARGUMENT for bytes that are none.
KAISCHED_API kaisched_status kaisched_recording_open(const void* bytes, size_t size, kaisched_recording** out,
                                                     kaisched_error* err) KAISCHED_NOEXCEPT;

/// Gives a recording back. Snapshots that came of it stay valid. NULL is fine.
KAISCHED_API void kaisched_recording_close(kaisched_recording* recording) KAISCHED_NOEXCEPT;

/// Goes to the next session.
/// @param more receives 1, or 0 at the end, also where the last record is not whole.
/// @param now_ns receives the time of the session; may be NULL.
/// Errors: KAISCHED_E_ARGUMENT for bytes that are damaged, with the session before them and their place,
/// KAISCHED_E_LIMIT for a packed record of more than 1 GiB and for a packed recording of more than 4 GiB, unpacked.
KAISCHED_API kaisched_status kaisched_recording_next(kaisched_recording* recording, int32_t* more, int64_t* now_ns,
                                                     kaisched_error* err) KAISCHED_NOEXCEPT;

/// The cluster that the session decided over.
/// @param out receives the snapshot with one reference, to be given back with kaisched_snapshot_release.
/// Errors: KAISCHED_E_STATE before the first session.
KAISCHED_API kaisched_status kaisched_recording_snapshot(kaisched_recording* recording, kaisched_snapshot** out,
                                                         kaisched_error* err) KAISCHED_NOEXCEPT;

/// Sets preset and options of an engine to those of the session. Errors: KAISCHED_E_STATE before the first session,
/// KAISCHED_E_NOT_FOUND for an option that this build does not have.
KAISCHED_API kaisched_status kaisched_recording_configure(const kaisched_recording* recording, kaisched_engine* engine,
                                                          kaisched_error* err) KAISCHED_NOEXCEPT;

/// Writes the digest that the session had (kaisched_session_digest). Errors: KAISCHED_E_STATE before the first session.
/// See "Texts" above for `buffer`, `capacity` and `needed`.
KAISCHED_API kaisched_status kaisched_recording_digest(const kaisched_recording* recording, char* buffer,
                                                       size_t capacity, size_t* needed,
                                                       kaisched_error* err) KAISCHED_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
