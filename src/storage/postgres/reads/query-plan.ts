import type { Schema } from '../../../schema/model.ts';
import type { PlanStep, QueryPlan } from '../../query-plan.ts';
import { type NamedTable, PlanNames } from '../../sql/plan-names.ts';
import { shortened } from '../sql/names.ts';

/** Alias of the table that a query reads (storage/sql/select.ts). */
const MAIN = 't';

/** A node of `EXPLAIN (FORMAT JSON)`, as far as it is used. Its conditions contain values: they never leave this file. */
interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Total Cost'?: number;
  readonly Plans?: readonly Node[];
}

/** Translates a plan of PostgreSQL. @param json the text that it returned */
export function planOf(json: string, schema: Schema): QueryPlan {
  const [explained] = JSON.parse(json) as [{ readonly Plan: Node }];
  const names = new PlanNames(schema, shortened);
  const cost = explained.Plan['Total Cost'];
  return { steps: [...stepsOf(explained.Plan, names)], ...(cost !== undefined && { cost }) };
}

/** Yields the steps in the order in which they are done. @param outer the table of a bitmap scan around it */
function* stepsOf(node: Node, names: PlanNames, outer?: Node): Generator<PlanStep> {
  const type = node['Node Type'];
  const isBitmap = type === 'Bitmap Heap Scan' || (type.startsWith('Bitmap') && outer !== undefined);
  for (const part of node.Plans ?? []) yield* stepsOf(part, names, isBitmap ? (outer ?? node) : undefined);
  if (type === 'Sort') yield { kind: 'sort' };
  else if (type === 'Incremental Sort') yield { kind: 'sort', isPartial: true };
  else if (type === 'Custom Scan') yield { kind: 'other', about: 'read on the nodes of the cluster' };
  else if (type === 'Seq Scan' || type === 'Index Scan' || type === 'Index Only Scan' || type === 'Bitmap Index Scan')
    yield* readOf(node, type === 'Bitmap Index Scan' ? (outer ?? node) : node, names);
}

function* readOf(node: Node, { 'Relation Name': relation = '', Alias: alias }: Node, names: PlanNames): Generator<PlanStep> {
  const named = names.tableOf(relation);
  if (!named) return;
  const { 'Index Name': sqlIndex, 'Index Cond': condition } = node;
  const index = sqlIndex === undefined ? undefined : names.indexOf(named, sqlIndex);
  const fields = condition === undefined ? [] : fieldsIn(condition, named, names);
  yield {
    kind: condition === undefined ? 'scan' : 'search',
    table: named.name,
    ...(alias === MAIN && { isMain: true }),
    ...(index !== undefined && { index }),
    ...(fields.length > 0 && { fields }),
  };
}

/** Returns the fields that a condition names, such as `("City" = 'Haifa'::text)`. */
function fieldsIn(condition: string, named: NamedTable, names: PlanNames): string[] {
  const withoutTexts = condition.replace(/'(?:[^']|'')*'/g, '');
  const identifiers = withoutTexts.matchAll(/"((?:[^"]|"")+)"|([A-Za-z_][A-Za-z0-9_]*)/g);
  return names.fieldsOf(
    named,
    [...identifiers].map(([, quoted, plain = '']) => quoted ?? plain),
  );
}
