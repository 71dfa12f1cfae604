package kaisched

/*
#include <kaisched/kaisched.h>
*/
import "C"

import (
	"strings"
	"unsafe"
)

// Result is a table that the library gave, copied.
type Result struct {
	Rows    int
	columns map[Column]any // []string, [][]string, [][]int64, []float64 or []int64
}

// Texts of a column of strings; nil if the table has no such column.
func (r *Result) Texts(id Column) []string { return values[[]string](r, id) }

// TextLists of a column of lists of strings; nil if the table has no such column.
func (r *Result) TextLists(id Column) [][]string { return values[[][]string](r, id) }

// IntLists of a column of lists of numbers; nil if the table has no such column.
func (r *Result) IntLists(id Column) [][]int64 { return values[[][]int64](r, id) }

// Ints of a column of integers of any type, row by row if the column has several values in each; nil if the table has
// no such column. Identifiers keep their bits.
func (r *Result) Ints(id Column) []int64 { return values[[]int64](r, id) }

// Floats of a column of f64; nil if the table has no such column.
func (r *Result) Floats(id Column) []float64 { return values[[]float64](r, id) }

func values[T any](r *Result, id Column) (found T) {
	found, _ = r.columns[id].(T)
	return
}

func copyTable(table *C.kaisched_table) *Result {
	rows := int(table.rows)
	result := &Result{rows, make(map[Column]any, table.column_count)}
	for _, column := range unsafe.Slice(table.columns, table.column_count) {
		id := Column(column.id)
		count := rows * int(column.width)
		switch column._type {
		case C.KAISCHED_TYPE_U8:
			result.columns[id] = widen(unsafe.Slice((*uint8)(column.data), count))
		case C.KAISCHED_TYPE_U32:
			result.columns[id] = widen(unsafe.Slice((*uint32)(column.data), count))
		case C.KAISCHED_TYPE_U64:
			result.columns[id] = widen(unsafe.Slice((*uint64)(column.data), count))
		case C.KAISCHED_TYPE_I64:
			result.columns[id] = widen(unsafe.Slice((*int64)(column.data), count))
		case C.KAISCHED_TYPE_F64:
			result.columns[id] = append(make([]float64, 0, count), unsafe.Slice((*float64)(column.data), count)...)
		case C.KAISCHED_TYPE_STRING:
			result.columns[id] = ragged(column, rows, func(bytes []byte) string { return string(bytes) })
		case C.KAISCHED_TYPE_STRING_LIST:
			result.columns[id] = ragged(column, rows, splitList)
		case C.KAISCHED_TYPE_I64_LIST:
			result.columns[id] = ragged(column, rows, func(numbers []int64) []int64 { return append([]int64(nil), numbers...) })
		}
	}
	return result
}

func widen[T uint8 | uint32 | uint64 | int64](from []T) []int64 {
	to := make([]int64, len(from))
	for i, value := range from {
		to[i] = int64(value)
	}
	return to
}

func splitList(bytes []byte) []string {
	if len(bytes) == 0 {
		return nil
	}
	return strings.Split(string(bytes[:len(bytes)-1]), "\x00")
}

func ragged[Element byte | int64, Value any](column C.kaisched_col, rows int, of func([]Element) Value) []Value {
	to := make([]Value, rows)
	offsets := unsafe.Slice((*uint32)(column.offsets), rows+1)
	all := unsafe.Slice((*Element)(column.data), offsets[rows])
	for i := range to {
		to[i] = of(all[offsets[i]:offsets[i+1]])
	}
	return to
}

// Decision is one row of what a session decided.
type Decision struct {
	Kind    DecisionKind
	Pod     string
	Group   string
	GroupID ID
	Node    string // target; of Evict the node that the pod leaves
	Devices []int64
	Share   int64  // of each device, in thousandths
	Action  string // that decided
	Commit  int64  // decisions of one commit stand or fall together; 0 for Unschedulable
}

// Reason is why a group waits.
type Reason struct {
	Group      string
	Constraint string
	Scope      string
	Dimension  string // that is short, or empty
	Need, Have int64
	Nodes      int64  // that refuse so
	Nearest    string // node that misses the least, or empty
	Text       string // the reason as a sentence
}

// QueueShare is what a queue has and is entitled to, in milli-cores, bytes and milli-GPU.
type QueueShare struct {
	Queue, Parent               string
	Quota, FairShare, Allocated [3]int64
	PendingPods                 int64
}

func decisionsOf(table *Result) []Decision {
	kind, pod, group, id := table.Ints(DecisionKindColumn), table.Texts(DecisionPodName), table.Texts(DecisionGroupName), table.Ints(DecisionGroup)
	node, devices, share := table.Texts(DecisionNodeName), table.IntLists(DecisionDevices), table.Ints(DecisionDeviceShare)
	action, commit := table.Texts(DecisionAction), table.Ints(DecisionCommit)
	list := make([]Decision, table.Rows)
	for i := range list {
		list[i] = Decision{Kind: DecisionKind(kind[i]), Pod: pod[i], Group: group[i], GroupID: ID(id[i]), Node: node[i],
			Devices: devices[i], Share: share[i], Action: action[i], Commit: commit[i]}
	}
	return list
}

func reasonsOf(table *Result) []Reason {
	group, constraint, scope := table.Texts(ReasonGroupName), table.Texts(ReasonConstraint), table.Texts(ReasonScope)
	dimension, need, have := table.Texts(ReasonDimension), table.Ints(ReasonNeed), table.Ints(ReasonHave)
	nodes, nearest, text := table.Ints(ReasonNodes), table.Texts(ReasonNearestNode), table.Texts(ReasonText)
	list := make([]Reason, table.Rows)
	for i := range list {
		list[i] = Reason{group[i], constraint[i], scope[i], dimension[i], need[i], have[i], nodes[i], nearest[i], text[i]}
	}
	return list
}

func sharesOf(table *Result) []QueueShare {
	name, parent := table.Texts(QueueShareQueueName), table.Texts(QueueShareParentName)
	quota, fair, allocated := table.Ints(QueueShareQuota), table.Ints(QueueShareFairShare), table.Ints(QueueShareAllocated)
	pending := table.Ints(QueueSharePendingPods)
	list := make([]QueueShare, table.Rows)
	for i := range list {
		list[i] = QueueShare{name[i], parent[i], [3]int64(quota[3*i:]), [3]int64(fair[3*i:]), [3]int64(allocated[3*i:]), pending[i]}
	}
	return list
}
