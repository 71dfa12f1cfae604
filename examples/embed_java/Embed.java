import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * From nothing to a decision with java.lang.foreign, JDK 22 or newer:
 *
 * <pre>java --enable-native-access=ALL-UNNAMED Embed.java [PRESET]</pre>
 *
 * KAISCHED_LIBRARY is the path of libkaisched.so; without it the loader looks for it.
 */
public final class Embed {
  public static void main(String[] arguments) {
    try {
      embed(arguments.length > 0 ? arguments[0] : "kai");
    } catch (KaischedException failure) {
      System.err.println(failure.getMessage());
      System.exit(1);
    } catch (ExceptionInInitializerError failure) { // no library, or another one than this program needs
      System.err.println(failure.getCause().getMessage());
      System.exit(1);
    }
  }

  private static void embed(String preset) {
    long[] node = {64_000, 512L << 30, 8000, 110}; // milli-cores, bytes, milli-GPU, pods
    long[] large = {8000, 64L << 30, 6000};
    long[] small = {8000, 64L << 30, 4000};

    // Closed in reverse order, also when something fails.
    try (Handle engine = Kaisched.engine("preset", preset);
        Handle cluster = Kaisched.cluster();
        Staging nodes = new Staging(Kaisched.TABLE_NODE, 2);
        Staging queues = new Staging(Kaisched.TABLE_QUEUE, 1);
        Staging groups = new Staging(Kaisched.TABLE_POD_GROUP, 2);
        Staging pods = new Staging(Kaisched.TABLE_POD, 4)) {
      nodes.texts(Kaisched.NODE_NAME, "node-1", "node-2").numbers(Kaisched.NODE_CAPACITY, node, node);
      queues.texts(Kaisched.QUEUE_NAME, "team");
      groups
          .texts(Kaisched.GROUP_NAME, "train", "tune")
          .texts(Kaisched.GROUP_QUEUE, "team", "team")
          .numbers(Kaisched.GROUP_MIN_MEMBER, new long[] {2}, new long[] {2});
      pods.texts(Kaisched.POD_NAME, "train-0", "train-1", "tune-0", "tune-1")
          .texts(Kaisched.POD_GROUP, "train", "train", "tune", "tune")
          .numbers(Kaisched.POD_REQUEST, large, large, small, small);
      Kaisched.apply(cluster, nodes, queues, groups, pods); // all rows or none

      try (Handle snapshot = Kaisched.snapshot(cluster);
          Handle session = Kaisched.run(engine, snapshot, 0)) { // no clock inside: time is an argument
        print(Kaisched.table(session, Kaisched.TABLE_DECISION), Kaisched.table(session, Kaisched.TABLE_REASON));
      }
    }
  }

  private static void print(Table decisions, Table reasons) {
    for (long row = 0; row < decisions.rows(); ++row) {
      String kind = decisions.name(Kaisched.DECISION_KIND, row);
      if (kind.equals("unschedulable")) {
        continue; // the reasons say more
      }
      String gpus =
          decisions
              .list(Kaisched.DECISION_DEVICES, row)
              .mapToObj(Long::toString)
              .collect(Collectors.joining(" "));
      System.out.printf(
          "%s %s on %s, GPUs %s%n",
          kind,
          decisions.text(Kaisched.DECISION_POD_NAME, row),
          decisions.text(Kaisched.DECISION_NODE_NAME, row),
          gpus);
    }
    for (long row = 0; row < reasons.rows(); ++row) {
      System.out.printf(
          "%s waits: %s%n",
          reasons.text(Kaisched.REASON_GROUP_NAME, row), reasons.text(Kaisched.REASON_TEXT, row));
    }
  }

  private Embed() {}
}

/** What a failed call says: the name of its status and the sentence of its kaisched_error. */
final class KaischedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  KaischedException(String message) {
    super(message);
  }
}

/** A handle of the library and the function that takes it back. */
class Handle implements AutoCloseable {
  private final MethodHandle giveBack;
  private MemorySegment address;

  Handle(MemorySegment address, MethodHandle giveBack) {
    this.address = address;
    this.giveBack = giveBack;
  }

  MemorySegment address() {
    return address;
  }

  @Override
  public void close() {
    MemorySegment given = address;
    address = MemorySegment.NULL; // every one of these functions takes NULL
    try {
      giveBack.invokeExact(given);
    } catch (Throwable impossible) { // the library throws nothing
      throw new AssertionError(impossible);
    }
  }
}

/** New rows in memory of the library, where no collector moves them. */
final class Staging extends Handle {
  private final int rows;

  Staging(int kind, int rows) {
    super(Kaisched.staging(kind, rows), Kaisched.STAGING_DESTROY);
    this.rows = rows;
  }

  Staging texts(int column, String... texts) {
    Kaisched.stageTexts(this, column, Arrays.stream(texts).map(text -> text + '\0').collect(Collectors.joining()));
    return this;
  }

  /** One array for each row, all of one length. */
  Staging numbers(int column, long[]... values) {
    long[] flat = Arrays.stream(values).flatMapToLong(Arrays::stream).toArray();
    MemorySegment memory = Kaisched.stageNumbers(this, column, flat.length / rows);
    MemorySegment.copy(flat, 0, memory.reinterpret(JAVA_LONG.byteSize() * flat.length), JAVA_LONG, 0, flat.length);
    return this;
  }
}

/** A result, borrowed until its session is closed. */
final class Table {
  private final MemorySegment table;

  Table(MemorySegment table) {
    this.table = table.reinterpret(Kaisched.TABLE.byteSize());
  }

  long rows() {
    return table.get(JAVA_LONG, Kaisched.TABLE_ROWS);
  }

  /** The name of a value, such as "bind". */
  String name(int column, long row) {
    byte value = column(column).get(ADDRESS, Kaisched.COL_DATA).reinterpret(rows()).get(JAVA_BYTE, row);
    return Kaisched.valueName(table.get(JAVA_INT, Kaisched.TABLE_KIND), column, Byte.toUnsignedLong(value));
  }

  String text(int column, long row) {
    return new String(values(column(column), row, 1).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
  }

  LongStream list(int column, long row) {
    return Arrays.stream(values(column(column), row, JAVA_LONG.byteSize()).toArray(JAVA_LONG));
  }

  private MemorySegment column(int id) {
    long size = Kaisched.COL.byteSize();
    int count = table.get(JAVA_INT, Kaisched.TABLE_COLUMN_COUNT);
    MemorySegment columns = table.get(ADDRESS, Kaisched.TABLE_COLUMNS).reinterpret(size * count);
    return columns
        .elements(Kaisched.COL)
        .filter(column -> column.get(JAVA_INT, Kaisched.COL_ID) == id)
        .findFirst()
        .orElseThrow(() -> new KaischedException("unsupported: the table has no column " + id));
  }

  /** The values of one row of a column of texts or lists. */
  private MemorySegment values(MemorySegment column, long row, long size) {
    MemorySegment offsets =
        column.get(ADDRESS, Kaisched.COL_OFFSETS).reinterpret((rows() + 1) * JAVA_INT.byteSize());
    long begin = Integer.toUnsignedLong(offsets.getAtIndex(JAVA_INT, row));
    long end = Integer.toUnsignedLong(offsets.getAtIndex(JAVA_INT, row + 1));
    return column.get(ADDRESS, Kaisched.COL_DATA).reinterpret(end * size).asSlice(begin * size);
  }
}

/** What this program uses of kaisched.h. */
final class Kaisched {
  static final int ABI_VERSION = 0x00000001;
  static final int OP_ADD = 1;
  static final int TYPE_I64 = 3;

  static final int TABLE_QUEUE = 3;
  static final int TABLE_NODE = 4;
  static final int TABLE_POD_GROUP = 6;
  static final int TABLE_POD = 8;
  static final int TABLE_DECISION = 32;
  static final int TABLE_REASON = 33;

  static final int QUEUE_NAME = 1;
  static final int NODE_NAME = 1;
  static final int NODE_CAPACITY = 2;
  static final int GROUP_NAME = 1;
  static final int GROUP_QUEUE = 2;
  static final int GROUP_MIN_MEMBER = 6;
  static final int POD_NAME = 1;
  static final int POD_GROUP = 2;
  static final int POD_REQUEST = 4;
  static final int DECISION_KIND = 1;
  static final int DECISION_DEVICES = 5;
  static final int DECISION_POD_NAME = 9;
  static final int DECISION_NODE_NAME = 10;
  static final int REASON_GROUP_NAME = 2;
  static final int REASON_TEXT = 12;

  private static final StructLayout ERROR =
      MemoryLayout.structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("code"),
          JAVA_INT.withName("where"),
          JAVA_INT.withName("pad"),
          JAVA_LONG.withName("subject"),
          MemoryLayout.sequenceLayout(232, JAVA_BYTE).withName("message"));
  static final StructLayout COL =
      MemoryLayout.structLayout(
          JAVA_INT.withName("id"),
          JAVA_INT.withName("type"),
          JAVA_INT.withName("width"),
          JAVA_INT.withName("flags"),
          ADDRESS.withName("data"),
          ADDRESS.withName("offsets"));
  static final StructLayout TABLE =
      MemoryLayout.structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("kind"),
          JAVA_INT.withName("op"),
          JAVA_INT.withName("column_count"),
          JAVA_LONG.withName("rows"),
          ADDRESS.withName("columns"));
  private static final StructLayout KEY_VALUE =
      MemoryLayout.structLayout(ADDRESS.withName("key"), ADDRESS.withName("value"));

  static final long COL_ID = offset(COL, "id");
  static final long COL_DATA = offset(COL, "data");
  static final long COL_OFFSETS = offset(COL, "offsets");
  static final long TABLE_KIND = offset(TABLE, "kind");
  static final long TABLE_COLUMN_COUNT = offset(TABLE, "column_count");
  static final long TABLE_ROWS = offset(TABLE, "rows");
  static final long TABLE_COLUMNS = offset(TABLE, "columns");

  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup LIBRARY = load();

  private static final MethodHandle STATUS_NAME = function("status_name", FunctionDescriptor.of(ADDRESS, JAVA_INT));

  private static final MethodHandle VALUE_NAME =
      function("value_name", FunctionDescriptor.of(ADDRESS, JAVA_INT, JAVA_INT, JAVA_LONG));

  private static final MethodHandle ENGINE_CREATE = fallible("engine_create", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
  private static final MethodHandle CLUSTER_CREATE = fallible("cluster_create", ADDRESS);
  private static final MethodHandle CLUSTER_APPLY = fallible("cluster_apply", ADDRESS, ADDRESS, JAVA_LONG);
  private static final MethodHandle CLUSTER_SNAPSHOT = fallible("cluster_snapshot", ADDRESS, ADDRESS);
  private static final MethodHandle RUN = fallible("run", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
  private static final MethodHandle SESSION_TABLE = fallible("session_table", ADDRESS, JAVA_INT, ADDRESS);
  private static final MethodHandle STAGING_CREATE =
      fallible("staging_create", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle STAGING_TEXTS = fallible("staging_texts", ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle STAGING_NUMBERS =
      fallible("staging_numbers", ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle STAGING_TABLE = fallible("staging_table", ADDRESS, ADDRESS);

  private static final MethodHandle ENGINE_DESTROY = giveBack("engine_destroy");
  private static final MethodHandle CLUSTER_DESTROY = giveBack("cluster_destroy");
  private static final MethodHandle SNAPSHOT_RELEASE = giveBack("snapshot_release");
  private static final MethodHandle SESSION_CLOSE = giveBack("session_close");
  static final MethodHandle STAGING_DESTROY = giveBack("staging_destroy");

  static Handle engine(String... options) {
    try (Arena arena = Arena.ofConfined()) {
      long count = options.length / 2;
      MemorySegment pairs = arena.allocate(KEY_VALUE, count);
      for (int i = 0; i < options.length; ++i) {
        pairs.setAtIndex(ADDRESS, i, arena.allocateFrom(options[i]));
      }
      return handle(
          ENGINE_DESTROY,
          (out, err) -> (int) ENGINE_CREATE.invokeExact(ABI_VERSION, pairs, count, out, err));
    }
  }

  static Handle cluster() {
    return handle(CLUSTER_DESTROY, (out, err) -> (int) CLUSTER_CREATE.invokeExact(out, err));
  }

  static void apply(Handle cluster, Staging... tables) {
    try (Arena arena = Arena.ofConfined()) {
      long count = tables.length;
      MemorySegment pointers = arena.allocate(ADDRESS, count);
      for (int i = 0; i < tables.length; ++i) {
        MemorySegment staging = tables[i].address();
        pointers.setAtIndex(ADDRESS, i, pointer((out, err) -> (int) STAGING_TABLE.invokeExact(staging, out, err)));
      }
      call(err -> (int) CLUSTER_APPLY.invokeExact(cluster.address(), pointers, count, err));
    }
  }

  static Handle snapshot(Handle cluster) {
    return handle(
        SNAPSHOT_RELEASE, (out, err) -> (int) CLUSTER_SNAPSHOT.invokeExact(cluster.address(), out, err));
  }

  static Handle run(Handle engine, Handle snapshot, long now) {
    return handle(
        SESSION_CLOSE,
        (out, err) -> (int) RUN.invokeExact(engine.address(), snapshot.address(), now, out, err));
  }

  static Table table(Handle session, int kind) {
    return new Table(pointer((out, err) -> (int) SESSION_TABLE.invokeExact(session.address(), kind, out, err)));
  }

  static String valueName(int kind, int column, long value) {
    try {
      MemorySegment name = (MemorySegment) VALUE_NAME.invokeExact(kind, column, value);
      return name.reinterpret(Long.MAX_VALUE).getString(0);
    } catch (Throwable impossible) { // the library throws nothing
      throw new AssertionError(impossible);
    }
  }

  static MemorySegment staging(int kind, long rows) {
    return pointer((out, err) -> (int) STAGING_CREATE.invokeExact(kind, OP_ADD, rows, out, err));
  }

  static void stageTexts(Staging staging, int column, String texts) {
    try (Arena arena = Arena.ofConfined()) {
      byte[] bytes = texts.getBytes(StandardCharsets.UTF_8);
      MemorySegment copy = arena.allocateFrom(JAVA_BYTE, bytes);
      call(err -> (int) STAGING_TEXTS.invokeExact(staging.address(), column, copy, (long) bytes.length, err));
    }
  }

  static MemorySegment stageNumbers(Staging staging, int column, int width) {
    return pointer((out, err) -> (int) STAGING_NUMBERS.invokeExact(staging.address(), column, TYPE_I64, width, out, err));
  }

  private interface Fallible {
    int call(MemorySegment err) throws Throwable;
  }

  private interface Maker {
    int call(MemorySegment out, MemorySegment err) throws Throwable;
  }

  private static void call(Fallible function) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment err = arena.allocate(ERROR);
      err.set(JAVA_INT, 0, (int) ERROR.byteSize());
      int status = function.call(err);
      if (status != 0) {
        MemorySegment name = (MemorySegment) STATUS_NAME.invokeExact(status);
        throw new KaischedException(
            name.reinterpret(Long.MAX_VALUE).getString(0) + ": " + err.getString(offset(ERROR, "message")));
      }
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable impossible) { // the library throws nothing
      throw new AssertionError(impossible);
    }
  }

  /** What a function writes to its parameter `out`. */
  private static MemorySegment pointer(Maker function) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      call(err -> function.call(out, err));
      return out.get(ADDRESS, 0);
    }
  }

  private static Handle handle(MethodHandle giveBack, Maker function) {
    return new Handle(pointer(function), giveBack);
  }

  private static long offset(StructLayout layout, String field) {
    return layout.byteOffset(PathElement.groupElement(field));
  }

  private static MethodHandle function(String name, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(LIBRARY.find("kaisched_" + name).orElseThrow(), descriptor);
  }

  private static MethodHandle giveBack(String name) {
    return function(name, FunctionDescriptor.ofVoid(ADDRESS));
  }

  /** Returns a status and takes a kaisched_error at the end. */
  private static MethodHandle fallible(String name, MemoryLayout... parameters) {
    return function(name, FunctionDescriptor.of(JAVA_INT, parameters).appendArgumentLayouts(ADDRESS));
  }

  private static SymbolLookup load() {
    // The header promises these sizes for ever; another one means that a layout above is wrong.
    if (ERROR.byteSize() != 256 || COL.byteSize() != 32 || TABLE.byteSize() != 32 || KEY_VALUE.byteSize() != 16) {
      throw new KaischedException("struct_size: a layout is not that of kaisched.h");
    }
    String path = System.getenv("KAISCHED_LIBRARY");
    SymbolLookup library =
        path != null
            ? SymbolLookup.libraryLookup(Path.of(path), Arena.global())
            : SymbolLookup.libraryLookup("libkaisched.so", Arena.global());
    MethodHandle version =
        LINKER.downcallHandle(
            library.find("kaisched_abi_version").orElseThrow(), FunctionDescriptor.of(JAVA_INT));
    int loaded;
    try {
      loaded = (int) version.invokeExact();
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
    if (loaded >>> 16 != ABI_VERSION >>> 16 || loaded < ABI_VERSION) { // before anything else is called
      throw new KaischedException(String.format("abi: loaded %#x, written for %#x", loaded, ABI_VERSION));
    }
    return library;
  }

  private Kaisched() {}
}
