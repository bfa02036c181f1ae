import type { JsonObject } from '../kernel/json.ts';

/** A request was answered, by whatever part of the service. */
export interface RequestObservation {
  readonly kind: 'request';
  /** The route's pattern, such as `/platform/classes/:className`; never the URL. `undefined` if the address is unknown. */
  readonly route: string | undefined;
  /** As sent. */
  readonly method: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
}

/** A caller's request to a system was answered. For the request log alone, which redacts it: texts are as they were sent. */
export interface CallObservation {
  readonly kind: 'call';
  /** Application id. */
  readonly system: string;
  readonly method: string;
  /** As it was sent. */
  readonly url: string;
  readonly ip: string;
  /** Two letters; `undefined` if no trusted proxy named one. */
  readonly country: string | undefined;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
  readonly installationId: string | undefined;
  /** Credentials sent with the request, to be removed from the row. */
  readonly credentials: readonly string[];
  /** A user's objectId, or `master`; `null` if the row must name no user. */
  readonly user: string | null;
  /** Name of the API key. */
  readonly keyName: string | null;
  readonly status: number;
  /** Of the request's body. */
  readonly bytes: number;
  readonly ms: number;
  /** The part of the service that was called: data endpoints and functions, agent tools, or the console. */
  readonly service?: 'platform' | 'mcp' | 'console';
}

/** A group of writes was committed. */
export interface CommitObservation {
  readonly kind: 'commit';
  readonly ms: number;
  /** Number of writes in the group. */
  readonly writes: number;
}

/** Where a read runs: a reader thread of the embedded engine; a shared or an exclusive connection of PostgreSQL. */
export type ReadLane = 'thread' | 'shared' | 'exclusive';

/** A read that has to wait for its turn got it. Reads on the event loop never wait. */
export interface ReadObservation {
  readonly kind: 'read';
  readonly lane: ReadLane;
  readonly waitMs: number;
}

/** The shape of a query: names and operators, never values. */
export interface QueryShape {
  /** In the form of a `where`, with the operators of each field in place of its values. */
  readonly where: JsonObject;
  readonly order: readonly string[];
  /** Kinds of the stages of an aggregation. */
  readonly stages?: readonly string[];
}

/** What a query does. The last two are writes of all records that match. */
export type QueryOperation = 'find' | 'get' | 'count' | 'aggregate' | 'update' | 'delete';

/** A query was answered, or ended at its time limit. Reported only for those that took long. */
export interface QueryObservation {
  readonly kind: 'query';
  /** Application id. */
  readonly system: string;
  readonly table: string;
  readonly operation: QueryOperation;
  /** Time that the store took, its queue included. */
  readonly ms: number;
  /** Records of the answer, or that were written; left out if it is not known. */
  readonly rows?: number;
  readonly isTimedOut: boolean;
  /** Computed when called. */
  shape(): QueryShape;
  /** Looked up when called, step by step, in words. Rejects if the store cannot tell. Left out for writes. */
  plan?(): Promise<readonly string[]>;
}

/**
 * What became of a message: the server took it, it is kept in the outbox, the server refused it for good, or this attempt failed and another one
 * follows.
 */
export const mailOutcomes = ['sent', 'kept', 'failed', 'deferred'] as const;
export type MailOutcome = (typeof mailOutcomes)[number];

/** A message, or an attempt to send one. */
export interface MailObservation {
  readonly kind: 'mail';
  readonly outcome: MailOutcome;
}

/** How a sign-in with a password ended; `refused` is an unknown name or a wrong password, `failed` a fault of the service. */
export const loginOutcomes = ['success', 'refused', 'locked', 'blocked', 'failed'] as const;
export type LoginOutcome = (typeof loginOutcomes)[number];

/** A user tried to sign in with a password, by whatever door. */
export interface LoginObservation {
  readonly kind: 'login';
  readonly outcome: LoginOutcome;
}

/** A function was called by name. */
export interface FunctionObservation {
  readonly kind: 'function';
  /** Name of a function that exists, never one that a client made up. */
  readonly name: string;
  readonly ms: number;
}

/** What the service reports about its own work. But for `call`, never a value of a record, an id of one, or a secret. */
export type Observation =
  | RequestObservation
  | CallObservation
  | CommitObservation
  | ReadObservation
  | QueryObservation
  | MailObservation
  | LoginObservation
  | FunctionObservation;

export type ObservationKind = Observation['kind'];
export type Observer = (observation: Observation) => void;
type ObserverOf<Kind extends ObservationKind> = (observation: Extract<Observation, { kind: Kind }>) => void;

/**
 * Passes observations to those that subscribed to their kind: the log, the metrics, the request log. Reporters on hot paths ask `isObserved` first and make no
 * observation if there is no subscriber. Reference: metrics.md#observations.
 */
export class Observations {
  readonly #observers = new Map<ObservationKind, readonly Observer[]>();
  readonly #failed: (error: unknown) => void;

  /** Milliseconds from which on a query is reported; infinite: none is. */
  readonly slowQueryMs: number;

  /** @param failed called with an error that an observer throws; what was observed goes on */
  constructor(failed: (error: unknown) => void = () => {}, slowQueryMs = Number.POSITIVE_INFINITY) {
    this.#failed = failed;
    this.slowQueryMs = slowQueryMs;
  }

  /** Subscribes to some kinds. @returns ends the subscription */
  subscribe<Kind extends ObservationKind>(kinds: readonly Kind[], observer: ObserverOf<Kind>): () => void {
    const added = observer as Observer;
    for (const kind of kinds) this.#observers.set(kind, [...(this.#observers.get(kind) ?? []), added]);
    return () => {
      for (const kind of kinds) {
        const others = (this.#observers.get(kind) ?? []).filter((one) => one !== added);
        if (others.length > 0) this.#observers.set(kind, others);
        else this.#observers.delete(kind);
      }
    };
  }

  /** Whether anything subscribed to a kind. */
  isObserved(kind: ObservationKind): boolean {
    return this.#observers.has(kind);
  }

  /** Passes an observation on. Never throws. */
  observe(observation: Observation): void {
    const observers = this.#observers.get(observation.kind);
    if (observers === undefined) return;
    for (const observer of observers)
      try {
        observer(observation);
      } catch (error) {
        this.#failed(error);
      }
  }
}
