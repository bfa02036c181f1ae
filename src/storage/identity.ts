import { createHash, randomBytes } from 'node:crypto';
import { OperatorError } from '../kernel/operator-error.ts';

/** The identity of a store, kept in its own catalogue (docs/adr/0020). */
export interface StoreIdentity {
  /** `SystemEntry.id` of its system. */
  readonly systemId: string;
  readonly appId: string;
  /** Random; unique to each store ever created. */
  readonly birth: string;
  /** Incremented each time a service opens the store. */
  readonly generation: number;
  /** Mark of the installation that is creating it (`makerMark`); `null` once it has been in force. */
  readonly making: string | null;
}

/** What the registry knows of a system's store. */
export interface KnownStore {
  readonly systemId: string;
  /** Application id in the store's identity; the row of the registry may have another name (`RemovedSystem.formerAppId`). */
  readonly appId: string;
  /** Its location (places.ts). */
  readonly place: string;
  /** `null`: not known yet, for a system that an earlier version of the service registered. */
  readonly birth: string | null;
  readonly generation: number;
  /** Time from which acknowledged writes may be missing, in milliseconds since 1970; `null`: none are. */
  readonly missingSince: number | null;
  /**
   * When missing writes were last detected, or the store was adopted as it was; `null`: never. The store may lack records of what beside it is older
   * than this, such as files (files.md#sweep).
   */
  readonly noticedAt: number | null;
  /** When the store was found damaged; `null` if it is not known to be. */
  readonly damagedAt: number | null;
}

/** New facts about a system's store. Absent members stay unchanged. */
export interface StoreNote {
  readonly birth?: string;
  /** Ignored if lower than the known one. */
  readonly generation?: number;
  /** Ignored if later than the known one. */
  readonly missingSince?: number;
  readonly noticedAt?: number;
  readonly damagedAt?: number | null;
}

/** What is at the place of a system's store. */
export interface Found {
  /** The file or the schema, as an operator knows it. */
  readonly place: string;
  readonly state: 'store' | Refusal;
  /** `null` also for a store of an earlier version of the service. */
  readonly identity: StoreIdentity | null;
  /** Set if only the database's log of changes is the reason for the refusal: the file alone can be adopted, as an older state of the store. */
  readonly isAlone?: true;
}

/** A place that holds a store, or one whose creation was interrupted. */
export interface StoredPlace {
  /** Its name (places.ts); `null` if it cannot be determined. */
  readonly name: string | null;
  /** The file or the schema, as an operator knows it. */
  readonly place: string;
}

/** Why a store is not served. */
export type Refusal = 'missing' | 'empty' | 'foreign' | 'older' | 'damaged';

const texts: Readonly<Record<Refusal, string>> = {
  missing: 'is missing',
  empty: 'is empty',
  foreign: "is another system's",
  older: 'is older than the registry says',
  damaged: 'is damaged',
};

/** A system's store is not the one that the registry describes. It was left unchanged. */
export class StoreRefused extends OperatorError {
  readonly why: Refusal;
  readonly place: string;

  constructor(why: Refusal, place: string, cause?: unknown) {
    super(`${place} ${texts[why]}`, { cause });
    this.why = why;
    this.place = place;
  }
}

/** A store has a later generation than the registry knew when it removed it. It was left unchanged. */
export class UsedSinceRemoval extends OperatorError {
  constructor(place: string) {
    super(`${place} was used after the registry removed it: it is kept`);
  }
}

/** Returns why what was found is not the store that the registry knows; `null` if it is. */
export function refusalOf({ state, identity }: Pick<Found, 'state' | 'identity'>, known: KnownStore): Refusal | null {
  if (state !== 'store') return state;
  // Stores of earlier versions have no identity.
  if (!identity) return known.birth === null ? null : 'older';
  if (identity.systemId !== known.systemId || identity.appId !== known.appId) return 'foreign';
  if (known.birth === null) return null;
  if (identity.birth !== known.birth) return 'foreign';
  return identity.generation < known.generation ? 'older' : null;
}

/** @throws StoreRefused if it is not the store that the registry knows */
export function checkFound(found: Found, known: KnownStore): void {
  const why = refusalOf(found, known);
  if (why) throw new StoreRefused(why, found.place);
}

/** Which store may be removed: one that this installation is creating and that was never in force, or the one that its registry removed. */
export type Removable = { readonly making: string } | KnownStore;

/**
 * @returns whether there is anything to remove
 * @throws OperatorError if it is not the store that may be removed
 */
export function checkRemovable(found: Found, owner: Removable): boolean {
  if (found.state === 'missing') return false;
  const { identity, place } = found;
  if ('making' in owner) {
    if (identity?.making === owner.making) return true;
    throw new OperatorError(`${place} is there, and nothing says that it may be removed`);
  }
  // The identity is deleted last, so an interrupted removal leaves an empty store with it. Stores of earlier versions had none.
  const isLeft = found.state === 'empty' && (identity !== null || owner.birth === null);
  const why = refusalOf(isLeft ? { state: 'store', identity } : found, owner);
  if (why) throw new StoreRefused(why, place);
  if (identity && owner.birth !== null && identity.generation > owner.generation) throw new UsedSinceRemoval(place);
  return true;
}

/** Returns the error text for a lost registry: why nothing is created, and what to do. @param registry which one, and its present state */
export function lostText(registry: string, places: readonly StoredPlace[]): string {
  const named = places.slice(0, 3).map(({ place }) => place);
  const more = places.length > named.length ? ` and ${places.length - named.length} more` : '';
  return `${registry}, and there is ${named.join(', ')}${more}: put it back, or take each in by record-service system adopt APP`;
}

/** Returns the mark by which an installation proves, to processes with the same registry, that it is creating a store. */
export function makerMark(salt: string): string {
  return createHash('sha256').update(`making ${salt}`).digest('base64url').slice(0, 22);
}

/** Returns the identity of a store that is being created and not yet in force. */
export function newIdentity(systemId: string, appId: string, salt: string): StoreIdentity {
  return { systemId, appId, birth: newBirth(), generation: 1, making: makerMark(salt) };
}

export function newBirth(): string {
  return randomBytes(16).toString('base64url');
}

/** Returns what a registry knows of a store that it has just registered. @param place default: its application id */
export function knownOf({ systemId, appId, birth, generation }: StoreIdentity, place = appId): KnownStore {
  return { systemId, appId, place, birth, generation, missingSince: null, noticedAt: null, damagedAt: null };
}
