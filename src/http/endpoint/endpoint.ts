import type { Principal } from '../../access/index.ts';
import type { Reservation } from '../../admission/reservation.ts';
import type { RequestKey } from '../../idempotency/index.ts';
import type { JsonValue } from '../../kernel/json.ts';
import type { NamedParameters } from '../../query/index.ts';
import type { RecordContext, RecordWrite, TransactionResult } from '../../records/index.ts';
import type { JsonText } from '../../storage/port.ts';
import type { System } from '../../systems/index.ts';
import type { SentPreconditions } from './entity-tag.ts';

/** Facts about the sender of a request, apart from its rights. */
export interface Client {
  /** As sent, unverified; `principal` is what decides rights. */
  readonly sessionToken: unknown;
  /** `null` if none was sent. */
  readonly installationId: string | null;
  /** The client's address, in view of TRUST_PROXY; empty if the connection was closed. */
  readonly address: string;
  /** Whether the client has disconnected. */
  isGone(): boolean;
  /** Returns a signal that aborts when the client disconnects. Call it once. */
  goneSignal(): AbortSignal;
  /** Whether work in parts should stop after the present one: the client has disconnected, or the service stops. */
  shouldStop(): boolean;
  /** Keeps the connection open, however long the answer takes. */
  keepConnection(): void;
  /** Frees a reservation when the client has received the answer or disconnected. */
  releaseWhenAnswered(reservation: Reservation): void;
}

/** A request below the prefix whose system and caller are known: a request by itself or an item of a batch. */
export interface ApiRequest {
  readonly system: System;
  readonly principal: Principal;
  readonly client: Client;
  /** Context for the operations of `records/`. */
  readonly context: RecordContext;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: NamedParameters;
  readonly preconditions: SentPreconditions;
  /** The key of a batch that is executed once. */
  readonly repeat?: RequestKey;
  /** The JSON body without credentials; `undefined` if none was sent. */
  readonly body: JsonValue | undefined;
}

/** Reply of an endpoint. */
export interface ApiReply {
  readonly status: number;
  /** JSON text, or a stream of its pieces for long answers. */
  readonly json: JsonText;
  /** The same text compressed, beside a `json` in pieces: sent to clients that accept gzip, and `json` is not read then. */
  readonly gzip?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A write as an item of a transaction (batch.md#transactions). */
export interface TransactionItem {
  readonly write: RecordWrite;
  /** A part of the answer that must not be stored, such as a session token. */
  readonly secret?: string | undefined;
  /** Returns the answer. @param secret that of the first request, if this one repeats it */
  reply(result: TransactionResult, secret?: string): ApiReply & { readonly json: string };
}

/**
 * How requests with an Idempotency-Key are executed: a function returns the answer, also of a repetition; `stepwise`: a repetition gets the answer that
 * was kept, and one of an interrupted request is in doubt. Reference: requests.md#repeated-requests.
 */
export type Keyed = 'stepwise' | ((request: ApiRequest, key: RequestKey) => Promise<ApiReply>);

/** One operation of the data endpoints: a literal with its path and its handler. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the prefix, e.g. `/classes/:className/:objectId`. */
  readonly path: string;
  /** Whether the application id suffices: other credentials are ignored, and an expired session causes no error. */
  readonly open?: true;
  /** Whether POST to the same path has its own route and is not registered here. */
  readonly hasOwnPostRoute?: true;
  /** Maximum body size in bytes; if omitted, the limit of data endpoints. */
  readonly maxBodyBytes?: number;
  /** May throw any ServiceError. */
  readonly handle: (request: ApiRequest) => Promise<ApiReply>;
  /** Returns the write that the endpoint makes; left out if it cannot be part of a transaction. May throw any ServiceError. */
  /** Left out: keys are ignored. */
  readonly keyed?: Keyed;
  readonly inTransaction?: (request: ApiRequest) => TransactionItem;
}
