import type { Client } from '../../client/src/index.ts';
import type { Connection, Json } from './connection.ts';

/** State that the tasks of a run pass on. */
export interface Day extends Connection {
  /** Four digits that distinguish the records of this run. */
  readonly run: string;
  readonly startedAt: string;
  /** The REST interface of the same system, to check what the tools have written; a key opens both, an access token only the tools. */
  readonly crm: Client | undefined;
  /** Owner of the tasks and meetings. */
  ownerId?: string | undefined;
  leadIds?: readonly string[];
  customerId?: string | undefined;
  saleId?: string;
}

/** Performs one task and returns a line about its result. */
export type Chore = (day: Day) => Promise<string>;

/** Returns what an earlier task has found; throws if it did not run. */
export function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an earlier chore has not run');
  return value;
}

/** Returns the first value of a lookup table; Pointer fields store its id. */
export async function lookup({ use }: Connection, table: string, search?: string): Promise<Json> {
  const { results } = await use('Get-Lookup-Values', { tables: [table], ...(search && { search }) });
  return known(results[0].values[0]);
}
