import { fail } from '../../errors/fail.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import type { RateLimit } from '../endpoint/rate-limit.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { batchEndpoint } from './batch.ts';
import { explainEndpoint } from './explain.ts';
import { exportEndpoint } from './exports.ts';
import { fileEndpoints } from './files.ts';
import { jobEndpoints } from './imports.ts';
import { matchingEndpoints } from './matching.ts';
import { openapiEndpoint } from './openapi.ts';
import { aggregateEndpoints, classEndpoints } from './records.ts';
import { snapshotEndpoints } from './schema-snapshots.ts';
import { schemaEndpoints } from './schemas.ts';
import { upsertEndpoint } from './upsert.ts';
import { userEndpoints } from './users.ts';

/**
 * Returns all data endpoints. A batch may address all except itself, writes by `where`, explanations, files, exports, jobs, upserts and
 * descriptions.
 * @param loginLimit `null`: no limit
 */
export function dataEndpoints(
  services: Pick<HttpServices, 'users' | 'resets' | 'files' | 'addresses' | 'functions'>,
  loginLimit: RateLimit | null,
  reportFault: (error: unknown) => void,
): readonly Endpoint[] {
  const { users, resets, files } = services;
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
    explainEndpoint,
    exportEndpoint(),
    ...snapshotEndpoints,
    openapiEndpoint(services),
    ...jobEndpoints(services),
    ...fileEndpoints(files),
    upsertEndpoint(reportFault),
    batchEndpoint(single, reportFault),
  ];
}

/** Functions are not below the data prefix; these paths answer with 141. Reference: errors.md#errors-of-functions. */
export const functionEndpoints: readonly Endpoint[] = ['/functions/:name', '/functions/:appId/:name'].flatMap((path) =>
  (['GET', 'POST'] as const).map((method) => ({ method, path, handle: () => fail('functionNotFound') })),
);
