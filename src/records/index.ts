export { aggregateRecords } from './aggregate.ts';
export { type CheckedRecords, checkRecords, type NamedRecord, type RecordFault } from './check.ts';
export { configFlag, configRow } from './config-flags.ts';
export type { RecordContext, WriteHooks } from './context.ts';
export { definitionFields } from './definitions.ts';
export { decideAnew, exclusively, holding } from './exclusive.ts';
export { functionReferer, tellsOfFunction } from './function-referer.ts';
export { readLabels } from './labels.ts';
export { endOf, type Progress } from './progress.ts';
export { findRecords, readRecord } from './read.ts';
export { remembering } from './remembered.ts';
export { aggregateRows, countRecords, findRows, getRow, type Row } from './rows.ts';
export { createSchema, deleteSchema, getSchema, listSchemas, updateSchema } from './schemas.ts';
export { type OwnQuery, readFirst, readRow, readRows } from './system-reads.ts';
export { checkTogether, createTogether, type RecordWrite, writeTogether } from './write/batch-write.ts';
export { commitPlan } from './write/commit.ts';
export { type Created, createRecord } from './write/create.ts';
export type { FileKeeper, HeldFile, NamedFile, SettledFiles } from './write/file-attachments.ts';
export { deleteRecord } from './write/remove.ts';
export { type OnlyIf, updatedRow, updatedText, updateRecord } from './write/update.ts';
export type { RuledFields, RuledWrite, TableRules } from './write/write-hooks.ts';
export {
  type AddedSteps,
  type Cause,
  eventOf,
  isSilencingFlag,
  takeFlags,
  type WriteEvent,
  type WriteObserver,
} from './write/write-hooks.ts';
