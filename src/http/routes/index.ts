import { fail } from '../../errors/fail.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import type { RateLimit } from '../endpoint/rate-limit.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { batchEndpoint } from './batch.ts';
import { exportEndpoint } from './exports.ts';
import { fileEndpoints } from './files.ts';
import { jobEndpoints } from './imports.ts';
import { matchingEndpoints } from './matching.ts';
import { aggregateEndpoints, classEndpoints } from './records.ts';
import { snapshotEndpoints } from './schema-snapshots.ts';
import { schemaEndpoints } from './schemas.ts';
import { upsertEndpoint } from './upsert.ts';
import { userEndpoints } from './users.ts';

/**
 * Returns all data endpoints. A batch may address all except itself, writes by `where`, files, exports, jobs and upserts.
 * @param loginLimit `null`: no limit
 */
export function dataEndpoints(
  { users, resets, files, addresses }: Pick<HttpServices, 'users' | 'resets' | 'files' | 'addresses'>,
  loginLimit: RateLimit | null,
  reportFault: (error: unknown) => void,
): readonly Endpoint[] {
  const single = [
    ...userEndpoints(users, resets, loginLimit),
    ...classEndpoints(users),
    ...aggregateEndpoints,
    ...schemaEndpoints,
    ...functionEndpoints,
  ];
  return [
    ...single,
    ...matchingEndpoints,
    exportEndpoint(),
    ...snapshotEndpoints,
    ...jobEndpoints({ addresses }),
    ...fileEndpoints(files),
    upsertEndpoint(reportFault),
    batchEndpoint(single, reportFault),
  ];
}

/** Functions are not below the data prefix; these paths answer with 141. Reference: errors.md#errors-of-functions. */
export const functionEndpoints: readonly Endpoint[] = ['/functions/:name', '/functions/:appId/:name'].flatMap((path) =>
  (['GET', 'POST'] as const).map((method) => ({ method, path, handle: () => fail('functionNotFound') })),
);
