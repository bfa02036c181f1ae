export { aggregateRecords } from './aggregate.ts';
export type { RecordContext, WriteHooks } from './context.ts';
export { findRecords, getRecord } from './read.ts';
export { createSchema, deleteSchema, getSchema, listSchemas, updateSchema } from './schemas.ts';
export { createRecord } from './write/create.ts';
export type { WriteObserver } from './write/observer.ts';
export { deleteRecord } from './write/remove.ts';
export type { RuledFields, RuledWrite, TableRules } from './write/rules.ts';
export { updateRecord } from './write/update.ts';
