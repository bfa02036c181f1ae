import type { Include, Selection } from '../../../query/model/selection.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type IncludePlan, includePlans, type JoinedRecord, type ReadPlan, readPlan } from '../../sql/reads/read-plan.ts';
import { includePositions, type RowContext, rowFields, rowShape } from '../../sql/row-layout.ts';
import { writeByKey } from '../../sql/select.ts';
import { SqlWriter, type Statement } from '../../sql/writer.ts';

/** Columns of a result; PostgreSQL takes 1,664. */
const MAX_COLUMNS = 1_600;
/** Records that come with one row; planners think the longer the more there are. */
const MAX_JOINS = 10;

/** An include that is joined, with those below it. */
interface Branch {
  readonly position: number;
  readonly target: Selection;
  readonly below: readonly Branch[];
}

/**
 * The job of a selection, given its compiled statement, whose includes of Pointers come in its own rows: one round trip, one moment. Arrays
 * of Pointers, whose classes only the data tells, and what would be too wide stay includes that are read afterwards.
 */
export function joinedPlan(
  selection: Selection,
  statement: Statement,
  dialect: Dialect,
  context: RowContext,
  expanded = false,
): ReadPlan {
  const { joined, paged } = divided(selection);
  const job = { ...readPlan(selection, statement, context, expanded), includes: paged };
  if (joined.length === 0) return job;
  const out = new SqlWriter(dialect);
  out.params.push(...statement.params);
  const writer = new JoinWriter(out, widthOf(selection), context);
  out
    .add('SELECT * FROM (')
    .add(statement.text)
    .add(`) AS r0${writer.columns(writer.width)}`);
  const joins = writer.join('r0', joined);
  return { ...job, ...out.statement(), joins };
}

/** Columns of the rows that a selection's statement gives. */
function widthOf(selection: Selection): number {
  return rowFields(selection).length + ('withScore' in selection && selection.withScore ? 1 : 0);
}

/** The includes that are joined, and those that are read afterwards. Where the caller may not read the target the Pointer stays bare. */
function divided(selection: Selection): { joined: Branch[]; paged: IncludePlan[] } {
  const joined: Branch[] = [];
  const paged: IncludePlan[] = [];
  if (selection.includes.length === 0) return { joined, paged };
  const room = { columns: MAX_COLUMNS - widthOf(selection), joins: MAX_JOINS };
  const jobs = includePlans(selection);
  for (const [index, { include, position }] of includePositions(selection).entries()) {
    const branch = branchOf(include, position);
    if (branch === 'bare') continue;
    const need = branch && sizeOf(branch);
    if (!branch || !need || need.columns > room.columns || need.joins > room.joins) {
      paged.push(jobs[index] as IncludePlan);
      continue;
    }
    room.columns -= need.columns;
    room.joins -= need.joins;
    joined.push(branch);
  }
  return { joined, paged };
}

/** `null` where it cannot be joined, since there is an Array on its way. */
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

function sizeOf({ target, below }: Branch): { columns: number; joins: number } {
  const size = { columns: widthOf(target), joins: 1 };
  for (const branch of below) {
    const { columns, joins } = sizeOf(branch);
    size.columns += columns;
    size.joins += joins;
  }
  return size;
}

class JoinWriter {
  readonly #out: SqlWriter;
  readonly #context: RowContext;
  #aliases = 0;
  /** Columns so far. */
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
   * LATERAL with a LIMIT looks each record up for its row: the rows stay in their order, come as soon as they are found, and are no more than
   * the statement says. A plain join would be free to read all of both tables first.
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
