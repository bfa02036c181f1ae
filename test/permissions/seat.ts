import { type Action, type Caller, isRefused, notFound, type Refused, reaches, rightTo } from '../support/permissions.ts';
import type { Answer, CallOptions, Service } from '../support/service.ts';
import type { MatrixTable, Row } from './world.ts';

/** A caller and a table of the matrix. */
export interface Seat {
  service: Service;
  caller: Caller;
  table: MatrixTable;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/** Returns whether the caller reaches a record by an action, or the refusal. */
export function verdict({ caller, table }: Seat, action: Action, needed: 'read' | 'write', row: Row): 'reached' | Refused {
  const right = rightTo(caller, action, table);
  if (isRefused(right)) return right;
  return reaches(caller, right, needed, row) ? 'reached' : notFound;
}

/** Returns the names of rows, sorted. */
export const ks = (rows: readonly { k: string }[]) => rows.map(({ k }) => k).sort();
