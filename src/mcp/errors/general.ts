import { agentPermissions } from '../../access/index.ts';
import { type Advice, notThere } from '../../crm/refusals.ts';
import type { ErrorKey } from '../../errors/catalogue.ts';
import { limits } from '../../kernel/limits.ts';
import { fieldTypes } from '../../schema/model.ts';

const operators: Advice = {
  expected:
    'Operators: {"__op":"Increment","amount":1}, {"__op":"AddUnique","objects":[…]} (Add, Remove), {"__op":"Delete"}, {"__op":"AddRelation","objects":[<Pointers>]} (RemoveRelation)',
};
const users: Advice = { expected: 'To change that user send his objectId', next: 'Get-all-Users' };
const types = fieldTypes.filter((type) => type !== 'ACL').join(', ');

/** Advice by error key. If the form depends on the message, `by-message.ts` and `expectedForm` (describe.ts) take precedence. */
export const general: Partial<Record<ErrorKey, Advice>> = {
  invalidWhere: {
    expected:
      'where is an object such as {"Name":"Dana","createdAt":{"$gte":{"__type":"Date","iso":"2026-01-01T00:00:00.000Z"}}}',
  },
  noTextIndex: { expected: 'Compare a field by {"$regex":"word","$options":"i"}', next: 'Search-Records' },
  unknownFile: {
    expected: 'The file was never uploaded: upload it first and send the name and url that the upload answers',
    next: 'Upload-Public-File',
  },
  unavailable: { expected: 'Nothing was done: call again in a few seconds' },
  outcomeUnknown: {
    expected:
      'It may have been done, as a whole or in part, or not: read first what is there, then call again for what is missing',
    next: 'Get-Data',
  },

  objectNotFound: notThere,
  badParameterValue: { expected: 'keys and order name fields; in order - before one is descending', next: 'Get-Schema' },
  badQuery: { next: 'Get-Schema' },
  invalidClassName: { expected: 'A letter or underscore first, then letters, digits, underscore', next: 'Get-Schema' },
  classMissing: { expected: 'Names of tables are case-sensitive', next: 'Get-Schema with tablesNameOnly' },
  classExists: { expected: 'Add what it lacks', next: 'Add-Fields' },
  invalidObjectId: { expected: 'A text; left out, the record gets an id of its own' },
  invalidFieldName: { expected: 'A letter first, then letters, digits, underscore', next: 'Get-Schema' },
  cannotRetype: { next: 'Get-Schema' },
  cannotConvert: { next: 'Get-Data' },
  renamedField: { expected: 'The present name of the field', next: 'Get-Schema' },
  fieldNameTaken: { expected: 'A name that the table does not have', next: 'Get-Schema' },
  badPointer: { expected: '{"__type":"Pointer","className":"<Table>","objectId":"<id>"}', next: 'Get-Data' },
  invalidJson: { expected: 'JSON without NUL, halves of characters and numbers out of range' },
  nestedTooDeep: { expected: `At most ${limits.jsonDepth} levels` },
  badConstraint: { expected: 'where is {"<Field>":{"$gte":<value>}}', next: 'Get-Schema' },
  badOperator: operators,
  unknownOperator: operators,
  invalidClp: {
    expected: '{"find":["role:<Name>"],"get":[…],"create":[],"update":[],"delete":[],"addField":[]}',
    next: 'Get-Roles',
  },
  lastAdministrator: { expected: 'Give another user the role Admin first', next: 'Get-Roles' },
  badSchema: { expected: 'Fields are {name, type, targetClass?, label?, required?, defaultValue?}', next: 'Get-Schema' },
  invalidAgentPermission: { expected: `One of ${agentPermissions.join(', ')}` },
  schemaMismatch: { next: 'Get-Schema' },
  placeMismatch: { next: 'Get-Schema' },
  invalidFieldType: { expected: `A type is one of ${types}` },
  notAType: { next: 'Get-Schema' },
  tooManyValues: { expected: 'Send less in one call' },
  valueTooLarge: { expected: 'Shorter values, or fewer of them in one record; large texts belong into files' },
  resultTooLarge: { expected: 'Ask for less: fewer keys, a narrower where, a smaller limit' },
  permissionDenied: { next: 'Get-My-Access' },
  fieldDenied: { expected: 'Leave the field out', next: 'Get-Schema' },
  systemTable: { expected: 'The service alone writes it' },
  invalidNestedKey: { expected: 'Keys inside an Object without $ and dots' },
  badFileName: { expected: 'A name with an extension, without slashes, such as offer.pdf' },
  invalidAcl: { expected: '{"<user id>":{"read":true,"write":true},"role:<Name>":{"read":true}}', next: 'Get-Roles' },
  timeout: { expected: 'Narrow the where, or ask for fewer records', next: 'Count-Data' },
  invalidEmail: { expected: 'An address such as dana@example.com' },
  emptyFile: { expected: 'The bytes of the file in base64, one at least' },
  badUpload: { expected: 'The bytes of the file in base64' },
  missingClassName: { expected: 'A Pointer or Relation takes targetClass, the table that it points at', next: 'Get-Schema' },
  fieldCannotBeAdded: {
    expected: 'Every table has objectId, createdAt, updatedAt, ACL, createdBy, updatedBy',
    next: 'Get-Schema',
  },
  fieldCannotBeChanged: { expected: 'Leave the field out', next: 'Get-Schema' },
  duplicateKey: { expected: 'Another value, or a change of the record that has it', next: 'Get-Data' },
  contradictedIndex: { expected: 'Merge or change the records that share a value first', next: 'Find-Duplicates' },
  duplicateValue: { next: 'Find-Duplicates' },
  invalidRoleName: { expected: '1 to 100 letters, digits, spaces, _ or -', next: 'Get-Roles' },
  outOfStorage: { next: 'Get-System-Info' },
  fieldRequired: { expected: 'A value that is neither null nor an empty text', next: 'Get-Schema' },
  hiddenFieldRequired: { expected: 'Someone who may write that field must create the record', next: 'Get-My-Access' },
  recordsLackField: { expected: 'Give these records a value first, or leave required out', next: 'Get-Data' },
  passwordPolicy: { expected: 'At least 8 characters with a lower-case letter, an upper-case letter and a digit' },
  usernameMissing: { expected: 'A new user takes username and password, texts that are not empty' },
  passwordMissing: { expected: 'A new user takes username and password, texts that are not empty' },
  usernameTaken: users,
  emailTaken: users,
  otherUser: { expected: 'Users are written by keys and administrators', next: 'Get-My-Access' },
  schemaOperation: { expected: 'A type can never be changed: take another name', next: 'Get-Schema' },
  preconditionFailed: { expected: 'Read it again and send the change with its present updatedAt', next: 'Get-Record' },
  changedMeanwhile: { expected: 'Read it again and send the change with its present updatedAt', next: 'Get-Record' },
  invalidFileType: { expected: 'The extension of fileName has to fit the bytes; programs and unknown types are not taken' },
  uploadRefused: { expected: 'This system takes no files', next: 'Get-System-Info' },
  fileTooLarge: { expected: 'A file of at most 32 MB' },
  fileNotFound: { expected: 'The file is gone, or you may not see it', next: 'Get-Record' },
  masterKeyRequired: {
    expected: 'Schemas are for keys, and for administrators with mcp:edit-page-and-schema',
    next: 'Get-My-Access',
  },
};
