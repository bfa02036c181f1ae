import { bytesInMemory } from '../../../src/http/endpoint/body-reader.ts';
import * as importing from '../../../src/http/files/import.ts';
import * as exporting from '../../../src/http/routes/exports.ts';
import { limits } from '../../../src/kernel/limits.ts';
import * as removed from '../../../src/systems/removed.ts';
import * as importRecords from '../../../src/transfer/import/import.ts';
import * as job from '../../../src/transfer/jobs/import-jobs.ts';
import * as parameters from '../../../src/transfer/jobs/parameters.ts';
import * as retention from '../../../src/transfer/jobs/retention.ts';
import * as run from '../../../src/transfer/jobs/run-job.ts';
import { bytes, characters, count, duration, type LimitGroup } from './limit.ts';

const MAX_EXPORTS = Math.floor(bytesInMemory(Number.POSITIVE_INFINITY) / exporting.EXPORT_BYTES);

export const transferLimits: readonly LimitGroup[] = [
  {
    heading: '## Imports and exports',
    limits: [
      {
        of: 'body of an import over HTTP',
        value: bytes(job.MAX_BODY_BYTES),
        beyond: '413, code 116',
        see: 'import.md#import-jobs',
      },
      {
        of: 'time to send the body of an import',
        value: duration(importing.BODY_TIMEOUT_MS),
        beyond: '408',
        see: 'import.md#import-jobs',
      },
      {
        of: 'row of an import over HTTP; of the command',
        value: `${characters(parameters.MAX_ROW_LENGTH)}; ${bytes(limits.bodyBytes)}`,
        beyond: 'the row is rejected, code 116',
        see: 'import.md#rejected-rows',
      },
      {
        of: 'unfinished import jobs of a system; bodies that arrive at the same time',
        value: `${job.MAX_JOBS}; ${job.MAX_ARRIVING}`,
        beyond: '429, code 155',
        see: 'import.md#import-jobs',
      },
      {
        of: 'import jobs that a process runs at the same time',
        value: count(job.MAX_RUNNING),
        beyond: 'jobs wait',
        see: 'import.md#import-jobs',
      },
      {
        of: 'names in `notTakenOver` of a job',
        value: count(run.MAX_LEFT_OUT),
        beyond: 'they are left out',
        see: 'import.md#import-jobs',
      },
      {
        of: 'time that a finished job is kept; that `--continue` knows an import',
        value: `${duration(retention.RETENTION_MS.request)}; ${duration(retention.RETENTION_MS.command)}`,
        beyond: '404; the import starts over',
        see: 'import.md#continue',
      },
      {
        of: 'time that the command waits for a store that is not available',
        value: duration(importRecords.MAX_RETRY_MS),
        beyond: 'it ends with 1; `--continue` continues',
        see: 'import.md#import-command',
      },
      {
        of: 'exports over HTTP that a process sends at the same time',
        value: `${count(MAX_EXPORTS)}, fewer if the heap is small; half for one address, three quarters for one system`,
        beyond: `they wait, 503 after ${duration(exporting.MAX_WAIT_MS)}`,
        see: 'export.md#export-over-http',
      },
    ],
  },
  {
    heading: '### Systems',
    limits: [
      {
        of: 'time that a removed system is kept',
        value: duration(removed.RETENTION_MS),
        beyond: 'it is deleted with all its data',
        see: 'faults.md#removed-systems',
      },
    ],
  },
];
