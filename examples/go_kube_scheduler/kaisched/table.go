package kaisched

/*
#include <kaisched/kaisched.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Table is one table of input. It is Go's memory alone; Cluster.Apply copies it into a staging table of the library,
// since C may not be given memory of Go that holds pointers.
type Table struct {
	kind    Kind
	op      uint32
	columns []Values
}

// Values are the values of one column, one per row unless the constructor says otherwise.
type Values struct {
	id    Column
	rows  int
	width int
	data  any
}

// Add makes a table of new entities; columns that are absent take their defaults.
func Add(kind Kind, columns ...Values) Table { return Table{kind, C.KAISCHED_OP_ADD, columns} }

// Change makes a table whose rows name entities; only the columns that are present change.
func Change(kind Kind, columns ...Values) Table { return Table{kind, C.KAISCHED_OP_CHANGE, columns} }

// Remove makes a table whose rows name entities that go.
func Remove(kind Kind, columns ...Values) Table { return Table{kind, C.KAISCHED_OP_REMOVE, columns} }

// Texts are strings, of a column that is one or that names entities.
func Texts(id Column, values []string) Values { return Values{id, len(values), 0, values} }

// TextLists are lists of strings. A text must not contain a NUL.
func TextLists(id Column, values [][]string) Values { return Values{id, len(values), 0, values} }

// IntLists are lists of numbers.
func IntLists(id Column, values [][]int64) Values { return Values{id, len(values), 0, values} }

// IDs are identifiers, of a column that names entities.
func IDs(id Column, values []ID) Values {
	numbers := make([]int64, len(values))
	for i, value := range values {
		numbers[i] = int64(value)
	}
	return Ints(id, numbers)
}

// Ints are numbers of any integer column; what does not fit its type is an error. Identifiers keep their bits.
func Ints(id Column, values []int64) Values { return Values{id, len(values), 1, values} }

// Amounts are rows of numbers of equal length: one number for each dimension.
func Amounts(id Column, values [][]int64) Values {
	width := 1
	for _, row := range values {
		width = max(width, len(row))
	}
	flat := make([]int64, width*len(values))
	for i, row := range values {
		copy(flat[i*width:], row)
	}
	return Values{id, len(values), width, flat}
}

// Floats are numbers of an f64 column, `width` of them in each row.
func Floats(id Column, width int, values []float64) Values {
	return Values{id, len(values) / max(width, 1), width, values}
}

// Flags are 0 and 1.
func Flags(id Column, values []bool) Values {
	numbers := make([]int64, len(values))
	for i, value := range values {
		if value {
			numbers[i] = 1
		}
	}
	return Ints(id, numbers)
}

// stage copies the table into memory of the library.
func (t Table) stage() (*C.kaisched_staging, error) {
	rows := 0
	if len(t.columns) > 0 {
		rows = t.columns[0].rows
	}
	failure := newError()
	var staging *C.kaisched_staging
	if err := failure.of(C.kaisched_staging_create(C.uint32_t(t.kind), C.uint32_t(t.op), C.uint64_t(rows), &staging, &failure.c)); err != nil {
		return nil, err
	}
	if err := t.fill(staging, rows, failure); err != nil {
		C.kaisched_staging_destroy(staging)
		return nil, err
	}
	return staging, nil
}

func (t Table) fill(staging *C.kaisched_staging, rows int, failure *callError) error {
	for _, column := range t.columns {
		if column.rows != rows {
			return &Error{Code: Argument, Message: fmt.Sprintf("column %d has %d rows, the first one has %d", column.id, column.rows, rows)}
		}
	}
	for _, column := range t.columns {
		var memory unsafe.Pointer
		var numbers C.uint32_t
		if column.width > 0 {
			numbers = numberType(t.kind, column.id)
			if err := failure.of(C.kaisched_staging_numbers(staging, C.uint32_t(column.id), numbers, C.uint32_t(column.width), &memory, &failure.c)); err != nil {
				return err
			}
		}
		if err := column.write(staging, numbers, memory, failure); err != nil {
			return err
		}
	}
	return nil
}

// numberType is the type of the numbers of a column, that of identifiers for one that names entities; 0 if the kind has
// no such column.
func numberType(kind Kind, id Column) C.uint32_t {
	column := C.kaisched_column{struct_size: C.sizeof_kaisched_column}
	for i := C.size_t(0); C.kaisched_column_info(C.uint32_t(kind), i, &column, nil) == C.KAISCHED_OK; i++ {
		if column.id != C.uint32_t(id) {
			continue
		}
		if column.refers_to != C.KAISCHED_KIND_NONE {
			return C.KAISCHED_TYPE_U64
		}
		return column._type
	}
	return 0
}

func (v Values) write(staging *C.kaisched_staging, kind C.uint32_t, memory unsafe.Pointer, failure *callError) error {
	switch values := v.data.(type) {
	case []string:
		offsets, bytes := make([]uint32, 1, len(values)+1), []byte(nil)
		for _, value := range values {
			bytes = append(bytes, value...)
			offsets = append(offsets, uint32(len(bytes)))
		}
		return v.ragged(staging, unsafe.Pointer(unsafe.SliceData(bytes)), offsets, failure)
	case [][]string:
		offsets, bytes := make([]uint32, 1, len(values)+1), []byte(nil)
		for _, list := range values {
			for _, value := range list {
				bytes = append(append(bytes, value...), 0)
			}
			offsets = append(offsets, uint32(len(bytes)))
		}
		return v.ragged(staging, unsafe.Pointer(unsafe.SliceData(bytes)), offsets, failure)
	case [][]int64:
		offsets, numbers := make([]uint32, 1, len(values)+1), []int64(nil)
		for _, list := range values {
			numbers = append(numbers, list...)
			offsets = append(offsets, uint32(len(numbers)))
		}
		return v.ragged(staging, unsafe.Pointer(unsafe.SliceData(numbers)), offsets, failure)
	case []int64:
		switch kind {
		case C.KAISCHED_TYPE_U8:
			return convert(v.id, unsafe.Slice((*uint8)(memory), len(values)), values)
		case C.KAISCHED_TYPE_U32:
			return convert(v.id, unsafe.Slice((*uint32)(memory), len(values)), values)
		case C.KAISCHED_TYPE_U64:
			return convert(v.id, unsafe.Slice((*uint64)(memory), len(values)), values)
		case C.KAISCHED_TYPE_I64:
			return convert(v.id, unsafe.Slice((*int64)(memory), len(values)), values)
		case C.KAISCHED_TYPE_F64:
			return convert(v.id, unsafe.Slice((*float64)(memory), len(values)), values)
		}
	case []float64:
		if kind == C.KAISCHED_TYPE_F64 {
			copy(unsafe.Slice((*float64)(memory), len(values)), values)
			return nil
		}
	}
	return &Error{Code: Argument, Message: fmt.Sprintf("column %d takes no values of type %T", v.id, v.data)}
}

func (v Values) ragged(staging *C.kaisched_staging, data unsafe.Pointer, offsets []uint32, failure *callError) error {
	return failure.of(C.kaisched_staging_ragged(staging, C.uint32_t(v.id), data, (*C.uint32_t)(unsafe.Pointer(&offsets[0])), &failure.c))
}

func convert[T uint8 | uint32 | uint64 | int64 | float64](id Column, to []T, from []int64) error {
	for i, value := range from {
		to[i] = T(value)
		if int64(to[i]) != value {
			return &Error{Code: Limit, Message: fmt.Sprintf("column %d, row %d cannot hold %d", id, i, value)}
		}
	}
	return nil
}
