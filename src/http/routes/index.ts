import type { Endpoint } from '../endpoint.ts';
import { aggregateEndpoints } from './aggregate.ts';
import { batchEndpoint } from './batch.ts';
import { classEndpoints } from './classes.ts';
import { functionEndpoints } from './functions.ts';
import { schemaEndpoints } from './schemas.ts';

/** Every data endpoint. A batch may address all but itself. */
export function dataEndpoints(reportFault: (error: unknown) => void): readonly Endpoint[] {
  const single = [...classEndpoints, ...aggregateEndpoints, ...schemaEndpoints, ...functionEndpoints];
  return [...single, batchEndpoint(single, reportFault)];
}
