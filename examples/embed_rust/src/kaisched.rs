//! Safe types over `sys`: handles that give themselves back, errors as `Result`, borrowed tables with lifetimes.

use crate::sys;
use std::ffi::{CStr, CString};
use std::{fmt, marker::PhantomData, ptr, slice};

/// Why a call failed: the name of its status and the sentence of its `kaisched_error`.
#[derive(Debug)]
pub struct Error {
    pub status: String,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

fn refuse<T>(status: &str, message: String) -> Result<T> {
    Err(Error { status: status.to_owned(), message })
}

/// Calls a function that writes a `kaisched_error`.
fn call(function: impl FnOnce(*mut sys::Error) -> i32) -> Result<()> {
    let mut err = sys::Error {
        struct_size: size_of::<sys::Error>() as u32,
        code: 0,
        where_: 0,
        pad: 0,
        subject: 0,
        message: [0; 232],
    };
    let status = function(&mut err);
    if status == 0 {
        return Ok(());
    }
    // SAFETY: both are NUL-terminated; the name lives as long as the library, the message as long as `err`.
    let (name, message) =
        unsafe { (CStr::from_ptr(sys::kaisched_status_name(status)), CStr::from_ptr(err.message.as_ptr())) };
    refuse(&name.to_string_lossy(), message.to_string_lossy().into_owned())
}

/// A handle of one of the types of the header, and an owner that gives it back.
macro_rules! owner {
    ($(#[$doc:meta])* $name:ident, $give_back:ident) => {
        $(#[$doc])*
        pub struct $name(ptr::NonNull<sys::$name>);

        // SAFETY: any thread may make any call; what is shared is used through functions that take const handles.
        unsafe impl Send for $name {}
        unsafe impl Sync for $name {}

        impl $name {
            fn made(function: impl FnOnce(*mut *mut sys::$name, *mut sys::Error) -> i32) -> Result<Self> {
                let mut out = ptr::null_mut();
                call(|err| function(&mut out, err))?;
                Ok(Self(ptr::NonNull::new(out).expect("a call that succeeds gives a handle")))
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle is ours, and nobody can use it any more.
                unsafe { sys::$give_back(self.0.as_ptr()) }
            }
        }
    };
}
owner!(
    /// Options and the registry of policy parts.
    Engine,
    kaisched_engine_destroy
);
owner!(
    /// Mutable model of a cluster, fed by tables.
    Cluster,
    kaisched_cluster_destroy
);
owner!(
    /// Immutable version of a cluster.
    Snapshot,
    kaisched_snapshot_release
);
owner!(
    /// One run over one snapshot.
    Session,
    kaisched_session_close
);

impl Engine {
    pub fn new(options: &[(&str, &str)]) -> Result<Self> {
        // SAFETY: takes and changes nothing.
        let loaded = unsafe { sys::kaisched_abi_version() };
        if loaded >> 16 != sys::ABI_VERSION >> 16 || loaded < sys::ABI_VERSION {
            return refuse("abi", format!("loaded {loaded:#x}, built for {:#x}", sys::ABI_VERSION));
        }
        let mut texts = Vec::new();
        for text in options.iter().flat_map(|(key, value)| [*key, *value]) {
            match CString::new(text) {
                Ok(text) => texts.push(text),
                Err(_) => return refuse("argument", format!("option {text:?} has a NUL")),
            }
        }
        let pairs: Vec<sys::Kv> =
            texts.chunks(2).map(|pair| sys::Kv { key: pair[0].as_ptr(), value: pair[1].as_ptr() }).collect();
        // SAFETY: `texts` outlives the call, which copies them.
        Self::made(|out, err| unsafe {
            sys::kaisched_engine_create(sys::ABI_VERSION, pairs.as_ptr(), pairs.len(), out, err)
        })
    }

    /// Runs the actions of the options at a time in nanoseconds, on the clock that the tables use.
    pub fn run(&self, snapshot: &Snapshot, now_ns: i64) -> Result<Session> {
        // SAFETY: both handles are alive.
        Session::made(|out, err| unsafe { sys::kaisched_run(self.0.as_ptr(), snapshot.0.as_ptr(), now_ns, out, err) })
    }
}

impl Cluster {
    pub fn new() -> Result<Self> {
        // SAFETY: nothing goes in.
        Self::made(|out, err| unsafe { sys::kaisched_cluster_create(out, err) })
    }

    /// Applies all rows of all tables, or none.
    pub fn apply(&mut self, tables: &[Rows]) -> Result<()> {
        let columns: Vec<Vec<sys::Col>> =
            tables.iter().map(|table| table.columns.iter().map(Column::raw).collect()).collect();
        let raw: Vec<sys::Table> = tables
            .iter()
            .zip(&columns)
            .map(|(table, columns)| sys::Table {
                struct_size: size_of::<sys::Table>() as u32,
                kind: table.kind,
                op: sys::OP_ADD,
                column_count: columns.len() as u32,
                rows: table.rows as u64,
                columns: columns.as_ptr(),
            })
            .collect();
        let pointers: Vec<*const sys::Table> = raw.iter().map(ptr::from_ref).collect();
        // SAFETY: Rows::column has made sure that every column has all rows; the call copies its input.
        call(|err| unsafe { sys::kaisched_cluster_apply(self.0.as_ptr(), pointers.as_ptr(), pointers.len(), err) })
    }

    pub fn snapshot(&mut self) -> Result<Snapshot> {
        // SAFETY: the handle is alive and exclusively ours.
        Snapshot::made(|out, err| unsafe { sys::kaisched_cluster_snapshot(self.0.as_ptr(), out, err) })
    }
}

impl Session {
    /// A result, borrowed from the session.
    pub fn table(&self, kind: u32) -> Result<Table<'_>> {
        let mut raw = ptr::null();
        // SAFETY: the handle is alive; the table lives as long as the session, which the lifetime says.
        call(|err| unsafe { sys::kaisched_session_table(self.0.as_ptr(), kind, &mut raw, err) })?;
        Ok(Table { raw: unsafe { &*raw }, session: PhantomData })
    }
}

// ---- input ----------------------------------------------------------------------------------------------------------

/// New rows of one kind.
pub struct Rows {
    kind: u32,
    rows: usize,
    columns: Vec<Column>,
}

struct Column {
    id: u32,
    values: Values,
}

enum Values {
    Texts { bytes: Vec<u8>, offsets: Vec<u32> },
    Numbers { width: u32, values: Vec<i64> },
}

impl Rows {
    pub fn new(kind: u32, rows: usize) -> Self {
        Self { kind, rows, columns: Vec::new() }
    }

    fn column(mut self, id: u32, rows: usize, values: Values) -> Self {
        assert_eq!(rows, self.rows, "column {id} has another number of rows than its table");
        self.columns.push(Column { id, values });
        self
    }

    pub fn texts(self, id: u32, texts: &[&str]) -> Self {
        let mut bytes = Vec::new();
        let mut offsets = vec![0];
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            offsets.push(u32::try_from(bytes.len()).expect("a column has less than 4 GiB"));
        }
        self.column(id, texts.len(), Values::Texts { bytes, offsets })
    }

    pub fn numbers<const WIDTH: usize>(self, id: u32, rows: &[[i64; WIDTH]]) -> Self {
        let values = Values::Numbers { width: WIDTH as u32, values: rows.concat() };
        self.column(id, rows.len(), values)
    }
}

impl Column {
    fn raw(&self) -> sys::Col {
        let (type_, width, data, offsets) = match &self.values {
            Values::Texts { bytes, offsets } => (sys::TYPE_STRING, 0, bytes.as_ptr().cast(), offsets.as_ptr()),
            Values::Numbers { width, values } => (sys::TYPE_I64, *width, values.as_ptr().cast(), ptr::null()),
        };
        sys::Col { id: self.id, type_, width, flags: 0, data, offsets }
    }
}

// ---- results --------------------------------------------------------------------------------------------------------

/// A table of the library.
#[derive(Clone, Copy)]
pub struct Table<'session> {
    raw: &'session sys::Table,
    session: PhantomData<&'session Session>,
}

impl<'session> Table<'session> {
    pub fn rows(&self) -> usize {
        self.raw.rows as usize
    }

    fn column(&self, id: u32, type_: u32) -> &'session sys::Col {
        // SAFETY: the table has so many columns.
        let columns = unsafe { slice::from_raw_parts(self.raw.columns, self.raw.column_count as usize) };
        let found = columns.iter().find(|column| column.id == id && column.type_ == type_);
        found.unwrap_or_else(|| panic!("a table of kind {} has no column {id} of type {type_}", self.raw.kind))
    }

    /// The values of one row of a ragged column.
    ///
    /// # Safety
    /// `T` is the type of the values of the column.
    unsafe fn ragged<T>(column: &'session sys::Col, row: usize) -> &'session [T] {
        // SAFETY: offsets has one value more than the table has rows, and they ascend; an empty column may have no data.
        unsafe {
            let (begin, end) = (*column.offsets.add(row) as usize, *column.offsets.add(row + 1) as usize);
            if begin == end {
                return &[];
            }
            slice::from_raw_parts(column.data.cast::<T>().add(begin), end - begin)
        }
    }

    pub fn text(&self, id: u32, row: usize) -> &'session str {
        assert!(row < self.rows());
        // SAFETY: a column of texts has bytes, which are UTF-8.
        unsafe { std::str::from_utf8_unchecked(Self::ragged(self.column(id, sys::TYPE_STRING), row)) }
    }

    pub fn list(&self, id: u32, row: usize) -> &'session [i64] {
        assert!(row < self.rows());
        // SAFETY: the type has been asked for.
        unsafe { Self::ragged(self.column(id, sys::TYPE_I64_LIST), row) }
    }

    pub fn byte(&self, id: u32, row: usize) -> u8 {
        assert!(row < self.rows());
        // SAFETY: the column has one byte for each row.
        unsafe { *self.column(id, sys::TYPE_U8).data.cast::<u8>().add(row) }
    }
}
