import type { Connection, Json } from './connection.ts';

/** What the chores of a run hand on to those after them. */
export interface Day extends Connection {
  /** Four digits that tell this run's records from those of others. */
  readonly run: string;
  readonly startedAt: string;
  /** Who has the tasks and meetings. */
  ownerId?: string | undefined;
  leadIds?: readonly string[];
  customerId?: string | undefined;
  saleId?: string;
}

/** Does one thing and answers what it did, in a line. */
export type Chore = (day: Day) => Promise<string>;

/** What an earlier chore has found; throws where none has. */
export function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an earlier chore has not run');
  return value;
}

export const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });

/** The first value of a lookup table; the ids are what Pointer fields store. */
export async function lookup({ use }: Connection, table: string, search?: string): Promise<Json> {
  const { results } = await use('Get-Lookup-Values', { tables: [table], ...(search && { search }) });
  return known(results[0].values[0]);
}
