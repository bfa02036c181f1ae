export { isLater, type Job, recordKey, type SilencedActions, type StoredPicture, startedFlag, stateOf } from './job.ts';
export { jobRow, type LaterRow, queueJob, type RowValues } from './rows.ts';
export { type Noted, noteJob, removeJob, removeJobs, stillOurs } from './steps.ts';
export { type JobKind, type QueueField, queueFields, queueTable } from './table.ts';
