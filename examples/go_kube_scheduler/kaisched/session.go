package kaisched

/*
#include <stdlib.h>
#include <kaisched/kaisched.h>
*/
import "C"

import "unsafe"

// Engine is options and the registry of parts of the policy.
type Engine struct{ handle *C.kaisched_engine }

// NewEngine makes an engine. Options are set in order; a preset replaces all others, so it goes first.
func NewEngine(set ...Option) (*Engine, error) {
	first, count, free := options(set)
	defer free()
	failure := newError()
	var handle *C.kaisched_engine
	if err := failure.of(C.kaisched_engine_create(C.KAISCHED_ABI_VERSION, first, count, &handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Engine{handle}, nil
}

// Close gives the engine back; its sessions stay valid.
func (e *Engine) Close() {
	C.kaisched_engine_destroy(e.handle)
	e.handle = nil
}

// Set sets one option. Sessions that are open do not change.
func (e *Engine) Set(option Option) error {
	name, value := C.CString(option.Name), C.CString(option.Value)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(value))
	failure := newError()
	return failure.of(C.kaisched_engine_set(e.handle, name, value, &failure.c))
}

// Get gives the value of one option. It only looks.
func (e *Engine) Get(option string) (string, error) {
	name := C.CString(option)
	defer C.free(unsafe.Pointer(name))
	return readText(func(buffer *C.char, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status {
		return C.kaisched_engine_get(e.handle, name, buffer, capacity, needed, failure)
	})
}

// Open opens a session over a snapshot and runs nothing. It only looks at the engine. The time is in nanoseconds, on
// the clock that the tables use: the library has none of its own.
func (e *Engine) Open(snapshot *Snapshot, now int64) (*Session, error) {
	failure := newError()
	var handle *C.kaisched_session
	if err := failure.of(C.kaisched_session_open(e.handle, snapshot.handle, C.int64_t(now), &handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Session{handle}, nil
}

// Run opens a session and runs the actions of the option `actions`.
func (e *Engine) Run(snapshot *Snapshot, now int64) (*Session, error) {
	failure := newError()
	var handle *C.kaisched_session
	if err := failure.of(C.kaisched_run(e.handle, snapshot.handle, C.int64_t(now), &handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Session{handle}, nil
}

// Session is one run over one snapshot.
type Session struct{ handle *C.kaisched_session }

// Close gives the session back.
func (s *Session) Close() {
	C.kaisched_session_close(s.handle)
	s.handle = nil
}

// Run runs one action, or all of the option `actions` if it is "".
func (s *Session) Run(action string) error {
	failure := newError()
	if action == "" {
		return failure.of(C.kaisched_session_run(s.handle, nil, &failure.c))
	}
	name := C.CString(action)
	defer C.free(unsafe.Pointer(name))
	return failure.of(C.kaisched_session_run(s.handle, name, &failure.c))
}

// RunGroup runs an action for one group alone.
func (s *Session) RunGroup(action string, group ID) error {
	name := C.CString(action)
	defer C.free(unsafe.Pointer(name))
	failure := newError()
	return failure.of(C.kaisched_session_run_group(s.handle, name, C.kaisched_id(group), &failure.c))
}

// Cancel asks the action that runs to end soon, with the code Cancelled. Any goroutine may call it until Close.
func (s *Session) Cancel() { C.kaisched_session_cancel(s.handle) }

// Fork makes a second session in the same state, for what-if questions. It only looks.
func (s *Session) Fork() (*Session, error) {
	failure := newError()
	var handle *C.kaisched_session
	if err := failure.of(C.kaisched_session_fork(s.handle, &handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Session{handle}, nil
}

// Ask tells what an action would do for each of some groups, if it ran for that group alone. It only looks.
func (s *Session) Ask(action string, groups ...ID) ([][]Decision, error) {
	name := C.CString(action)
	defer C.free(unsafe.Pointer(name))
	failure := newError()
	var answers *C.kaisched_answers
	ids := (*C.kaisched_id)(unsafe.Pointer(unsafe.SliceData(groups)))
	if err := failure.of(C.kaisched_session_ask(s.handle, name, ids, C.size_t(len(groups)), &answers, &failure.c)); err != nil {
		return nil, err
	}
	defer C.kaisched_answers_destroy(answers)
	var table *C.kaisched_table
	var first *C.uint64_t
	if err := failure.of(C.kaisched_answers_table(answers, &table, &first, &failure.c)); err != nil {
		return nil, err
	}
	all, begin := decisionsOf(copyTable(table)), unsafe.Slice(first, len(groups)+1)
	list := make([][]Decision, len(groups))
	for i := range list {
		list[i] = all[begin[i]:begin[i+1]]
	}
	return list, nil
}

// Checkpoint is a position in the statement of a session.
type Checkpoint struct{ c C.kaisched_checkpoint }

// Mark gives the present end of the statement. It only looks.
func (s *Session) Mark() (mark Checkpoint, err error) {
	failure := newError()
	err = failure.of(C.kaisched_session_mark(s.handle, &mark.c, &failure.c))
	return
}

// Rollback undoes everything since a checkpoint.
func (s *Session) Rollback(to Checkpoint) error {
	failure := newError()
	return failure.of(C.kaisched_session_rollback(s.handle, &to.c, &failure.c))
}

// Allocate puts a pending pod on a node and tells whether it fits now.
func (s *Session) Allocate(pod, node ID) (bool, error) {
	failure := newError()
	var placed C.int32_t
	err := failure.of(C.kaisched_session_allocate(s.handle, C.kaisched_id(pod), C.kaisched_id(node), &placed, &failure.c))
	return placed != 0, err
}

// Pipeline claims resources of a node that are free or come free, and tells whether there are any.
func (s *Session) Pipeline(pod, node ID) (bool, error) {
	failure := newError()
	var placed C.int32_t
	err := failure.of(C.kaisched_session_pipeline(s.handle, C.kaisched_id(pod), C.kaisched_id(node), &placed, &failure.c))
	return placed != 0, err
}

// Evict stops a pod that is on a node.
func (s *Session) Evict(pod ID) error {
	failure := newError()
	return failure.of(C.kaisched_session_evict(s.handle, C.kaisched_id(pod), &failure.c))
}

// Commit turns the statement into decisions of one commit.
func (s *Session) Commit() error {
	failure := newError()
	return failure.of(C.kaisched_session_commit(s.handle, &failure.c))
}

// Table gives one of the tables of results. It only looks, like all that follow.
func (s *Session) Table(kind Kind) (*Result, error) {
	failure := newError()
	var table *C.kaisched_table
	if err := failure.of(C.kaisched_session_table(s.handle, C.uint32_t(kind), &table, &failure.c)); err != nil {
		return nil, err
	}
	return copyTable(table), nil
}

// Decisions are those of the session so far, in their order.
func (s *Session) Decisions() ([]Decision, error) {
	table, err := s.Table(Decisions)
	if err != nil {
		return nil, err
	}
	return decisionsOf(table), nil
}

// Reasons tell why groups wait.
func (s *Session) Reasons() ([]Reason, error) {
	table, err := s.Table(Reasons)
	if err != nil {
		return nil, err
	}
	return reasonsOf(table), nil
}

// QueueShares tell what queues hold and what they are entitled to.
func (s *Session) QueueShares() ([]QueueShare, error) {
	table, err := s.Table(QueueShares)
	if err != nil {
		return nil, err
	}
	return sharesOf(table), nil
}

// Digest is the SHA-256 over preset, mode and decisions.
func (s *Session) Digest() (string, error) {
	return readText(func(buffer *C.char, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status {
		return C.kaisched_session_digest(s.handle, buffer, capacity, needed, failure)
	})
}
