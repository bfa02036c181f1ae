import type { Users } from '../../users/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { recordEndpoints } from './records.ts';

/** SPEC "Records"; CONTRACT "Records": `users`, `roles` and `sessions` stand for the tables of these. */
export function classEndpoints(users: Users): readonly Endpoint[] {
  return [
    ...recordEndpoints(users, '/classes/:className', ({ className = '' }) => className),
    ...recordEndpoints(users, '/users', () => '_User'),
    ...recordEndpoints(users, '/roles', () => '_Role'),
    ...recordEndpoints(users, '/sessions', () => '_Session'),
  ];
}
