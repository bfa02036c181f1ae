export { type Job, recordKey, type StoredPicture, startedFlag, stateOf } from './job.ts';
export { jobRow, queueJob, type RowValues } from './rows.ts';
export { noteJob, removeJob, removeJobs } from './steps.ts';
export { type LaterKind, laterKinds, queueTable } from './table.ts';
