import { fail } from '../../errors/fail.ts';
import type { Endpoint } from '../endpoint.ts';

/** SPEC "Errors" 141: functions are not below the data prefix. */
export const functionEndpoints: readonly Endpoint[] = (['GET', 'POST'] as const).map((method) => ({
  method,
  path: '/functions/:name',
  handle: () => fail('functionNotFound'),
}));
