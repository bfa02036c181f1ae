import { fail } from '../../errors/fail.ts';
import type { Endpoint } from '../endpoint.ts';

/** SPEC "Errors" 141: functions are not below the data prefix, named alone or with the application. */
export const functionEndpoints: readonly Endpoint[] = ['/functions/:name', '/functions/:appId/:name'].flatMap((path) =>
  (['GET', 'POST'] as const).map((method) => ({ method, path, handle: () => fail('functionNotFound') })),
);
