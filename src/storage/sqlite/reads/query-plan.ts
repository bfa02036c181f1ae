import type { Schema } from '../../../schema/model.ts';
import type { PlanStep } from '../../query-plan.ts';
import { CREATION_ORDER, type NamedTable, PlanNames } from '../../sql/plan-names.ts';
import type { ReadPlan } from '../../sql/reads/read-plan.ts';
import type { Statement } from '../../sql/sql-writer.ts';

/** Alias of the table that a query reads (storage/sql/select.ts). */
const MAIN = 't';

/** Returns the read of a statement's plan. */
export const explainPlan = ({ text, params }: Statement): ReadPlan => ({
  text: `EXPLAIN QUERY PLAN ${text}`,
  params,
  shape,
  includes: [],
});

const number = { storage: 'number' } as const;
const shape: ReadPlan['shape'] = {
  columns: [
    { name: 'id', ...number },
    { name: 'parent', ...number },
    { name: 'unused', ...number },
    { name: 'detail', storage: 'text' },
  ],
};

/** Returns the column `detail` of what `explainPlan` read. */
export const explainedDetails = (json: string): string[] =>
  (JSON.parse(json) as { detail: string }[]).map(({ detail }) => detail);

/**
 * Translates the rows of `EXPLAIN QUERY PLAN`, whose wording is not a fixed interface: what is unknown is left out.
 * @param text the statement, which says what table an alias stands for
 * @param details column `detail` of the rows
 */
export function planSteps(text: string, details: readonly string[], schema: Schema): PlanStep[] {
  const names = new PlanNames(schema);
  const aliases = aliasesOf(text);
  const main = aliases.get(MAIN);
  // A table whose records are only counted has its own name in the plan.
  const isMain = (alias: string) => alias === MAIN || alias === main;
  const tableOf = (alias: string) => names.tableOf(aliases.get(alias) ?? alias);
  return details.flatMap((detail) => stepOf(detail, { tableOf, isMain }, names) ?? []);
}

/** Returns the tables of a statement by alias. Its texts are bound, so that it has no other quotes. */
function aliasesOf(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/"((?:[^"]|"")+)" AS (\w+)/g);
  return new Map([...found].map(([, table = '', alias = '']) => [alias, table.replaceAll('""', '"')]));
}

const readForm =
  /^(SCAN|SEARCH) (\S+)(?: USING (?:AUTOMATIC )?(?:PARTIAL )?(?:COVERING )?(INDEX|INTEGER PRIMARY KEY)(?: (.+?))?)?(?: \((.*)\))?$/;

/** What the aliases of a statement stand for. */
interface Aliases {
  readonly tableOf: (alias: string) => NamedTable | undefined;
  /** Whether it is the table that the query reads. */
  readonly isMain: (alias: string) => boolean;
}

function stepOf(detail: string, { tableOf, isMain }: Aliases, names: PlanNames): PlanStep | null {
  if (detail.startsWith('USE TEMP B-TREE FOR')) {
    if (detail.endsWith('FOR ORDER BY')) return { kind: 'sort' };
    if (detail.endsWith('ORDER BY')) return { kind: 'sort', isPartial: true };
    return { kind: 'other', about: detail.endsWith('GROUP BY') ? 'grouping of the results' : 'removal of duplicates' };
  }
  const [, verb, alias = '', by, index = '', conditions = ''] = readForm.exec(detail) ?? [];
  const named = verb === undefined ? undefined : tableOf(alias);
  if (!named) return null;
  const found = by === undefined ? undefined : by === 'INDEX' ? names.indexOf(named, index) : CREATION_ORDER;
  const fields = names.fieldsOf(named, columnsOf(conditions));
  return {
    kind: verb === 'SCAN' ? 'scan' : 'search',
    table: named.name,
    ...(isMain(alias) && { isMain: true }),
    ...(found !== undefined && { index: found }),
    ...(fields.length > 0 && { fields }),
  };
}

/** Returns the columns of `City=? AND Age>? AND Age<?`. */
const columnsOf = (conditions: string): string[] =>
  conditions.split(' AND ').map((condition) => condition.replace(/[=<>].*$/, ''));
