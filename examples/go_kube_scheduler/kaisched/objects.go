package kaisched

/*
#include <stdlib.h>
#include <kaisched/kaisched.h>
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Objects are objects of Kubernetes and KAI as tables. They are immutable: all methods but Close only look.
type Objects struct{ handle *C.kaisched_objects }

// ReadObjects reads objects in JSON, as the API server and `kubectl get -o json` give them.
func ReadObjects(text []byte, set ...Option) (*Objects, error) {
	first, count, free := options(set)
	defer free()
	failure := newError()
	var handle *C.kaisched_objects
	bytes := (*C.char)(unsafe.Pointer(unsafe.SliceData(text)))
	if err := failure.of(C.kaisched_objects_read(bytes, C.size_t(len(text)), first, count, &handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Objects{handle}, nil
}

// Close gives the objects back.
func (o *Objects) Close() {
	C.kaisched_objects_destroy(o.handle)
	o.handle = nil
}

// Apply adds the objects to a cluster. What lives holds objects that nobody can schedule; with the option on_invalid =
// quarantine the cluster leaves them out.
func (o *Objects) Apply(to *Cluster) error {
	failure := newError()
	var tables **C.kaisched_table
	var count C.size_t
	if err := failure.of(C.kaisched_objects_tables(o.handle, &tables, &count, &failure.c)); err != nil {
		return err
	}
	return failure.of(C.kaisched_cluster_apply(to.handle, tables, count, &failure.c))
}

// Now is the time at which the cluster was looked at, in nanoseconds since 1970.
func (o *Objects) Now() (int64, error) {
	failure := newError()
	var now C.int64_t
	err := failure.of(C.kaisched_objects_now(o.handle, &now, &failure.c))
	return int64(now), err
}

// Faults are the objects that could not be read, with line, object, path and what was expected there.
func (o *Objects) Faults() ([]string, error) {
	var list []string
	for {
		index := C.size_t(len(list))
		fault, err := readText(func(buffer *C.char, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status {
			return C.kaisched_objects_fault(o.handle, index, buffer, capacity, needed, failure)
		})
		if errors.Is(err, NotFound) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, fault)
	}
}

// Actions are the decisions of a session over these objects as what to tell the API server, a list in JSON. The form is
// "kai" (BindRequests) or "kubernetes" (Bindings).
func (o *Objects) Actions(session *Session, form string) (string, error) {
	name := C.CString(form)
	defer C.free(unsafe.Pointer(name))
	return readText(func(buffer *C.char, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status {
		return C.kaisched_objects_actions(o.handle, session.handle, name, buffer, capacity, needed, failure)
	})
}
