import { memoByObject } from '../kernel/memo.ts';
import type { TableSchema } from './model.ts';

/** Returns the SQL names that new tables must not get. Cached, since every record of a new table in a batch needs it. */
export const sqlNamesOf = memoByObject(
  (tables: ReadonlyMap<string, TableSchema>): ReadonlySet<string> =>
    new Set(Array.from(tables.values(), ({ sqlName }) => firstName(sqlName).toLowerCase())),
);

/**
 * Returns a free SQL name. SQL ignores case and the interface does not, so `Name` and `name` need two columns. `~` cannot occur in a name of
 * the interface, so a generated name collides with none.
 */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${wanted}~${n}`;
  return name;
}

/** Ends the SQL name of every second copy of a table. */
const COPY = '~r';

/** Returns the SQL name of a copy that takes the place of a table: one of two in turn, both of which count as taken (`sqlNamesOf`). */
export const copyName = ({ sqlName }: TableSchema): string => (sqlName.endsWith(COPY) ? firstName(sqlName) : `${sqlName}${COPY}`);

/** Returns the SQL name that a table had before it was copied. Join tables keep names that begin like it. */
const firstName = (sqlName: string): string => (sqlName.endsWith(COPY) ? sqlName.slice(0, -COPY.length) : sqlName);
