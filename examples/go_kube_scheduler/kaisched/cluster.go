package kaisched

/*
#include <stdlib.h>
#include <kaisched/kaisched.h>
*/
import "C"

import "unsafe"

// Cluster is the mutable model of a cluster, fed by tables.
type Cluster struct{ handle *C.kaisched_cluster }

// NewCluster makes an empty cluster.
func NewCluster() (*Cluster, error) {
	failure := newError()
	var handle *C.kaisched_cluster
	if err := failure.of(C.kaisched_cluster_create(&handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Cluster{handle}, nil
}

// Close gives the cluster back; its snapshots stay valid.
func (c *Cluster) Close() {
	C.kaisched_cluster_destroy(c.handle)
	c.handle = nil
}

// SetOption sets an option such as on_invalid for the tables that follow.
func (c *Cluster) SetOption(option Option) error {
	name, value := C.CString(option.Name), C.CString(option.Value)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(value))
	failure := newError()
	return failure.of(C.kaisched_cluster_set_option(c.handle, name, value, &failure.c))
}

// Apply lets tables take effect in order: all of them, or none if any row is bad.
func (c *Cluster) Apply(tables ...Table) error {
	failure := newError()
	staged := make([]*C.kaisched_table, 0, len(tables))
	for _, table := range tables {
		staging, err := table.stage()
		if err != nil {
			return err
		}
		defer C.kaisched_staging_destroy(staging)
		var borrowed *C.kaisched_table
		if err := failure.of(C.kaisched_staging_table(staging, &borrowed, &failure.c)); err != nil {
			return err
		}
		staged = append(staged, borrowed)
	}
	return failure.of(C.kaisched_cluster_apply(c.handle, unsafe.SliceData(staged), C.size_t(len(staged)), &failure.c))
}

// Find gives the identifier of an entity of a kind that has names: a resource, queue, node, pod group or pod. It only
// looks.
func (c *Cluster) Find(kind EntityKind, name string) (ID, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	failure := newError()
	var id C.kaisched_id
	err := failure.of(C.kaisched_cluster_find(c.handle, C.uint32_t(kind), text, &id, &failure.c))
	return ID(id), err
}

// Snapshot takes the present version of the cluster; it costs what changed since the last one.
func (c *Cluster) Snapshot() (*Snapshot, error) {
	failure := newError()
	var handle *C.kaisched_snapshot
	if err := failure.of(C.kaisched_cluster_snapshot(c.handle, &handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Snapshot{handle}, nil
}

// Snapshot is an immutable version of a cluster: all methods but Close only look.
type Snapshot struct{ handle *C.kaisched_snapshot }

// LoadSnapshot reads what Save wrote.
func LoadSnapshot(bytes []byte) (*Snapshot, error) {
	failure := newError()
	var handle *C.kaisched_snapshot
	if err := failure.of(C.kaisched_snapshot_load(unsafe.Pointer(unsafe.SliceData(bytes)), C.size_t(len(bytes)), &handle, &failure.c)); err != nil {
		return nil, err
	}
	return &Snapshot{handle}, nil
}

// Close gives the snapshot back; sessions over it stay valid.
func (s *Snapshot) Close() {
	C.kaisched_snapshot_release(s.handle)
	s.handle = nil
}

// Table gives all entities of one kind, ordered by name.
func (s *Snapshot) Table(kind Kind) (*Result, error) {
	failure := newError()
	var table *C.kaisched_table
	if err := failure.of(C.kaisched_snapshot_table(s.handle, C.uint32_t(kind), &table, &failure.c)); err != nil {
		return nil, err
	}
	return copyTable(table), nil
}

// Digest is the SHA-256 of the snapshot: equal digests lead to equal decisions.
func (s *Snapshot) Digest() (string, error) {
	return readText(func(buffer *C.char, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status {
		return C.kaisched_snapshot_digest(s.handle, buffer, capacity, needed, failure)
	})
}

// Save gives the whole snapshot as bytes.
func (s *Snapshot) Save() ([]byte, error) {
	return read(func(buffer unsafe.Pointer, capacity C.size_t, needed *C.size_t, failure *C.kaisched_error) C.kaisched_status {
		return C.kaisched_snapshot_save(s.handle, buffer, capacity, needed, failure)
	})
}
