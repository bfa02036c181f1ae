export { aggregateRecords } from './aggregate.ts';
export type { RecordContext } from './context.ts';
export { findRecords, getRecord } from './read.ts';
export { createSchema, deleteSchema, getSchema, listSchemas, updateSchema } from './schemas.ts';
export { type Created, createRecord } from './write/create.ts';
export type { SilencingFlags } from './write/flags.ts';
export type { WriteEvent, WriteObserver } from './write/observer.ts';
export { deleteRecord } from './write/remove.ts';
export { updateRecord } from './write/update.ts';
