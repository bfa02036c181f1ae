import { OperatorError } from '../../../kernel/operator-error.ts';
import type { PlannedClass } from '../plan/plan.ts';
import type { ParseSource } from '../source/source.ts';
import { batchesOf } from './batches.ts';
import type { FileBringer } from './files-from.ts';
import type { Findings } from './findings.ts';
import { holdersOf, knownIds } from './known-ids.ts';
import { type MappedRecord, RecordMapper } from './record-mapper.ts';
import { SharedNames } from './shared-names.ts';
import type { Target } from './target.ts';

/** Objects looked at together. */
const bounds = { items: 1_000, size: 8 * 1024 * 1024 } as const;
/** Names that one line tells. */
const MAX_NAMES = 10;

/** A role that is here and in the source. */
export interface MergedRole {
  readonly name: string;
  readonly sourceId: string;
}

/** How a source is looked through. */
export interface Survey {
  readonly source: ParseSource;
  readonly target: Target;
  readonly findings: Findings;
  /** Whether objects may be here already. */
  readonly isContinued: boolean;
  readonly bringsFiles: boolean;
  /** Looks which files there are; `null`: nobody asks. */
  readonly bringer: FileBringer | null;
  looked(className: string, done: number): void;
}

/**
 * Looks through the objects of a class, and changes nothing.
 * @throws OperatorError where objects are here already, or users have names of others here
 */
export async function surveyClass(survey: Survey, planned: PlannedClass): Promise<readonly MergedRole[]> {
  const { source, target, findings } = survey;
  const { className } = planned;
  const mapper = new RecordMapper(planned, findings, survey.bringsFiles);
  const names = new SharedNames();
  const merged: MergedRole[] = [];
  const known: string[] = [];
  let done = 0;
  let there = 0;
  const mapped = async function* () {
    for await (const record of source.records(planned.source)) yield mapper.map(record);
  };
  for await (const batch of batchesOf(
    mapped(),
    ({ size }) => size,
    () => bounds,
  )) {
    const ids = await knownIds(
      target.store,
      className,
      batch.map(({ objectId }) => objectId),
    );
    there += ids.size;
    if (known.length < MAX_NAMES) known.push(...ids);
    await survey.bringer?.bring(batch.flatMap(({ files }) => files));
    if (className === '_User') await names.add(target.store, batch);
    if (className === '_Role') merged.push(...(await rolesHere(target, batch)));
    done += batch.length;
    findings.records.set(className, done);
    findings.there.set(className, there);
    survey.looked(className, done);
  }
  if (there > 0 && !survey.isContinued)
    throw new OperatorError(
      `nothing was written: ${there} objects of ${className} are here already (${known.slice(0, MAX_NAMES).join(', ')}); --continue leaves these and adds what is missing`,
    );
  if (className === '_User') findings.sharedNames = await names.count(() => source.records(planned.source));
  return merged;
}

async function rolesHere({ store }: Target, batch: readonly MappedRecord[]): Promise<MergedRole[]> {
  const byName = new Map(batch.map(({ objectId, values }) => [String(values.get('name') ?? ''), objectId]));
  const holders = await holdersOf(store, '_Role', 'name', [...byName.keys()]);
  return Array.from(holders)
    .map(([name, id]) => ({ name, id, sourceId: byName.get(name) ?? id }))
    .filter(({ id, sourceId }) => id !== sourceId)
    .map(({ name, sourceId }) => ({ name, sourceId }));
}
