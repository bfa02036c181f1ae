import type { Include, Selection } from '../../../query/model/selection.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type IncludePlan, includePlans, type JoinedRecord, type ReadPlan, readPlan } from '../../sql/reads/read-plan.ts';
import { includePositions, type RowContext, rowFields, rowShape } from '../../sql/row-layout.ts';
import { writeByKey } from '../../sql/select.ts';
import { SqlWriter, type Statement } from '../../sql/sql-writer.ts';

/** Maximum columns of a result; PostgreSQL allows 1,664. */
const MAX_COLUMNS = 1_600;
/** Maximum records joined to one row; planning time grows with their number. */
const MAX_JOINS = 10;

/** An include that is joined, with its nested includes. */
interface Branch {
  readonly position: number;
  readonly target: Selection;
  readonly below: readonly Branch[];
}

/**
 * Returns the read plan of a selection, given its compiled statement, with includes of Pointers joined: one round trip, one snapshot. Arrays of
 * Pointers (their classes are known only from the data) and includes that would exceed the limits remain includes that are read afterwards.
 */
export function joinedPlan(
  selection: Selection,
  statement: Statement,
  dialect: Dialect,
  context: RowContext,
  expanded = false,
): ReadPlan {
  const { joined, paged } = divideIncludes(selection);
  const plan = { ...readPlan(selection, statement, context, expanded), includes: paged };
  if (joined.length === 0) return plan;
  const out = new SqlWriter(dialect);
  out.params.push(...statement.params);
  const writer = new JoinWriter(out, widthOf(selection), context);
  out
    .add('SELECT * FROM (')
    .add(statement.text)
    .add(`) AS r0${writer.columns(writer.width)}`);
  const joins = writer.join('r0', joined);
  return { ...plan, ...out.statement(), joins };
}

/** Number of columns of the rows that a selection's statement returns. */
function widthOf(selection: Selection): number {
  return rowFields(selection).length + ('withScore' in selection && selection.withScore ? 1 : 0);
}

/** Divides the includes into joined ones and ones that are read afterwards. If the caller may not read the target, the Pointer is not expanded. */
function divideIncludes(selection: Selection): { joined: Branch[]; paged: IncludePlan[] } {
  const joined: Branch[] = [];
  const paged: IncludePlan[] = [];
  if (selection.includes.length === 0) return { joined, paged };
  const room = { columns: MAX_COLUMNS - widthOf(selection), joins: MAX_JOINS };
  const plans = includePlans(selection);
  for (const [index, { include, position }] of includePositions(selection).entries()) {
    const branch = branchOf(include, position);
    if (branch === 'bare') continue;
    const size = branch && sizeOfBranch(branch);
    if (!branch || !size || size.columns > room.columns || size.joins > room.joins) {
      paged.push(plans[index] as IncludePlan);
      continue;
    }
    room.columns -= size.columns;
    room.joins -= size.joins;
    joined.push(branch);
  }
  return { joined, paged };
}

/** Returns `null` if it cannot be joined, because its path contains an Array. */
function branchOf(include: Include, position: number): Branch | 'bare' | null {
  if ('targetOf' in include) return null;
  const { target } = include;
  if (!target) return 'bare';
  const below: Branch[] = [];
  for (const each of includePositions(target)) {
    const branch = branchOf(each.include, each.position);
    if (branch === null) return null;
    if (branch !== 'bare') below.push(branch);
  }
  return { position, target, below };
}

function sizeOfBranch({ target, below }: Branch): { columns: number; joins: number } {
  const size = { columns: widthOf(target), joins: 1 };
  for (const branch of below) {
    const { columns, joins } = sizeOfBranch(branch);
    size.columns += columns;
    size.joins += joins;
  }
  return size;
}

class JoinWriter {
  readonly #out: SqlWriter;
  readonly #context: RowContext;
  #aliases = 0;
  /** Number of columns written so far. */
  width: number;

  constructor(out: SqlWriter, width: number, context: RowContext) {
    this.#out = out;
    this.#context = context;
    this.width = width;
  }

  columns(count: number): string {
    return `(${Array.from({ length: count }, (_, n) => `c${n}`).join(', ')})`;
  }

  /**
   * Writes the joins. LATERAL with LIMIT looks up each record for its row, so the rows keep their order and stream as they are found, and no more
   * are read than the limit of the statement. With a plain join the planner could read both whole tables first.
   */
  join(holder: string, branches: readonly Branch[]): JoinedRecord[] {
    return branches.map(({ position, target, below }) => {
      this.#aliases += 1;
      const alias = `r${this.#aliases}`;
      const out = this.#out.add(' LEFT JOIN LATERAL (');
      writeByKey(out, target, (table) => out.column(table, 'objectId').add(` = ${holder}.c${position}`));
      const width = widthOf(target);
      out.add(` LIMIT 1) AS ${alias}${this.columns(width)} ON true`);
      const from = this.width;
      this.width += width;
      return { position, from, to: this.width, shape: rowShape(target, this.#context, true), joins: this.join(alias, below) };
    });
  }
}
