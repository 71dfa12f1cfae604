// Package kaisched is the C interface of kaisched, a deterministic scheduling engine for clusters of GPUs, for Go.
//
//	cluster --Snapshot--> snapshot --engine.Run--> session --Decisions--> what starts, what leaves, why the rest waits
//
// Nothing here has a finalizer: who makes a Cluster, Snapshot, Engine, Session or Objects closes it. Close may
// be called twice, and every call on a closed handle is an error. Handles do not need each other: a session may outlive
// its engine and its snapshot. What is given back is a copy in Go's memory and stays valid.
//
// Methods that only look (they say so) may be called from several goroutines at once; all others need the handle for
// themselves, as kaisched.h says.
package kaisched

/*
#cgo LDFLAGS: -lkaisched
#include <stdlib.h>
#include <kaisched/kaisched.h>
*/
import "C"

import "unsafe"

// ID names one entity of one cluster; 0 names nothing. It is never used again once the entity is gone.
type ID uint64

// Version is the version of the library that is loaded.
func Version() string { return C.GoString(C.kaisched_version_string()) }

// Option is one option and its value, as text. `kaisched options` lists those of engines.
type Option struct{ Name, Value string }

// options in memory of C, which must not hold pointers into Go's.
func options(from []Option) (first *C.kaisched_kv, count C.size_t, free func()) {
	if len(from) == 0 {
		return nil, 0, func() {}
	}
	memory := C.calloc(C.size_t(len(from)), C.sizeof_kaisched_kv)
	list := unsafe.Slice((*C.kaisched_kv)(memory), len(from))
	for i, one := range from {
		list[i].key, list[i].value = C.CString(one.Name), C.CString(one.Value)
	}
	return &list[0], C.size_t(len(from)), func() {
		for _, one := range list {
			C.free(unsafe.Pointer(one.key))
			C.free(unsafe.Pointer(one.value))
		}
		C.free(memory)
	}
}

// read asks for a size, then for the bytes.
func read(ask func(buffer unsafe.Pointer, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status) ([]byte, error) {
	var needed C.size_t
	var failure = newError()
	if err := failure.of(ask(nil, 0, &needed, &failure.c)); err != nil || needed == 0 {
		return nil, err
	}
	bytes := make([]byte, needed)
	if err := failure.of(ask(unsafe.Pointer(&bytes[0]), needed, &needed, &failure.c)); err != nil {
		return nil, err
	}
	return bytes, nil
}

// readText is read for texts, which end with a NUL.
func readText(ask func(buffer *C.char, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status) (string, error) {
	bytes, err := read(func(buffer unsafe.Pointer, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status {
		return ask((*C.char)(buffer), capacity, needed, failure)
	})
	if err != nil || len(bytes) == 0 {
		return "", err
	}
	return string(bytes[:len(bytes)-1]), nil
}
