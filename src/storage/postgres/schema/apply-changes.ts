import { applyStep, type SchemaChange, stepsOf } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Session } from '../connection/database.ts';
import { saveStatements } from './catalog.ts';
import { applyDdl, readsRecords } from './ddl.ts';

/** New tables of one transaction that are many: each takes some twenty locks, and the server has some thousands for all its sessions. */
const MAX_TABLES_AT_ONCE = 20;

/** Has transactions that make many tables wait for each other. */
const oneAtATime: Statement = {
  text: `SELECT pg_advisory_xact_lock(hashtextextended('record-service many tables', 0))`,
  params: [],
};

/**
 * Carries the schema changes of a write out and stores them, inside a transaction that has locked the catalogue (`lockCatalog`). Statements
 * are sent without waiting for each other wherever they do not depend on what is read: a new system's tables take one round trip.
 * @returns the schema after them; the number of changes of the catalogue (`Catalog.changes`) has grown by one
 * @throws schemaOperation (255) where a table to drop has records
 */
export async function applyChanges(
  session: Session,
  schemaName: string,
  changes: readonly SchemaChange[],
  before: Schema,
): Promise<Schema> {
  const made = new Set<string>();
  let sent: Promise<unknown>[] = [];
  if (changes.filter(({ kind }) => kind === 'createTable').length > MAX_TABLES_AT_ONCE) await session.query(oneAtATime);
  let current = before;
  for (const step of stepsOf(changes)) {
    const after = applyStep(current, step);
    if (step.kind === 'createTable') made.add(step.className);
    const isNew = step.kind !== 'setTemplateVersion' && made.has(step.className);
    const done = applyDdl(session, schemaName, step, current, after, isNew);
    // Told of below; a rejection that nobody has asked about yet ends the process.
    done.catch(() => {});
    sent.push(done);
    if (readsRecords(step)) {
      await allOf(sent);
      sent = [];
    }
    current = after;
  }
  await allOf([...sent, ...saveStatements(schemaName, changes, current).map((statement) => session.query(statement))]);
  return current;
}

/** Throws the error of the first in order: it has failed those that were sent after it, and theirs may be heard of sooner. */
async function allOf(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
