package kaisched

/*
#include <kaisched/kaisched.h>
*/
import "C"

import "fmt"

// Code says what kind of failure an Error is. It is an error itself, so that errors.Is(err, kaisched.NotFound) asks.
type Code int32

const (
	Argument    Code = C.KAISCHED_E_ARGUMENT
	NotFound    Code = C.KAISCHED_E_NOT_FOUND
	StaleID     Code = C.KAISCHED_E_STALE_ID
	WrongKind   Code = C.KAISCHED_E_WRONG_KIND
	Duplicate   Code = C.KAISCHED_E_DUPLICATE
	Conflict    Code = C.KAISCHED_E_CONFLICT
	State       Code = C.KAISCHED_E_STATE
	Unsupported Code = C.KAISCHED_E_UNSUPPORTED
	ABI         Code = C.KAISCHED_E_ABI
	Limit       Code = C.KAISCHED_E_LIMIT
	Cancelled   Code = C.KAISCHED_E_CANCELLED
	Plugin      Code = C.KAISCHED_E_PLUGIN
	NoMemory    Code = C.KAISCHED_E_NO_MEMORY
	Internal    Code = C.KAISCHED_E_INTERNAL
)

func (c Code) Error() string { return C.GoString(C.kaisched_status_name(C.kaisched_status(c))) }

// Error is why a call failed. Whether something could be scheduled is never an error: it is a Decision or a Reason.
type Error struct {
	Code    Code
	Subject ID     // the entity concerned, or 0
	Message string // one sentence that names object and field
}

func (e *Error) Error() string { return fmt.Sprintf("kaisched: %s (%s)", e.Message, e.Code.Error()) }

// Unwrap gives the code, for errors.Is.
func (e *Error) Unwrap() error { return e.Code }

// callError is the out parameter of one call.
type callError struct{ c C.kaisched_error }

func newError() *callError {
	e := new(callError)
	e.c.struct_size = C.sizeof_kaisched_error
	return e
}

func (e *callError) of(status C.kaisched_status) error {
	if status == C.KAISCHED_OK {
		return nil
	}
	return &Error{Code(status), ID(e.c.subject), C.GoString(&e.c.message[0])}
}
