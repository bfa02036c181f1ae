export { aggregateRecords } from './aggregate.ts';
export type { RecordContext, WriteHooks } from './context.ts';
export { findRecords, getRecord } from './read.ts';
export { type OwnQuery, readRows } from './rows.ts';
export { createSchema, deleteSchema, getSchema, listSchemas, updateSchema } from './schemas.ts';
export { type Created, createRecord } from './write/create.ts';
export { deleteRecord } from './write/remove.ts';
export type { RuledFields, RuledWrite, TableRules } from './write/rules.ts';
export { updateRecord } from './write/update.ts';
