import type { Principal } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Progress, RecordContext } from '../../../records/index.ts';
import type { Store } from '../../../storage/port.ts';

/** The system that a function is called in. */
export interface FunctionSystem {
  readonly appId: string;
  /** Its display name. */
  readonly name: string;
  readonly store: Store;
}

/** The record of a user in wire form, without secrets. */
export type FunctionUser = JsonObject & { readonly objectId: string };

/** The request that calls a function. */
export interface FunctionRequest {
  readonly method: 'GET' | 'POST';
  /** By lower-case name, without credentials. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's address, determined according to TRUST_PROXY. */
  readonly ip: string;
  /** Whether it carried the master key or an API key of the system. */
  readonly holdsKey: boolean;
}

/** The trigger that calls a function for a record (triggers.md#server-side-code). */
export interface FunctionTrigger {
  /** objectId of its definition. */
  readonly id: string;
  readonly name: string | null;
  /** Id of the action. */
  readonly actionId: string;
  readonly event: 'create' | 'update' | 'delete' | 'schedule';
  /** The same for each attempt of the action for this record, so that it can serve as an idempotency key. */
  readonly runId: string;
  /** Starts at 1. */
  readonly attempt: number;
}

/** A call, as the HTTP layer passes it. */
export interface FunctionCall {
  /** The body or the query, without credentials. Strings contain no NUL and no lone surrogates. */
  readonly input: JsonObject;
  /** Whether it came from a form or a query, so that all values are texts or arrays of texts. */
  readonly isForm: boolean;
  readonly request: FunctionRequest;
  /** Returns the signed-in user; called for custom functions only. @returns rejects with invalidSession (209) */
  user(): Promise<FunctionUser | null>;
  /** Returns the caller, under the same conditions as `user`. The caller's rights apply to files that the input names. */
  caller(): Promise<Principal>;
  /** Set if the call has a key (requests.md#repeated-requests): the function is executed once for it. */
  readonly once?: CallOnce;
}

/** Executes a call once for its key; a repetition gets the first answer. */
export interface CallOnce {
  /** Of a form, which has one commit. @param execute passes the context of that commit through `extend` */
  form(execute: (extend: (context: RecordContext) => RecordContext) => Promise<string>): Promise<string>;
  /** Of a custom function. @param execute records its writes in `progress` */
  custom(execute: (progress: Progress) => Promise<string>): Promise<string>;
}
