import { type Action, type Caller, isRefused, notFound, type Refused, reaches, rightTo } from '../support/permissions.ts';
import type { Answer, CallOptions, Service } from '../support/service.ts';
import type { MatrixTable, Row } from './world.ts';

/** One caller at one table. */
export interface Seat {
  service: Service;
  caller: Caller;
  table: MatrixTable;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/** Whether the caller reaches a record by an action, or how he is refused. */
export function verdict({ caller, table }: Seat, action: Action, needed: 'read' | 'write', row: Row): 'reached' | Refused {
  const right = rightTo(caller, action, table);
  if (isRefused(right)) return right;
  return reaches(caller, right, needed, row) ? 'reached' : notFound;
}

/** The names of rows, sorted. */
export const ks = (rows: readonly { k: string }[]) => rows.map(({ k }) => k).sort();
