//! What this program uses of `kaisched.h`, word for word.

use std::ffi::{c_char, c_int, c_void};
use std::mem::{offset_of, size_of};

pub const ABI_VERSION: u32 = 0x0000_0001;
pub const OP_ADD: u32 = 1;
pub const TYPE_U8: u32 = 1;
pub const TYPE_I64: u32 = 3;
pub const TYPE_STRING: u32 = 6;
pub const TYPE_I64_LIST: u32 = 8;

pub const TABLE_QUEUE: u32 = 3;
pub const TABLE_NODE: u32 = 4;
pub const TABLE_POD_GROUP: u32 = 6;
pub const TABLE_POD: u32 = 8;
pub const TABLE_DECISION: u32 = 32;
pub const TABLE_REASON: u32 = 33;

pub const QUEUE_COL_NAME: u32 = 1;
pub const NODE_COL_NAME: u32 = 1;
pub const NODE_COL_CAPACITY: u32 = 2;
pub const POD_GROUP_COL_NAME: u32 = 1;
pub const POD_GROUP_COL_QUEUE: u32 = 2;
pub const POD_GROUP_COL_MIN_MEMBER: u32 = 6;
pub const POD_COL_NAME: u32 = 1;
pub const POD_COL_GROUP: u32 = 2;
pub const POD_COL_REQUEST: u32 = 4;
pub const DECISION_COL_KIND: u32 = 1;
pub const DECISION_COL_DEVICES: u32 = 5;
pub const DECISION_COL_POD_NAME: u32 = 9;
pub const DECISION_COL_NODE_NAME: u32 = 10;
pub const REASON_COL_GROUP_NAME: u32 = 2;
pub const REASON_COL_TEXT: u32 = 12;

pub const DECISION_BIND: u8 = 1;
pub const DECISION_PIPELINE: u8 = 2;
pub const DECISION_EVICT: u8 = 3;
pub const DECISION_MOVE: u8 = 4;
pub const DECISION_UNSCHEDULABLE: u8 = 5;
pub const DECISION_MIGRATE: u8 = 6;
pub const DECISION_REPARTITION: u8 = 7;

#[repr(C)]
pub struct Error {
    pub struct_size: u32,
    pub code: i32,
    pub where_: u32,
    pub pad: u32,
    pub subject: u64,
    pub message: [c_char; 232],
}

#[repr(C)]
pub struct Col {
    pub id: u32,
    pub type_: u32,
    pub width: u32,
    pub flags: u32,
    pub data: *const c_void,
    pub offsets: *const u32,
}

#[repr(C)]
pub struct Table {
    pub struct_size: u32,
    pub kind: u32,
    pub op: u32,
    pub column_count: u32,
    pub rows: u64,
    pub columns: *const Col,
}

#[repr(C)]
pub struct Kv {
    pub key: *const c_char,
    pub value: *const c_char,
}

// Sizes that the header promises for ever; another one means that a structure above is wrong.
const _: () = assert!(size_of::<Error>() == 256 && offset_of!(Error, message) == 24);
const _: () = assert!(size_of::<Col>() == 32 && offset_of!(Col, data) == 16);
const _: () = assert!(size_of::<Table>() == 32 && offset_of!(Table, rows) == 16);
const _: () = assert!(size_of::<Kv>() == 16);

macro_rules! handles {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )*};
}
handles! { Engine Cluster Snapshot Session }

type Status = c_int;

extern "C" {
    pub fn kaisched_abi_version() -> u32;
    pub fn kaisched_status_name(status: Status) -> *const c_char;

    pub fn kaisched_engine_create(
        abi: u32,
        options: *const Kv,
        count: usize,
        out: *mut *mut Engine,
        err: *mut Error,
    ) -> Status;
    pub fn kaisched_engine_destroy(engine: *mut Engine);

    pub fn kaisched_cluster_create(out: *mut *mut Cluster, err: *mut Error) -> Status;
    pub fn kaisched_cluster_destroy(cluster: *mut Cluster);
    pub fn kaisched_cluster_apply(
        cluster: *mut Cluster,
        tables: *const *const Table,
        count: usize,
        err: *mut Error,
    ) -> Status;
    pub fn kaisched_cluster_snapshot(cluster: *mut Cluster, out: *mut *mut Snapshot, err: *mut Error) -> Status;
    pub fn kaisched_snapshot_release(snapshot: *const Snapshot);

    pub fn kaisched_run(
        engine: *const Engine,
        snapshot: *const Snapshot,
        now_ns: i64,
        out: *mut *mut Session,
        err: *mut Error,
    ) -> Status;
    pub fn kaisched_session_table(
        session: *const Session,
        kind: u32,
        out: *mut *const Table,
        err: *mut Error,
    ) -> Status;
    pub fn kaisched_session_close(session: *mut Session);
}
