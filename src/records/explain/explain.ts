import { authorize, refuseOutright, requireMasterKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { buildQuery, type FindOptions, redirected } from '../../query/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { type PlanStep, stepText } from '../../storage/query-plan.ts';
import type { RecordContext } from '../context/context.ts';
import { retryOnSchemaChange } from '../read/find.ts';
import { type Advice, adviseIndexes } from './advice.ts';
import { countsOf, MAX_COUNTED, mainStepOf } from './counts.ts';

/** How the database would run a query. Reference: explain.md#answer. */
export interface Explanation {
  /** Its steps, in words. */
  readonly plan: readonly string[];
  /** Records that the step which reads the table goes through, if nothing ends it earlier; counted, up to `MAX_COUNTED`. */
  readonly rowsRead?: number;
  /** The index that this step uses. */
  readonly index?: string;
  readonly advice?: Advice;
}

/**
 * Explains a query without running it. Reference: explain.md#request.
 * @throws masterKeyRequired (403), classMissing (103), timeout (124); what `findRecords` throws for the options
 */
export function explainRecords(context: RecordContext, className: string, options: FindOptions): Promise<Explanation> {
  const { store, principal, patterns } = context;
  requireMasterKey(principal);
  return retryOnSchemaChange(store, async (schema) => {
    const began = performance.now();
    refuseOutright(principal, 'find', className);
    const requested = schema.tables.get(className) ?? fail('classMissing', className.slice(0, limits.nameLength));
    const scope = { schema, principal, patterns };
    const key = options.redirectClassNameForKey;
    const table = (key === undefined ? requested : redirected(requested, key, scope)) ?? fail('classMissing', className);
    refuseOutright(principal, 'find', table.className);
    const query = buildQuery(options, authorize(principal, 'find', table, schema), scope);
    const plan = await store.reader.explain(query);
    const counts = await countsOf(store.reader, query, plan);
    const advice = await adviseIndexes(store.reader, query, plan, counts, began);
    const { rowsRead } = counts;
    const index = mainStepOf(plan)?.index;
    return {
      plan: plan.steps.map((step) => stepText(step, isWholeTable(step, query.table) ? numberText(counts.records) : undefined)),
      ...(rowsRead !== undefined && { rowsRead }),
      ...(index !== undefined && { index }),
      ...(advice && { advice }),
    };
  });
}

const isWholeTable = ({ kind, table }: PlanStep, { className }: TableSchema) => kind === 'scan' && table === className;

const numberText = (records: number) =>
  records >= MAX_COUNTED ? `${MAX_COUNTED.toLocaleString('en')} or more` : records.toLocaleString('en');
