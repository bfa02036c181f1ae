import type { Schema } from '../../../schema/model.ts';
import type { Condition, Mutation, WritePlan } from '../../port.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { quotedName } from '../sql/names.ts';
import { usesFilter } from './lock-set.ts';
import type { QueuedWrite } from './queued-write.ts';

/**
 * A lock request timed out: another session has locked a table or a record. Nothing was written. Writes that need none of the obstacles may
 * continue.
 */
export class Obstructed extends Error {
  /** Names of what is locked, as returned by `obstaclesOf`. */
  readonly obstacles: readonly string[];

  constructor(obstacles: readonly string[], cause: unknown) {
    super('a lock was not had in time', { cause });
    this.obstacles = obstacles;
  }
}

/** Obstacle: a table of the database, or the table of a Relation, by its SQL name. */
export const tableObstacle = (name: string): string => `table ${quotedName(name)}`;
/** Obstacle of schema changes only: readers of the table. */
const changeObstacle = (className: string): string => `change ${className}`;
/** @param record as in `QueuedWrite.records` */
const recordObstacle = (record: string): string => `record ${record}`;
/** Obstacle of a write whose steps all find their records by filters: some record of the table. */
const filterObstacle = (className: string): string => `filter ${className}`;
/** Obstacle of a write that names nothing. */
const UNNAMED_OBSTACLE = 'unnamed';
/** Whether an obstacle is a table, for which the database reports who holds it. */
export const isTableObstacle = (obstacle: string): boolean => obstacle.startsWith('table ');

type Write = Pick<QueuedWrite, 'plan' | 'plannedUnder' | 'records' | 'behind'>;

/** Cached, because it is needed repeatedly while a write waits. */
const cache = new WeakMap<WritePlan, readonly string[]>();

/** Returns all obstacles that a write may meet. Leaves out tables that its filters read: such a write is then found by its records. */
export function obstaclesOf(write: Write): readonly string[] {
  let obstacles = cache.get(write.plan);
  if (!obstacles) {
    obstacles = findObstacles(write);
    cache.set(write.plan, obstacles);
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

/** Returns obstacles by a write's records; if it names none, by the tables that its steps search. */
const recordObstaclesOf = ({ plan, records }: Pick<Write, 'plan' | 'records'>): string[] =>
  records.length > 0
    ? records.map(recordObstacle)
    : plan.mutations.filter(usesFilter).map(({ table }) => filterObstacle(table.className));

/** Returns the tables in which the order of a turn's writes is observable: log rows (`isNote`) may come in any order. */
export function orderedBy({ plan, plannedUnder }: Write): string[] {
  const ordered = plan.mutations.filter((mutation) => !(mutation.kind === 'insert' && mutation.isNote));
  return [...new Set(ordered.flatMap((mutation) => tablesIn(mutation, plannedUnder)))];
}

/**
 * Returns the obstacles of writes if no locked table is found: readers of the table for schema changes, records for other writes. Write-behind rows
 * keep their order, so an obstacle of one delays all of its table.
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
    // A delete reads references to the record, and removes it from Relations.
    for (const field of table.fields.values()) if (field.type === 'Relation') tables.push(field.column);
    for (const { table: from, field } of schema.referencesTo.get(table.className) ?? [])
      tables.push(field.type === 'Relation' ? field.column : from.sqlName);
  }
  return tables.map(tableObstacle);
}

/** SQL condition on locks `l` and relations `c`: locks of tables of a system, whose schema is the first parameter. */
export const isTableOfSystem = `l.locktype = 'relation' AND c.relnamespace = to_regnamespace($1)
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Queries which tables of a system have a held or requested lock that blocks writes. */
export function heldTables(schemaName: string): Statement {
  return {
    text: `SELECT DISTINCT c.relname FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
      WHERE ${isTableOfSystem}
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`,
    params: [quotedName(schemaName)],
  };
}
