import { createHash, randomBytes } from 'node:crypto';
import { OperatorError } from '../kernel/operator-error.ts';

/** What a store says of itself, in its own catalogue (docs/adr/0020). */
export interface StoreIdentity {
  /** `SystemEntry.id` of its system. */
  readonly systemId: string;
  readonly appId: string;
  /** Random; another one for each store that was ever made. */
  readonly birth: string;
  /** Grows with each time that a service opens it. */
  readonly generation: number;
  /** Mark of the installation that is making it (`makerMark`); `null` once it has been in force. */
  readonly making: string | null;
}

/** What the registry knows of a system's store. */
export interface KnownStore {
  readonly systemId: string;
  /** That its store says; its row of the registry may have another name (`RemovedSystem.formerAppId`). */
  readonly appId: string;
  /** Where it lies (places.ts). */
  readonly place: string;
  /** `null`: nothing yet, of a system that an earlier version of the service registered. */
  readonly birth: string | null;
  readonly generation: number;
  /** From when on writes may be missing that were acknowledged, in milliseconds since 1970; `null`: none are. */
  readonly missingSince: number | null;
  /** When that was last found, or the store was taken in as it lay: it may know less than what is beside it, of before. `null`: never. */
  readonly noticedAt: number | null;
  /** When the store was found damaged; `null` where it is not known to be. */
  readonly damagedAt: number | null;
}

/** What is new about a system's store. What is left out stays as it is known. */
export interface StoreNote {
  readonly birth?: string;
  /** A lower one than is known is passed over. */
  readonly generation?: number;
  /** A later one than is known is passed over. */
  readonly missingSince?: number;
  readonly noticedAt?: number;
  readonly damagedAt?: number | null;
}

/** What lies where a system's store is, or would be. */
export interface Found {
  /** The file, or the schema, as an operator knows it. */
  readonly place: string;
  readonly state: 'store' | Refusal;
  /** `null` also for a store of an earlier version of the service. */
  readonly identity: StoreIdentity | null;
  /** Whether it is a store that can be taken in, although it is an older state of one. */
  readonly isAlone?: true;
}

/** A place where a store is, or was being made. */
export interface StoredPlace {
  /** Its name (places.ts); `null` where nothing tells it. */
  readonly name: string | null;
  /** The file, or the schema, as an operator knows it. */
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

/** A system's store is not what the registry says that it is. Nothing of it was changed. */
export class StoreRefused extends OperatorError {
  readonly why: Refusal;
  readonly place: string;

  constructor(why: Refusal, place: string, cause?: unknown) {
    super(`${place} ${texts[why]}`, { cause });
    this.why = why;
    this.place = place;
  }
}

/** A store has a generation of which the registry that removed it has not heard. Nothing of it was changed. */
export class UsedSinceRemoval extends OperatorError {
  constructor(place: string) {
    super(`${place} was used after the registry removed it: it is kept`);
  }
}

/** Why what was found is not the store that the registry knows; `null` where it is. */
export function refusalOf({ state, identity }: Pick<Found, 'state' | 'identity'>, known: KnownStore): Refusal | null {
  if (state !== 'store') return state;
  // A store without one is of a time before stores had it.
  if (!identity) return known.birth === null ? null : 'older';
  if (identity.systemId !== known.systemId || identity.appId !== known.appId) return 'foreign';
  if (known.birth === null) return null;
  if (identity.birth !== known.birth) return 'foreign';
  return identity.generation < known.generation ? 'older' : null;
}

/** @throws StoreRefused where it is not the store that the registry knows */
export function checkFound(found: Found, known: KnownStore): void {
  const why = refusalOf(found, known);
  if (why) throw new StoreRefused(why, found.place);
}

/**
 * Whose store may be removed: one that this installation is making and that was never in force, or the one that its registry removed.
 */
export type Removable = { readonly making: string } | KnownStore;

/**
 * @returns whether there is something to be removed
 * @throws OperatorError where it is another store than the one that may be removed
 */
export function checkRemovable(found: Found, owner: Removable): boolean {
  if (found.state === 'missing') return false;
  const { identity, place } = found;
  if ('making' in owner) {
    if (identity?.making === owner.making) return true;
    throw new OperatorError(`${place} is there, and nothing says that it may be removed`);
  }
  // Of one whose removal was cut off the identity is the last to go; earlier versions kept none.
  const isLeft = found.state === 'empty' && (identity !== null || owner.birth === null);
  const why = refusalOf(isLeft ? { state: 'store', identity } : found, owner);
  if (why) throw new StoreRefused(why, place);
  if (identity && owner.birth !== null && identity.generation > owner.generation) throw new UsedSinceRemoval(place);
  return true;
}

/** Why nothing is made where a registry is gone, and what to do. @param registry which one, and what it is now */
export function lostText(registry: string, places: readonly StoredPlace[]): string {
  const named = places.slice(0, 3).map(({ place }) => place);
  const more = places.length > named.length ? ` and ${places.length - named.length} more` : '';
  return `${registry}, and there is ${named.join(', ')}${more}: put it back, or take each in by record-service system adopt APP`;
}

/** Proof of an installation that it is making a store, for processes that have its registry. */
export function makerMark(salt: string): string {
  return createHash('sha256').update(`making ${salt}`).digest('base64url').slice(0, 22);
}

/** The identity of a store that is made now, before it is in force. */
export function newIdentity(systemId: string, appId: string, salt: string): StoreIdentity {
  return { systemId, appId, birth: newBirth(), generation: 1, making: makerMark(salt) };
}

export function newBirth(): string {
  return randomBytes(16).toString('base64url');
}

/** What a registry knows of a store that it has registered with an identity. @param place its application id where it is left out */
export function knownOf({ systemId, appId, birth, generation }: StoreIdentity, place = appId): KnownStore {
  return { systemId, appId, place, birth, generation, missingSince: null, noticedAt: null, damagedAt: null };
}
