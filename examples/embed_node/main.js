'use strict';
// From nothing to a decision with Node and koffi: npm install && node main.js [PRESET]
//
// KAISCHED_LIBRARY is the path of libkaisched.so; without it the loader looks for it.

const koffi = require('koffi');

// ---- kaisched.h: what this program uses of it -----------------------------------------------------------------------

const ABI_VERSION = 0x00000001;
const OP_ADD = 1;
const INT64 = 3;  // of the types of columns
const TABLE = {queue: 3, node: 4, podGroup: 6, pod: 8, decision: 32, reason: 33};
const QUEUE = {name: 1};
const NODE = {name: 1, capacity: 2};
const GROUP = {name: 1, queue: 2, minMember: 6};
const POD = {name: 1, group: 2, request: 4};
const DECISION = {kind: 1, devices: 5, podName: 9, nodeName: 10};
const REASON = {groupName: 2, text: 12};

for (const handle of ['engine', 'cluster', 'snapshot', 'session', 'staging']) koffi.opaque(`kaisched_${handle}`);
const error = koffi.struct('kaisched_error', {
  struct_size: 'uint32_t',
  code: 'int32_t',
  where: 'uint32_t',
  pad: 'uint32_t',
  subject: 'uint64_t',
  message: koffi.array('char', 232, 'String'),
});
const col = koffi.struct('kaisched_col', {
  id: 'uint32_t',
  type: 'uint32_t',
  width: 'uint32_t',
  flags: 'uint32_t',
  data: 'const void *',
  offsets: 'const uint32_t *',
});
const table = koffi.struct('kaisched_table', {
  struct_size: 'uint32_t',
  kind: 'uint32_t',
  op: 'uint32_t',
  column_count: 'uint32_t',
  rows: 'uint64_t',
  columns: 'const kaisched_col *',
});
const keyValue = koffi.struct('kaisched_kv', {key: 'const char *', value: 'const char *'});

// The header promises these sizes for ever; another one means that a structure above is wrong.
if ([error, col, table, keyValue].map(koffi.sizeof).join() !== '256,32,32,16') {
  throw new Error('a structure is not that of kaisched.h');
}

/** What a failed call says: the name of its status and the sentence of its kaisched_error. */
class KaischedError extends Error {}

function load(path) {
  const library = koffi.load(path);
  const loaded = library.func('uint32_t kaisched_abi_version()')();
  if (loaded >>> 16 !== ABI_VERSION >>> 16 || loaded < ABI_VERSION) {  // before anything else is called
    throw new KaischedError(`abi: loaded ${loaded.toString(16)}, written for ${ABI_VERSION.toString(16)}`);
  }
  const statusName = library.func('const char *kaisched_status_name(int32_t status)');

  // Functions that take a kaisched_error at the end, which is thrown if there is one.
  const fallible = (name, parameters) => {
    const bare = library.func(`int32_t kaisched_${name}(${parameters}, _Inout_ kaisched_error *err)`);
    return (...values) => {
      const err = {struct_size: koffi.sizeof(error), code: 0, where: 0, pad: 0, subject: 0, message: ''};
      const status = bare(...values, err);
      if (status !== 0) throw new KaischedError(`${statusName(status)}: ${err.message}`);
    };
  };
  // Functions whose last parameter before that receives a pointer, which is returned.
  const maker = (name, parameters, made) => {
    const call = fallible(name, `${parameters}_Out_ ${made} **out`);
    return (...values) => {
      const out = [null];
      call(...values, out);
      return out[0];
    };
  };
  const giveBack = (name, handle) => library.func(`void kaisched_${name}(${handle} *given)`);

  return {
    engine: maker('engine_create', 'uint32_t abi, const kaisched_kv *options, size_t count, ', 'kaisched_engine'),
    destroyEngine: giveBack('engine_destroy', 'kaisched_engine'),
    cluster: maker('cluster_create', '', 'kaisched_cluster'),
    destroyCluster: giveBack('cluster_destroy', 'kaisched_cluster'),
    apply: fallible('cluster_apply', 'kaisched_cluster *cluster, const kaisched_table **tables, size_t count'),
    snapshot: maker('cluster_snapshot', 'kaisched_cluster *cluster, ', 'kaisched_snapshot'),
    releaseSnapshot: giveBack('snapshot_release', 'const kaisched_snapshot'),
    run: maker('run', 'const kaisched_engine *engine, const kaisched_snapshot *snapshot, int64_t now_ns, ',
        'kaisched_session'),
    closeSession: giveBack('session_close', 'kaisched_session'),
    sessionTable: maker('session_table', 'const kaisched_session *session, uint32_t kind, ', 'const kaisched_table'),
    staging: maker('staging_create', 'uint32_t kind, uint32_t op, uint64_t rows, ', 'kaisched_staging'),
    destroyStaging: giveBack('staging_destroy', 'kaisched_staging'),
    stagingTexts: fallible('staging_texts',
        'kaisched_staging *staging, uint32_t column, const char *texts, size_t size'),
    stagingNumbers: maker('staging_numbers',
        'kaisched_staging *staging, uint32_t column, uint32_t type, uint32_t width, ', 'void'),
    stagingTable: maker('staging_table', 'kaisched_staging *staging, ', 'const kaisched_table'),
    valueName: library.func('const char *kaisched_value_name(uint32_t kind, uint32_t column, uint64_t value)'),
  };
}

// ---- tables ---------------------------------------------------------------------------------------------------------

/** Fills a table in memory of the library, where no collector moves it. A column is an id and a list with one text or one
 * array of numbers for each row. */
function stage(kaisched, staging, columns) {
  for (const [column, values] of columns) {
    if (typeof values[0] === 'string') {
      const texts = values.map((text) => text + '\0').join('');
      kaisched.stagingTexts(staging, column, texts, Buffer.byteLength(texts));
    } else {
      const memory = kaisched.stagingNumbers(staging, column, INT64, values[0].length);
      koffi.encode(memory, 'int64_t', values.flat(), values.flat().length);
    }
  }
  return kaisched.stagingTable(staging);
}

/** A result as arrays of JavaScript, one for each column that is asked for. */
function read(pointer) {
  const {rows, column_count: count, columns} = koffi.decode(pointer, table);
  const all = koffi.decode(columns, col, count);
  const column = (id) => all.find((one) => one.id === id);
  const decode = (data, type, count) => (count === 0 ? [] : koffi.decode(data, type, count));  // NULL where nothing is
  const ragged = (id, type, value) => {
    const {data, offsets} = column(id);
    const ends = koffi.decode(offsets, 'uint32_t', rows + 1);
    const values = decode(data, type, ends[rows]);
    return Array.from({length: rows}, (_, row) => value(values.slice(ends[row], ends[row + 1])));
  };
  return {
    bytes: (id) => Array.from(decode(column(id).data, 'uint8_t', rows)),
    texts: (id) => ragged(id, 'uint8_t', (bytes) => Buffer.from(bytes).toString()),
    lists: (id) => ragged(id, 'int64_t', (numbers) => Array.from(numbers)),
  };
}

// ---- the program ----------------------------------------------------------------------------------------------------

function embed(preset) {
  const kaisched = load(process.env.KAISCHED_LIBRARY ?? 'libkaisched.so');
  const owned = [];  // how to give back what we have, the last one first
  const own = (handle, giveBack) => {
    owned.push(() => giveBack(handle));
    return handle;
  };
  try {
    const engine = own(kaisched.engine(ABI_VERSION, [{key: 'preset', value: preset}], 1), kaisched.destroyEngine);
    const cluster = own(kaisched.cluster(), kaisched.destroyCluster);
    const add = (kind, rows, ...columns) =>
        stage(kaisched, own(kaisched.staging(kind, OP_ADD, rows), kaisched.destroyStaging), columns);

    const node = [64_000, 512 * 2 ** 30, 8000, 110];  // milli-cores, bytes, milli-GPU, pods
    const large = [8000, 64 * 2 ** 30, 6000];
    const small = [8000, 64 * 2 ** 30, 4000];
    const tables = [
      add(TABLE.node, 2, [NODE.name, ['node-1', 'node-2']], [NODE.capacity, [node, node]]),
      add(TABLE.queue, 1, [QUEUE.name, ['team']]),
      add(TABLE.podGroup, 2, [GROUP.name, ['train', 'tune']], [GROUP.queue, ['team', 'team']],
          [GROUP.minMember, [[2], [2]]]),
      add(TABLE.pod, 4, [POD.name, ['train-0', 'train-1', 'tune-0', 'tune-1']],
          [POD.group, ['train', 'train', 'tune', 'tune']], [POD.request, [large, large, small, small]]),
    ];
    kaisched.apply(cluster, tables, tables.length);  // all rows or none

    const snapshot = own(kaisched.snapshot(cluster), kaisched.releaseSnapshot);
    const session = own(kaisched.run(engine, snapshot, 0), kaisched.closeSession);  // time is an argument

    const decisions = read(kaisched.sessionTable(session, TABLE.decision));
    const [pods, nodes] = [decisions.texts(DECISION.podName), decisions.texts(DECISION.nodeName)];
    const gpus = decisions.lists(DECISION.devices);
    for (const [row, value] of decisions.bytes(DECISION.kind).entries()) {
      const kind = kaisched.valueName(TABLE.decision, DECISION.kind, value);
      if (kind === 'unschedulable') continue;  // the reasons say more
      console.log(`${kind} ${pods[row]} on ${nodes[row]}, GPUs ${gpus[row].join(' ')}`);
    }
    const reasons = read(kaisched.sessionTable(session, TABLE.reason));
    const texts = reasons.texts(REASON.text);
    for (const [row, group] of reasons.texts(REASON.groupName).entries()) {
      console.log(`${group} waits: ${texts[row]}`);
    }
  } finally {
    for (const giveBack of owned.reverse()) giveBack();
  }
}

try {
  embed(process.argv[2] ?? 'kai');
} catch (failure) {
  if (!(failure instanceof KaischedError)) throw failure;
  console.error(failure.message);
  process.exitCode = 1;
}
