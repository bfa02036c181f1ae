import { isInDoubt, isPassing, ServiceError, serviceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RecordContext } from '../../context/context.ts';
import { commitRecords } from '../commit.ts';
import { prepareRemove } from '../remove.ts';
import { prepareUpdate } from '../update.ts';
import type { MatchingRecords } from './matching-records.ts';
import type { Outcomes } from './outcomes.ts';

/** What is done with each record. */
export interface MatchingWrite {
  readonly kind: 'update' | 'delete';
  readonly className: string;
  /** The fields, operators and silencing flags of an update; of a delete, silencing flags. */
  readonly body: JsonObject;
}

/** Records that matched when the write began. */
export interface Group {
  readonly ids: readonly string[];
  /** By id: the versions of those that matched when this was read. */
  readonly versions: Promise<ReadonlyMap<string, number>>;
}

/** How often a record that others change at the same time is looked at again. */
const MAX_ATTEMPTS = 5;

/** Writes groups of records, each as a single write would, all of a group together. */
export class GroupWriter {
  readonly #context: RecordContext;
  readonly #write: MatchingWrite;
  readonly #matching: MatchingRecords;
  readonly #outcomes: Outcomes;

  constructor(context: RecordContext, write: MatchingWrite, matching: MatchingRecords, outcomes: Outcomes) {
    this.#context = context;
    this.#write = write;
    this.#matching = matching;
    this.#outcomes = outcomes;
  }

  /**
   * Writes those of the records that still match; a record that has changed since that was read is read again. What is refused is an outcome.
   * @throws passing faults and faults of the service; some records of the group may then be written
   */
  async write({ ids, versions: known }: Group): Promise<void> {
    /** By id: the version at which a record was not found by its write. */
    const missed = new Map<string, number>();
    let left = ids;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && left.length > 0; attempt++) {
      const versions = await (attempt === 0 ? known : this.#matching.versionsOf(left));
      const due: [string, number][] = [];
      for (const id of left) {
        const version = versions.get(id);
        if (version === undefined) this.#outcomes.refuse(id, serviceError('changedMeanwhile'));
        // Not changed, so the caller may see the record and not write it.
        else if (missed.get(id) === version) this.#outcomes.refuse(id, serviceError('objectNotFound'));
        else due.push([id, version]);
      }
      const faults: unknown[] = [];
      const outcomes = await Promise.all(due.map(([id, version]) => this.#writeOne(id, version, faults)));
      const [fault] = faults.toSorted((a, b) => Number(isInDoubt(b)) - Number(isInDoubt(a)));
      if (fault !== undefined) throw fault;
      left = due.flatMap(([id, version], at) => {
        if (outcomes[at] !== 'missed') return [];
        missed.set(id, version);
        return [id];
      });
    }
    for (const id of left) this.#outcomes.refuse(id, serviceError('changedMeanwhile'));
  }

  /** Writes a record if it has the version. Begins synchronously, so that the writes of a group share a commit. */
  async #writeOne(objectId: string, version: number, faults: unknown[]): Promise<'settled' | 'missed'> {
    const { kind, className, body } = this.#write;
    const change = { className, objectId, body, precondition: { ifMatch: [version] } };
    const prepare = kind === 'update' ? prepareUpdate : prepareRemove;
    try {
      await commitRecords(this.#context, async (attempt) => [await prepare(this.#context, change, attempt)]);
      this.#outcomes.count();
    } catch (error) {
      if (!(error instanceof ServiceError) || isPassing(error)) faults.push(error);
      else if (error.key === 'objectNotFound') return 'missed';
      else this.#outcomes.refuse(objectId, error);
    }
    return 'settled';
  }
}
