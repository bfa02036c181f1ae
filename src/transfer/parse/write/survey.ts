import { OperatorError } from '../../../kernel/operator-error.ts';
import type { PlannedClass } from '../plan/plan.ts';
import type { ParseSource } from '../source/source.ts';
import { batchesOf } from './batches.ts';
import type { FileCopier } from './copy-files.ts';
import type { Findings } from './findings.ts';
import { holdersOf, knownIds } from './known-ids.ts';
import { type MappedRecord, RecordMapper } from './record-mapper.ts';
import { SharedNames } from './shared-names.ts';
import type { Target } from './target.ts';

/** Limits of a batch. */
const bounds = { items: 1_000, size: 8 * 1024 * 1024 } as const;
/** Maximum number of ids in a message. */
const MAX_NAMES = 10;

/** A role whose name exists here and in the source. */
export interface MergedRole {
  readonly name: string;
  readonly sourceId: string;
}

/** Context of the examination. */
export interface Survey {
  readonly source: ParseSource;
  readonly target: Target;
  readonly findings: Findings;
  /** Whether existing objects are allowed. */
  readonly isContinued: boolean;
  readonly copiesFiles: boolean;
  /** Checks which files exist; `null` to skip the check. */
  readonly copier: FileCopier | null;
  onProgress(className: string, done: number): void;
}

/**
 * Examines the objects of a class without writing.
 * @throws OperatorError if objects exist already, or users have login names of other users here
 */
export async function surveyClass(survey: Survey, planned: PlannedClass): Promise<readonly MergedRole[]> {
  const { source, target, findings } = survey;
  const { className } = planned;
  const mapper = new RecordMapper(planned, findings, survey.copiesFiles);
  const names = new SharedNames();
  const merged: MergedRole[] = [];
  const known: string[] = [];
  let done = 0;
  let present = 0;
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
    present += ids.size;
    if (known.length < MAX_NAMES) known.push(...ids);
    await survey.copier?.copy(batch.flatMap(({ files }) => files));
    if (className === '_User') await names.add(target.store, batch);
    if (className === '_Role') merged.push(...(await rolesHere(target, batch)));
    done += batch.length;
    findings.records.set(className, done);
    findings.present.set(className, present);
    survey.onProgress(className, done);
  }
  if (present > 0 && !survey.isContinued)
    throw new OperatorError(
      `nothing was written: ${present} objects of ${className} are here already (${known.slice(0, MAX_NAMES).join(', ')}); --continue leaves these and adds what is missing`,
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
