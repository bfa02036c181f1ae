import { errorOfItem, isInDoubt, isUnavailable, ServiceError } from '../../errors/fail.ts';
import { nextWriteOrder } from '../../kernel/ids.ts';
import { traced } from '../../observe/index.ts';
import { applyChanges, type SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import { refuseLarge } from '../../storage/column-values.ts';
import type { Condition, Mutation, UpdateResult, WriteOutcome, WritePlan } from '../../storage/port.ts';
import { forgetChecked } from '../../values/index.ts';
import type { RecordContext, RecordSteps } from '../context/context.ts';
import type { ResolvedFiles } from '../context/file-keeper.ts';
import type { AddedSteps, Attempt, RuledFields, WriteEvent, WriteObserver } from '../context/write-hooks.ts';
import { retryOutdated } from './before-save.ts';
import { knownDuplicate } from './duplicates.ts';
import { type FieldsWrite, noResolvedFiles, resolveFiles } from './file-attachments.ts';

/** A plan of a write, with one event for each record, for the observers. */
export type RecordPlan = WritePlan & {
  readonly events: readonly WriteEvent[];
  /** If there are several records: the plan by record. Their steps, and what observers add for them, follow each other as those of single writes. */
  readonly parts?: readonly RecordSteps[];
};

/** A prepared write of one record: the caller is authorised as far as possible without a plan, and the rules of the table have been applied. */
export interface PreparedRecord extends FieldsWrite {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** As in `RuledFields`. */
  readonly version?: number | undefined;
  /** As in `RuledFields`. */
  readonly conditions?: RuledFields['conditions'] | undefined;
  /** Pure. */
  plan(schema: Schema, resolved: ResolvedFiles): RecordPlan;
}

/** What a commit contains besides its records. */
export interface CommitAdditions {
  /** Conditions beside those of the records. Pure. */
  readonly conditions?: (schema: Schema) => readonly Condition[];
  /** Schema changes, before those of the records. Pure. */
  readonly changes?: (schema: Schema) => readonly SchemaChange[];
  /** Steps after those of the records. Pure. */
  readonly steps?: (schema: Schema) => readonly Mutation[];
}

/** Records that were written. */
export interface Committed {
  readonly records: readonly PreparedRecord[];
  /** As in `WriteOutcome`, by the position of their record. */
  readonly updates: ReadonlyMap<number, UpdateResult>;
}

/** Returns when the n-th record was written, as it is stored, in milliseconds since 1970. */
export const writtenAt = ({ records, updates }: Committed, item = 0): number =>
  updates.get(item)?.updatedAt ?? (records[item] as PreparedRecord).at;

/**
 * Writes records in one commit, all of them or none: prepare → plan → commit → notify. Prepares again if a record changed after the rules of its
 * table had read it; plans again if the commit refused a file.
 * @throws ConditionFailed if a condition of the context does not hold; what `prepare`, the plans and their steps throw
 */
export async function commitRecords(
  context: RecordContext,
  prepare: (attempt: Attempt) => Promise<readonly PreparedRecord[]>,
  additions: CommitAdditions = {},
): Promise<Committed> {
  const order = nextWriteOrder();
  // True: the rules read ahead what they will need, because a failed commit is not prepared again here (conditions of the context), or was
  // once already.
  let looksAhead = context.held !== undefined || context.conditions !== undefined;
  const prepareNow = () => {
    const attempt = { at: Date.now(), earlier: none, looksAhead };
    looksAhead = true;
    return prepare(attempt);
  };
  const commit = async (records: readonly PreparedRecord[], resolved: readonly ResolvedFiles[]): Promise<Committed> => {
    const { updates = none } = await commitPlan(context, (schema) => planRecords(records, schema, resolved, additions), order);
    return { records, updates: new Map(updates.map((one) => [one.item, one])) };
  };
  const commitOnce = async (records: readonly PreparedRecord[]): Promise<Committed> => {
    try {
      return await commit(records, []);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.key !== 'unknownFile') throw error;
    }
    return commit(records, await resolveFiles(context, records));
  };
  const prepared = await prepareNow();
  try {
    return await commitOnce(prepared);
  } catch (failure) {
    return await retryOutdated(context, { prepared, failure }, prepareNow, commitOnce);
  } finally {
    if (context.hasLongBody) for (const { fields } of prepared) forgetChecked(fields);
  }
}

/**
 * Plans several records, each under the schema that the earlier ones leave.
 * @param resolved by record; an empty list if no files were resolved
 * @throws what the plans throw, with the position of the record if there are several
 */
export function planRecords(
  records: readonly PreparedRecord[],
  schema: Schema,
  resolved: readonly ResolvedFiles[],
  { conditions: added = () => none, changes = () => none, steps = () => none }: CommitAdditions = {},
): RecordPlan {
  const before = changes(schema);
  // Conditions are checked before any step of the plan.
  const conditions = [...added(schema), ...records.flatMap((record) => record.conditions?.(schema) ?? none)];
  const [first] = records;
  const after = steps(schema);
  if (first && records.length === 1 && before.length + after.length === 0) {
    const planned = first.plan(schema, resolved[0] ?? noResolvedFiles);
    return conditions.length > 0 ? { ...planned, conditions } : planned;
  }
  let grown = applyChanges(schema, before);
  const plans = records.map((record, index) => {
    const planned = planItem(record, grown, resolved[index] ?? noResolvedFiles, index);
    grown = applyChanges(grown, planned.changes);
    return planned;
  });
  return {
    conditions,
    changes: [...before, ...plans.flatMap((planned) => planned.changes)],
    mutations: [...plans.flatMap(({ mutations }) => mutations), ...after],
    events: plans.flatMap(({ events }) => events),
    parts: after.length > 0 ? [...plans, { mutations: after, events: none }] : plans,
  };
}

/** Plans one of several records: its errors carry its position. */
function planItem(record: PreparedRecord, schema: Schema, resolved: ResolvedFiles, item: number): RecordPlan {
  try {
    return record.plan(schema, resolved);
  } catch (error) {
    throw errorOfItem(error, item);
  }
}

/**
 * Commits a plan with the additions of the observers, and notifies them once it is durable.
 * @param plan pure; called again if the schema changes before the write's turn
 * @param order of the write (`nextWriteOrder`)
 * @throws ConditionFailed if a condition of the context does not hold; what the plan and its steps throw
 */
export async function commitPlan(
  context: RecordContext,
  plan: (schema: Schema) => RecordPlan,
  order: number = nextWriteOrder(),
): Promise<WriteOutcome> {
  const { observers } = context.hooks;
  for (const observer of observers) {
    const ready = observer.ready?.(context);
    if (ready) await ready;
  }
  /** The plan made last is the one that is committed. */
  let observed: ObservedPlan = nothing;
  const planObserved = (schema: Schema) => {
    observed = observedPlan(context, schema, plan(schema));
    return observed;
  };
  try {
    const outcome = await traced('store.write', {}, () => context.store.write({ order, plan: planObserved }));
    if (context.progress) context.progress.hasWritten = true;
    for (const { event, observer, added } of observed.observed) observer.committed?.(event, context, added);
    return outcome;
  } catch (error) {
    if (isUnavailable(error) || isInDoubt(error))
      for (const { event, observer, added } of observed.observed) observer.inDoubt?.(event, context, added);
    throw knownDuplicate(error, context);
  }
}

/** What an observer added for an event. */
interface Observed {
  readonly event: WriteEvent;
  readonly observer: WriteObserver;
  readonly added: AddedSteps;
}

/** A plan with the steps that observers, conditions and the context add to it. */
interface ObservedPlan extends WritePlan {
  readonly observed: readonly Observed[];
}

const none: readonly never[] = [];
const noSteps: AddedSteps = {};
const nothing: ObservedPlan = { changes: none, mutations: none, observed: none };

/** @throws recordTooLarge for a step with too many bytes */
function observedPlan(context: RecordContext, schema: Schema, planned: RecordPlan): ObservedPlan {
  const observed: Observed[] = [];
  const observe = (part: RecordSteps, item: number): readonly Mutation[] => {
    const { mutations, events } = part;
    const before: Mutation[] = [];
    const after: Mutation[] = [];
    for (const event of events)
      for (const observer of context.hooks.observers) {
        const added = observer.plan?.(event, schema, context) ?? noSteps;
        if (observer.committed || observer.inDoubt) observed.push({ event, observer, added });
        if (added.before) before.push(...added.before);
        if (added.after) after.push(...added.after);
      }
    const further = context.afterRecord?.(schema, part, item);
    if (further) after.push(...further);
    return before.length + after.length === 0 ? mutations : [...before, ...mutations, ...after];
  };
  const { changes, parts } = planned;
  // The steps of each of several records carry its position.
  const steps = parts
    ? parts.flatMap((part, item) => observe(part, item).map((step) => ({ ...step, item })))
    : observe(planned, 0);
  const noted = changes.length > 0 ? noteChanges(context, schema, changes) : none;
  const further = context.alongside?.(schema, changes) ?? none;
  const last = noted.length > 0 ? [...noted, ...further] : further;
  const mutations = last.length === 0 ? steps : [...steps, ...last];
  refuseLarge(mutations);
  const own = conditionsOf(context, schema);
  if (own.length === 0 && !planned.conditions) return { changes, mutations, observed };
  return { conditions: [...own, ...(planned.conditions ?? none)], changes, mutations, observed };
}

/** Returns what observers add for the schema changes of a commit. */
function noteChanges(context: RecordContext, schema: Schema, changes: readonly SchemaChange[]): readonly Mutation[] {
  return context.hooks.observers.flatMap((observer) => observer.planChanges?.(changes, schema, context) ?? none);
}

function conditionsOf({ conditions, held }: RecordContext, schema: Schema): readonly Condition[] {
  const own = conditions?.(schema) ?? none;
  return held ? [{ kind: 'unchanged', ...held }, ...own] : own;
}

/** Returns the event of a write in a context. */
export function eventOf(
  { principal, actor = principal, referer, cause }: RecordContext,
  { event, table, objectId, sent, assignments, known, seen, flags, at }: Omit<WriteEvent, 'principal' | 'referer' | 'cause'>,
): WriteEvent {
  // Written out: with a spread V8 makes each of these objects by calls into its runtime.
  return { event, table, objectId, sent, assignments, known, seen, principal: actor, flags, referer, cause: cause ?? null, at };
}
