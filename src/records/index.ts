export {
  claimsFunction,
  errorToReport,
  functionReferer,
  type Progress,
  type RecordContext,
  type WriteHooks,
} from './context/context.ts';
export type { FileKeeper, HeldFile, NamedFile, ResolvedFiles } from './context/file-keeper.ts';
export type { NameHolder } from './context/name-holder.ts';
export type {
  AddedSteps,
  Cause,
  EarlierWrite,
  RecordWatch,
  RuledFields,
  RuledWrite,
  TableRules,
  WriteEvent,
  WriteObserver,
} from './context/write-hooks.ts';
export { explainRecords } from './explain/explain.ts';
export { configFlag, configRow } from './read/config-flags.ts';
export {
  aggregateRecords,
  aggregateRows,
  countRecords,
  findEscaped,
  findRecords,
  findRows,
  getRow,
  planRecords,
  type Row,
  readRecord,
  readViewed,
  type ViewedRecord,
  wholeView,
} from './read/find.ts';
export { readLabels } from './read/labels.ts';
export { shortHash } from './read/record-view.ts';
export { countRows, type OwnQuery, readFirst, readRow, readRows } from './read/system-reads.ts';
export { definitionFields, switchOffDefinitions } from './read/trigger-definitions.ts';
export { versionedCache } from './read/versioned-cache.ts';
export { followRows } from './renames/follow-rows.ts';
export { afterRenames, followAllRenames, nameHolders } from './renames/rename-fields.ts';
export { createSchema, deleteSchema, getSchema, listSchemas, updateSchema } from './schemas.ts';
export { checkWrites, createAtomically, type RecordWrite, writeAtomically } from './write/batch-write.ts';
export { isSilencingFlag, takeFlags } from './write/before-save.ts';
export { commitPlan, eventOf } from './write/commit.ts';
export { type Created, chosenId, createRecord, type NewRecord } from './write/create.ts';
export { knownDuplicate } from './write/duplicates.ts';
export { exclusively, holding, retryWhenConditionFailed } from './write/exclusive.ts';
export { checkDefaults } from './write/field-options.ts';
export { isServerSet } from './write/fields.ts';
export { writeMatching, writtenName } from './write/matching/write-matching.ts';
export {
  explained,
  type OnlyIf,
  type Precondition,
  presentVersionOf,
  type Version,
  type Versions,
} from './write/precondition.ts';
export { deleteRecord } from './write/remove.ts';
export { type TransactionResult, writeOne, writeTransaction } from './write/transaction.ts';
export { updatedRow, updatedText, updateRecord } from './write/update.ts';
export { upsertRecords } from './write/upsert/upsert.ts';
export { type CheckedRecords, checkRecords, type NamedRecord, type RecordFault } from './write/validate.ts';
