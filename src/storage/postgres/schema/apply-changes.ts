import { applyStep, type SchemaChange, stepsOf } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Session } from '../connection/database.ts';
import { saveStatements } from './catalog.ts';
import { applyDdl, readsRecords } from './ddl.ts';

/**
 * Transactions that create more tables than this run one at a time. Each table takes about twenty locks, and the server has a few thousand for all
 * sessions.
 */
const SERIALIZE_ABOVE_TABLES = 20;

/** Serialises transactions that create many tables. */
const oneAtATime: Statement = {
  text: `SELECT pg_advisory_xact_lock(hashtextextended('record-service many tables', 0))`,
  params: [],
};

/**
 * Executes and stores the schema changes of a write, in a transaction that has locked the catalogue (`lockCatalog`). Statements are pipelined
 * unless they depend on data that is read first: the tables of a new system take one round trip.
 * @returns the schema after them; the version of the catalogue (`Catalog.changes`) has grown by one
 * @throws schemaOperation (255) if a table to drop has records
 */
export async function applyChanges(
  session: Session,
  schemaName: string,
  changes: readonly SchemaChange[],
  before: Schema,
): Promise<Schema> {
  const created = new Set<string>();
  let sent: Promise<unknown>[] = [];
  if (changes.filter(({ kind }) => kind === 'createTable').length > SERIALIZE_ABOVE_TABLES) await session.query(oneAtATime);
  let current = before;
  for (const step of stepsOf(changes)) {
    const after = applyStep(current, step);
    if (step.kind === 'createTable') created.add(step.className);
    const isNew = step.kind !== 'setTemplateVersion' && created.has(step.className);
    const done = applyDdl(session, schemaName, step, current, after, isNew);
    // `allOf` throws it below; until then an unhandled rejection would end the process.
    done.catch(() => {});
    sent.push(done);
    if (readsRecords(step)) {
      await allOf(sent);
      sent = [];
    }
    current = after;
  }
  await allOf([...sent, ...saveStatements(schemaName, changes, before, current).map((statement) => session.query(statement))]);
  return current;
}

/** Throws the error of the first failed statement in order. It has created the later ones fail, whose errors may arrive earlier. */
async function allOf(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
