/** Bounds on what a request may bring. SPEC "Limits" first; the rest keep hostile input from costing more than it should. */
export const limits = {
  /** SPEC "Limits": default of `limit` in REST queries. */
  defaultLimit: 100,
  /** CONTRACT "Requests": bytes of a body on the data endpoints. */
  bodyBytes: 20 * 1024 * 1024,
  /** Bytes of a body that holds credentials, and at most a name and a password beside them. */
  smallBodyBytes: 64 * 1024,
  /** docs/decisions.md "Records": bytes of all values of a record together, as they are stored. */
  recordBytes: 20 * 1024 * 1024,
  /** Bytes of a record's values that the console sends: twice what a form may have left in one, since a change tells what stood there. */
  consoleRecordBytes: 2 * 1024 * 1024 + 64 * 1024,
  /** Bytes of the body of a function call, unless set otherwise: anybody may call, and a body of 20 MB is read for seconds. */
  functionBodyBytes: 1024 * 1024,
  /** Bytes a second that a client sends a body with, or takes an answer with, at least where others wait for the room or the data that it holds. */
  leastPace: 64 * 1024,
  /** SPEC "Limits": bytes of an uploaded file. */
  fileBytes: 32 * 1024 * 1024,
  /** Bytes of a file that comes by the large-upload route: what S3 takes in one request. */
  largeFileBytes: 5 * 1024 * 1024 * 1024,
  /** CONTRACT "Forms and files": characters of a file name in a path. */
  fileNameLength: 300,
  /** `,` `:` `[` `{` outside strings in a body of a data endpoint: 20 MB of short fields. */
  jsonMarks: 2_500_000,
  /** The same of what cannot be read in parts: some 300 ms at the worst. */
  jsonMarksAtOnce: 400_000,
  /** Levels of nesting in a JSON value. */
  jsonDepth: 100,
  /** Levels of `$or`, `$and`, `$nor`, `$not` and sub-queries in a `where`. */
  whereDepth: 50,
  /** Constraints of one query, of all levels, sub-queries and stages together; SQLite bounds the depth of an expression, we its size. */
  whereTerms: 2_000,
  /** Values in one `where` or pipeline: members of lists and objects, however deep. */
  queryValues: 50_000,
  /** Characters of one `where` or pipeline that comes as text. */
  queryLength: 4 * 1024 * 1024,
  /** Characters of a table or field name: both engines and their indexes can carry it. */
  nameLength: 128,
  /** Columns of a table. */
  fieldsPerTable: 1_600,
  /** Characters of a `$regex`. */
  regexLength: 10_000,
  /** Steps of a `$regex`, its counted repeats written out and its classes by what they are made of: some 20 ms to compile. */
  regexSize: 20_000,
  /** Steps of all patterns of one request. */
  requestRegexSize: 40_000,
  /** Steps of the patterns of a trigger's criteria: each change of the record has them ready, and so has each process. */
  criteriaRegexSize: 4_000,
} as const;
