import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { fail } from '../../../errors/fail.ts';

/** What SQLite says of statements beyond its limits (https://sqlite.org/limits.html). */
const tooLarge = /^(?:Expression tree is too large|too many SQL variables|parser stack overflow)/;

/** Prepares a statement whose rows come as arrays. @throws badQuery (102) for a statement larger than SQLite takes, as a query of many sub-queries in each other can be */
export function prepare(db: DatabaseSync, text: string): StatementSync {
  let statement: StatementSync;
  try {
    statement = db.prepare(text);
  } catch (error) {
    if (error instanceof Error && tooLarge.test(error.message)) fail('badQuery', 'the query is too large');
    throw error;
  }
  statement.setReturnArrays(true);
  return statement;
}
