/** Every error that a client can get: code, HTTP status and text. Reference: errors.md#codes. Each needs a meaning in `meanings.ts`. */
interface Entry {
  /** Wire code; `undefined` for the answers that carry `error` only. */
  readonly code?: number;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each entry types its own arguments; fail() reads them back
  readonly text: (...args: any[]) => string;
}

const recordTooLarge = () => 'The record is too large for its table or an index.';

/** By the key that `fail` takes. */
export const catalogue = {
  internal: { code: 1, status: 500, text: () => 'server error' },
  invalidWhere: { code: 1, status: 500, text: (why: string) => `server error: where ${why}` },
  noTextIndex: { code: 1, status: 500, text: (className: string) => `server error: $text needs a text index on ${className}` },
  /** The answer has no text: only the code. */
  unknownFile: { code: 1, status: 400, text: () => '' },
  /** Nothing of the request was done (faults.md#passing-faults). */
  unavailable: { code: 1, status: 503, text: () => 'server error: the service is not available now' },
  /** The commit was sent and its result is unknown (faults.md#writes-in-doubt). */
  outcomeUnknown: { code: 1, status: 503, text: () => 'server error: the outcome of this write is unknown' },

  objectNotFound: { code: 101, status: 404, text: () => 'Object not found.' },
  needsAuthentication: { code: 101, status: 404, text: () => 'user needs to be authenticated. Permission denied.' },
  badLogin: { code: 101, status: 404, text: () => 'Invalid username/password.' },
  userInactive: { code: 101, status: 404, text: () => 'User is not active.' },
  accountLocked: {
    code: 101,
    status: 404,
    text: (minutes: number) =>
      `Your account is locked due to multiple failed login attempts. Please try again after ${minutes} minute(s)`,
  },
  invalidParameter: { code: 102, status: 400, text: (name: string) => `Invalid parameter for query: ${name}` },
  badParameterValue: {
    code: 102,
    status: 400,
    text: (name: string, why: string) => `Invalid value for parameter ${name}: ${why}`,
  },
  badQuery: { code: 102, status: 400, text: (why: string) => why },
  /** Of `matchOn` of an upsert. @param call the one that makes the index */
  noUniqueIndex: {
    code: 102,
    status: 400,
    text: (className: string, fields: string, call: string) => `${className} has no unique index of ${fields}. Make one: ${call}`,
  },
  invalidClassName: { code: 103, status: 400, text: (name: string) => `Invalid class name: ${name}` },
  classMissing: { code: 103, status: 400, text: (name: string) => `Class ${name} does not exist.` },
  classExists: { code: 103, status: 400, text: (name: string) => `Class ${name} already exists.` },
  classNameMismatch: {
    code: 103,
    status: 400,
    text: (body: string, path: string) => `Class name mismatch between ${body} and ${path}.`,
  },
  invalidObjectId: { code: 104, status: 400, text: () => 'objectId must be a non-empty string.' },
  invalidFieldName: { code: 105, status: 400, text: (name: string) => `Invalid field name: ${name}` },
  /** A former name of a field (schemas.md#rename-a-field). */
  renamedField: {
    code: 105,
    status: 400,
    text: (name: string, present: string) => `Invalid field name: ${name} (renamed to ${present})`,
  },
  /** A new name that the table has already (schemas.md#rename-a-field). */
  fieldNameTaken: { code: 105, status: 400, text: (name: string) => `Invalid field name: ${name} (the table has this field)` },
  badPointer: { code: 106, status: 400, text: (why: string) => `Bad pointer: ${why}` },
  invalidJson: { code: 107, status: 400, text: (why: string) => `Invalid JSON: ${why}` },
  /** Of one row of an imported file (import.md#rejected-rows). */
  badRow: { code: 107, status: 400, text: (why: string) => `Invalid row: ${why}` },
  nestedTooDeep: { code: 107, status: 400, text: () => 'Invalid JSON: nested too deep' },
  badConstraint: { code: 107, status: 400, text: (why: string) => why },
  badOperator: { code: 107, status: 400, text: (why: string) => why },
  invalidClp: { code: 107, status: 400, text: (why: string) => `Invalid class level permissions: ${why}` },
  /** Arguments of an agent tool (agents.md#arguments). */
  invalidArguments: { code: 107, status: 400, text: (why: string) => `Invalid arguments: ${why}` },
  /** Reference: users.md#administrators. */
  lastAdministrator: { code: 107, status: 400, text: () => 'Invalid arguments: the user is the last active member of Admin' },
  badSchema: { code: 107, status: 400, text: (why: string) => `Invalid schema: ${why}` },
  invalidUpsert: { code: 107, status: 400, text: (why: string) => `Invalid upsert: ${why}` },
  /** Reference: schema-as-code.md#the-snapshot. */
  badSnapshot: { code: 107, status: 400, text: (why: string) => `Invalid snapshot: ${why}` },
  invalidTrigger: { code: 107, status: 400, text: (why: string) => `Invalid trigger: ${why}` },
  batchNoArray: { code: 107, status: 400, text: () => 'requests must be an array' },
  batchPath: { code: 107, status: 400, text: (path: string) => `cannot route batch path ${path}` },
  badTransaction: { code: 107, status: 400, text: (why: string) => `Invalid transaction: ${why}` },
  badBatchItem: { code: 107, status: 400, text: (why: string) => `Invalid batch item: ${why}` },
  batchRoute: { code: 107, status: 400, text: (method: string, path: string) => `cannot route ${method} ${path}` },
  unknownOperator: { code: 108, status: 400, text: (name: string) => `The ${name} operator is not supported yet.` },
  schemaMismatch: {
    code: 111,
    status: 400,
    text: (className: string, field: string, expected: string, got: string) =>
      `schema mismatch for ${className}.${field}; expected ${expected} but got ${got}`,
  },
  placeMismatch: {
    code: 111,
    status: 400,
    text: (place: string, expected: string, got: string) => `schema mismatch for ${place}; expected ${expected} but got ${got}`,
  },
  /** Reference: schemas.md#conversions. */
  cannotRetype: {
    code: 111,
    status: 400,
    text: (name: string, from: string, to: string) => `Field ${name} of type ${from} cannot become ${to}.`,
  },
  /** The answer has details (schemas.md#change-the-type-of-a-field). */
  cannotConvert: {
    code: 111,
    status: 400,
    text: (count: number, name: string, type: string) => `${count} values of ${name} cannot be converted to ${type}.`,
  },
  invalidFieldType: { code: 111, status: 400, text: (type: string) => `invalid field type: ${type}` },
  notAType: { code: 111, status: 400, text: (type: string) => `This is not a valid ${type}` },
  tooLarge: { code: 116, status: 413, text: () => 'Request body is too large.' },
  /** Of an imported file. @param row its number, with the unit of its format (`row 7`, `line 7`) */
  rowTooLong: {
    code: 116,
    status: 413,
    text: (row: string, limit: number) => `The ${row} is too long: it may have ${limit} characters.`,
  },
  /** Bounds the memory that parsed JSON takes (requests.md#bodies). */
  tooManyValues: { code: 116, status: 413, text: () => 'Request body is too large: too many values.' },
  valueTooLarge: { code: 116, status: 413, text: recordTooLarge },
  /** Answers that are built in memory: agent tools, batches, functions, single records with includes. */
  resultTooLarge: { code: 116, status: 413, text: () => 'The answer is too large.' },
  captcha: { code: 119, status: 400, text: () => 'This action is not allowed without a valid CAPTCHA' },
  permissionDenied: {
    code: 119,
    status: 400,
    text: (action: string, className: string) => `Permission denied for action ${action} on class ${className}`,
  },
  fieldDenied: {
    code: 119,
    status: 400,
    text: (field: string, className: string) => `This user is not allowed to access ${field} on class ${className}`,
  },
  pointedAt: {
    code: 119,
    status: 400,
    text: (id: string, className: string, field: string) =>
      `Pointer to Object ${id} exists in table ${className} in key ${field}. Delete is not allowed.`,
  },
  systemTable: { code: 119, status: 400, text: () => 'Action is denied for system tables' },
  invalidNestedKey: {
    code: 121,
    status: 400,
    text: (key: string) => `Nested keys should not contain the '$' or '.' characters: ${key}`,
  },
  badFileName: { code: 122, status: 400, text: () => 'Invalid file name.' },
  invalidAcl: { code: 123, status: 400, text: (why: string) => `Invalid ACL: ${why}` },
  timeout: { code: 124, status: 503, text: () => 'The query took too long and was ended.' },
  invalidEmail: { code: 125, status: 400, text: () => 'Email address format is invalid.' },
  emptyFile: { code: 130, status: 400, text: () => 'Invalid file upload.' },
  missingClassName: { code: 135, status: 400, text: () => 'A class name is needed.' },
  fieldCannotBeAdded: { code: 136, status: 400, text: (field: string) => `field ${field} cannot be added` },
  fieldCannotBeChanged: { code: 136, status: 400, text: (field: string) => `field ${field} cannot be changed` },
  duplicateValue: { code: 137, status: 400, text: () => 'A duplicate value for a field with unique values was provided' },
  /** Against a unique index (schemas.md#unique-indexes). */
  duplicateKey: {
    code: 137,
    status: 400,
    text: (fields: string, index: string) => `Another record has this value of ${fields} (unique index ${index})`,
  },
  /** Records contradict a unique index that is to be made. */
  contradictedIndex: {
    code: 137,
    status: 400,
    text: (index: string, fields: string, count: number) =>
      `Unique index ${index}: ${count} ${count === 1 ? `value of ${fields} occurs` : `values of ${fields} occur`} more than once`,
  },
  invalidAgentPermission: { code: 107, status: 400, text: (name: string) => `Invalid MCP permission: ${name}` },
  invalidRoleName: { code: 139, status: 400, text: () => 'Invalid role name.' },
  outOfStorage: { code: 140, status: 400, text: () => 'The storage of this system is used up.' },
  functionNotFound: { code: 141, status: 400, text: () => 'function not found' },
  passwordPolicy: { code: 142, status: 400, text: () => 'Password does not meet the Password Policy requirements.' },
  /** A record without a value of a field that its table requires (schemas.md#required-fields-and-defaults). */
  fieldRequired: { code: 142, status: 400, text: (field: string) => `${field} is required` },
  hiddenFieldRequired: { code: 142, status: 400, text: () => 'A field that is hidden from you is required' },
  /** Records lack a field that is to be required. */
  recordsLackField: {
    code: 142,
    status: 400,
    text: (field: string, count: number) =>
      `${field} cannot be required: ${count} ${count === 1 ? 'record lacks' : 'records lack'} it`,
  },
  usernameMissing: { code: 200, status: 400, text: () => 'bad or missing username' },
  passwordMissing: { code: 201, status: 400, text: () => 'password is required' },
  usernameTaken: { code: 202, status: 400, text: () => 'Account already exists for this username.' },
  emailTaken: { code: 203, status: 400, text: () => 'Account already exists for this email address.' },
  emailMissing: { code: 204, status: 400, text: () => 'you must provide an email' },
  otherUser: { code: 206, status: 400, text: (id: string) => `Cannot modify user ${id}.` },
  invalidSession: { code: 209, status: 400, text: () => 'invalid session token' },
  schemaOperation: { code: 255, status: 400, text: (why: string) => why },
  /** Reference: schema-as-code.md#destructive-changes. */
  destructiveChanges: {
    code: 255,
    status: 400,
    text: (count: number, which: string) =>
      `nothing was done: ${count} destructive ${count === 1 ? 'change' : 'changes'} not allowed: ${which}`,
  },
  /** Reference: schema-as-code.md#references. */
  brokenReferences: { code: 255, status: 400, text: (which: string) => `nothing was done: ${which}` },

  largeUploadUnauthorized: { code: 400, status: 400, text: () => 'Missing Authorization.' },
  largeUploadsOff: { code: 400, status: 400, text: () => 'App is not allowed to upload large files.' },
  /** Reference: requests.md#repeated-requests. */
  badIdempotencyKey: {
    code: 107,
    status: 400,
    text: (header: string) => `Invalid ${header}: it should have 1 to 255 visible characters`,
  },
  requestUnderWay: { code: 409, status: 409, text: () => 'A request with this Idempotency-Key is under way.' },
  keyReused: { code: 422, status: 422, text: () => 'The Idempotency-Key was used for another request.' },
  /** Of `X-Platform-Request-Id`. */
  duplicateRequest: { code: 159, status: 400, text: () => 'Duplicate request' },
  /** A conditional write whose condition does not hold. */
  changedMeanwhile: { code: 409, status: 409, text: () => 'The record has changed meanwhile.' },
  /** Of `expect` (records.md#write-many-records). The answer has the number. */
  otherCount: {
    code: 409,
    status: 409,
    text: (matched: number, expected: number) => `${matched} records match, not ${expected}.`,
  },
  /** Of `If-Match` (records.md#conditional-writes). The answer has `updatedAt` of the record. */
  preconditionFailed: { code: 409, status: 412, text: () => 'The record has changed meanwhile.' },
  /** Of `If-None-Match: *` in a create. */
  recordExists: { code: 409, status: 412, text: () => 'The record exists already.' },
  /** Reference: schema-as-code.md#apply. */
  schemaChangedSince: { code: 409, status: 409, text: () => 'the schema has changed since the diff' },
  badUpload: { code: 107, status: 400, text: (why: string) => `Invalid upload: ${why}` },

  /** Answers of functions have no code (errors.md#errors-of-functions). */
  userFunctionNotFound: { status: 400, text: () => 'User function not found' },
  formDisabled: { status: 400, text: (flag: string) => `${flag} is Disabled` },
  /** `valueTooLarge` for forms, whose errors are all 400. */
  formTooLarge: { code: 116, status: 400, text: recordTooLarge },
  missingInput: { status: 400, text: (what: string) => `missing ${what}` },
  /** The message that a custom function threw, or why its input is refused (functions.md#custom-functions). */
  functionFailed: { status: 400, text: (message: string) => message },
  functionTimeout: { status: 503, text: () => 'The function took too long and was given up.' },
  tooManyRequests: { code: 155, status: 429, text: () => 'Too many requests. Try again later.' },

  badRequest: { status: 400, text: () => 'The request cannot be read.' },
  /** Only while other bodies wait for the memory (requests.md#slow-clients). */
  bodyTooSlow: { status: 408, text: () => 'The body came too slowly while others waited.' },
  badAddress: { status: 400, text: () => 'The path cannot be decoded.' },
  notFound: { status: 404, text: () => 'Not found.' },
  metricsTokenRequired: { status: 401, text: () => 'unauthorized: METRICS_TOKEN is required' },
  unauthorized: { status: 403, text: () => 'unauthorized' },
  /** Reference: files.md#file-types. */
  invalidFileType: { status: 403, text: () => 'Invalid file type' },
  uploadRefused: { status: 403, text: (why: string) => `unauthorized: ${why}` },
  /** Sent as an HTML page. */
  fileTooLarge: { status: 413, text: () => 'The file is too large.' },
  /** Sent as plain text. */
  fileNotFound: { status: 404, text: () => 'File not found' },
  masterKeyRequired: { status: 403, text: () => 'unauthorized: master key is required' },
  /** Answer of a batch item without a body (batch.md#answers). */
  batchItemBody: { status: 400, text: () => 'Cannot convert undefined or null to object' },
} as const satisfies Record<string, Entry>;

export type ErrorKey = keyof typeof catalogue;
