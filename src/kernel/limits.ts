/** Bounds on requests. They keep hostile input from costing more than it should. Reference: queries.md#query-limits, requests.md#bodies. */
export const limits = {
  /** Default of `limit` in REST queries (queries.md#parameters). */
  defaultLimit: 100,
  /** Bytes of a body on the data endpoints (requests.md#bodies). */
  bodyBytes: 20 * 1024 * 1024,
  /** Bytes of a body with credentials, and at most a name and a password beside them. */
  smallBodyBytes: 64 * 1024,
  /** Bytes of all values of a record together, as they are stored (records.md#size-of-a-record). */
  recordBytes: 20 * 1024 * 1024,
  /** Bytes of a record's values that the console sends: twice what a form may change, since a change carries the former values too. */
  consoleRecordBytes: 2 * 1024 * 1024 + 64 * 1024,
  /** Bytes of the body of a function call, unless set otherwise: anybody may call, and parsing 20 MB takes seconds. */
  functionBodyBytes: 1024 * 1024,
  /** Minimum pace in bytes per second at which a client sends a body or takes an answer, if others wait for the memory or data that it occupies. */
  minBytesPerSecond: 64 * 1024,
  /** Bytes of an uploaded file (files.md#upload). */
  fileBytes: 32 * 1024 * 1024,
  /** Bytes of a large upload: what S3 accepts in one request (files.md#large-uploads). */
  largeFileBytes: 5 * 1024 * 1024 * 1024,
  /** Characters of a file name in a path (files.md#upload). */
  fileNameLength: 300,
  /** `,` `:` `[` `{` outside strings in a body of a data endpoint: 20 MB of short fields. */
  jsonMarks: 2_500_000,
  /** The same for JSON that cannot be parsed in slices: some 300 ms at worst. */
  jsonMarksAtOnce: 400_000,
  /** Levels of nesting in a JSON value. */
  jsonDepth: 100,
  /** Levels of `$or`, `$and`, `$nor`, `$not` and sub-queries in a `where`. */
  whereDepth: 50,
  /** Constraints of one query, all levels, sub-queries and stages together; SQLite bounds the depth of an expression, this its size. */
  whereTerms: 2_000,
  /** Values in one `where` or pipeline: members of lists and objects, at any depth. */
  queryValues: 50_000,
  /** Characters of one `where` or pipeline that comes as text. */
  queryLength: 4 * 1024 * 1024,
  /** Characters of a table or field name: both engines and their indexes support it. */
  nameLength: 128,
  /** Columns of a table. */
  fieldsPerTable: 1_600,
  /** Characters of a `$regex`. */
  regexLength: 10_000,
  /** Steps of a `$regex`, counted repeats written out and classes by what they are made of: some 20 ms to compile. */
  regexSize: 20_000,
  /** Steps of all patterns of one request. */
  requestRegexSize: 40_000,
  /** Steps of the patterns of a trigger's criteria: every process keeps them compiled, and every change of a record uses them. */
  criteriaRegexSize: 4_000,
} as const;
