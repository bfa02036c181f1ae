import type { Principal } from '../../access/index.ts';
import type { Place } from '../../admission/place.ts';
import type { JsonValue } from '../../kernel/json.ts';
import type { NamedParameters } from '../../query/index.ts';
import type { RecordContext } from '../../records/index.ts';
import type { JsonText } from '../../storage/port.ts';
import type { System } from '../../systems/index.ts';

/** What a request says of its sender beside his rights. */
export interface Client {
  /** Whatever was sent for one; `principal` speaks for it where it decides. */
  readonly sessionToken: unknown;
  /** `null` where none was sent. */
  readonly installationId: string | null;
  /** The address that it came from, as TRUST_PROXY says; empty where the connection is gone. */
  readonly address: string;
  /** Whether he is no longer there for the answer. */
  isGone(): boolean;
  /** Aborted when he is not. To be asked for once. */
  gone(): AbortSignal;
  /** Has a place free when he has taken the answer, or is gone. */
  freeWhenAnswered(place: Place): void;
}

/** A request below the prefix, its system and caller known. The same for a request of its own and for an item of a batch. */
export interface ApiRequest {
  readonly system: System;
  readonly principal: Principal;
  readonly client: Client;
  /** For the operations of `records/`. */
  readonly context: RecordContext;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: NamedParameters;
  /** The JSON body without credentials; `undefined` where none was sent. */
  readonly body: JsonValue | undefined;
}

/** What an endpoint answers. */
export interface ApiReply {
  readonly status: number;
  /** JSON text, or its pieces for long answers. */
  readonly json: JsonText;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One operation of the data endpoints: a literal that says where it is and what it does. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the prefix, e.g. `/classes/:className/:objectId`. */
  readonly path: string;
  /** Whether the application id is all that it takes: other credentials are not looked at, a session that has ended does no harm. */
  readonly open?: true;
  /** Whether a POST to the same path is not read as the others are, but registered by itself. */
  readonly isPostElsewhere?: true;
  /** Bytes that a body may have; left out: what data endpoints take. */
  readonly bodyBytes?: number;
  /** May throw any ServiceError. */
  readonly handle: (request: ApiRequest) => Promise<ApiReply>;
}
