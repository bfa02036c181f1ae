import type { Schema } from '../../../schema/model.ts';
import type { Condition, Mutation, WritePlan } from '../../port.ts';
import type { Statement } from '../../sql/writer.ts';
import { quotedName } from '../sql/names.ts';
import { namesNoRecord } from './lock-set.ts';
import type { QueuedWrite } from './queued-write.ts';

/**
 * A lock was not had in time: another session has a table, or a record. Nothing was done. Writes that need none of what is named may go on meanwhile.
 */
export class Obstructed extends Error {
  /** Names of what is held, as `obstaclesOf` has them. */
  readonly obstacles: readonly string[];

  constructor(obstacles: readonly string[], cause: unknown) {
    super('a lock was not had in time', { cause });
    this.obstacles = obstacles;
  }
}

/** A table of the database, or the table of a Relation, by its name there. */
export const tableObstacle = (name: string): string => `table ${quotedName(name)}`;
/** What holds up a change of a table's schema alone: its readers. */
const changeObstacle = (className: string): string => `change ${className}`;
/** @param record as `QueuedWrite.records` has it */
const recordObstacle = (record: string): string => `record ${record}`;
/** What holds up a write all steps of which find their records by filters: some of these. */
const filterObstacle = (className: string): string => `filter ${className}`;
/** What holds up a write that names nothing. */
const UNNAMED_OBSTACLE = 'unnamed';
/** Whether others of its kind are told from it by the table they are of, and the database says which of these are held. */
export const isTableObstacle = (obstacle: string): boolean => obstacle.startsWith('table ');

type Write = Pick<QueuedWrite, 'plan' | 'plannedUnder' | 'records' | 'behind'>;

/** Asked again and again while a write waits. */
const known = new WeakMap<WritePlan, readonly string[]>();

/** All that a write may be held up by. What it reads by filters that name other tables is left out: it is found by its records then. */
export function obstaclesOf(write: Write): readonly string[] {
  let obstacles = known.get(write.plan);
  if (!obstacles) {
    obstacles = findObstacles(write);
    known.set(write.plan, obstacles);
  }
  return obstacles;
}

function findObstacles({ plan, plannedUnder, records, behind }: Write): readonly string[] {
  const { mutations, changes, conditions = [] } = plan;
  const changed = changes.flatMap((change) => {
    if (!('className' in change)) return [];
    const table = plannedUnder.tables.get(change.className);
    return [changeObstacle(change.className), ...(table ? [tableObstacle(table.sqlName)] : [])];
  });
  const obstacles = new Set([
    ...mutations.flatMap((mutation) => tablesIn(mutation, plannedUnder)),
    ...conditions.map(tableOfCondition),
    ...changed,
    ...(behind ? [] : recordObstaclesOf({ plan, records })),
  ]);
  return obstacles.size > 0 ? [...obstacles] : [UNNAMED_OBSTACLE];
}

/** By its records; of a write that names none, by what its steps look for. */
const recordObstaclesOf = ({ plan, records }: Pick<Write, 'plan' | 'records'>): string[] =>
  records.length > 0
    ? records.map(recordObstacle)
    : plan.mutations.filter(namesNoRecord).map(({ table }) => filterObstacle(table.className));

/** Those of its tables in which the order of a turn's writes can be told: rows that only tell of a write may come in any order. */
export function orderedBy({ plan, plannedUnder }: Write): string[] {
  const ordered = plan.mutations.filter((mutation) => !(mutation.kind === 'insert' && mutation.isNote));
  return [...new Set(ordered.flatMap((mutation) => tablesIn(mutation, plannedUnder)))];
}

/**
 * What holds up writes where no table is said to be held: changes of the schema are held up by readers of the table, other writes by
 * their records. Rows that are written behind keep the order in which they came, so what holds up one holds up all of its table.
 */
export function unnamedObstacles(writes: readonly Write[]): string[] {
  const changes = writes.flatMap(({ plan }) =>
    plan.changes.flatMap((change) => ('className' in change ? [changeObstacle(change.className)] : [])),
  );
  if (changes.length > 0) return changes;
  return writes.flatMap((write) => {
    const records = write.behind ? [] : recordObstaclesOf(write);
    return records.length > 0 ? records : obstaclesOf(write);
  });
}

const tableOfCondition = (condition: Condition): string =>
  tableObstacle(condition.kind === 'absent' ? condition.table.sqlName : 'rds_keys');

function tablesIn(mutation: Mutation, schema: Schema): string[] {
  const { kind, table } = mutation;
  const tables = [table.sqlName];
  if (kind === 'insert' && mutation.source) tables.push(mutation.source.from.sqlName);
  if (kind === 'link' || kind === 'unlink') tables.push(mutation.relation.column);
  if (kind === 'delete') {
    // It looks at the references to the record, and takes it out of Relations.
    for (const field of table.fields.values()) if (field.type === 'Relation') tables.push(field.column);
    for (const { table: from, field } of schema.referencesTo.get(table.className) ?? [])
      tables.push(field.type === 'Relation' ? field.column : from.sqlName);
  }
  return tables.map(tableObstacle);
}

/** Of locks `l` and relations `c`: the locks of the tables of a system, whose schema is the first parameter. */
export const isTableOfSystem = `l.locktype = 'relation' AND c.relnamespace = to_regnamespace($1)
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Asks which tables of a system somebody holds, or waits for, in a way that keeps writes from them. */
export function heldTables(schemaName: string): Statement {
  return {
    text: `SELECT DISTINCT c.relname FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
      WHERE ${isTableOfSystem}
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`,
    params: [quotedName(schemaName)],
  };
}
