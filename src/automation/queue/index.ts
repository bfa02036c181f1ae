export { countJobs } from './count.ts';
export { type Job, recordKey, type StoredSnapshot, startedFlag, stateOf } from './job.ts';
export { type PendingQueue, pendingQueue } from './pending-jobs.ts';
export { jobRow, queueJob, type RowValues } from './rows.ts';
export { removeJob, removeJobs, updateJob } from './steps.ts';
export { queueTable, type RetryableKind, retryableKinds } from './table.ts';
