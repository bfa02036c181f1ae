import type { Principal } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';

/** The system that a function is called in. */
export interface FunctionSystem {
  readonly appId: string;
  /** As its operator calls it. */
  readonly name: string;
  readonly store: Store;
}

/** A user as a function sees him: his record in wire form, without secrets. */
export type FunctionUser = JsonObject & { readonly objectId: string };

/** What a request says of itself. */
export interface FunctionRequest {
  readonly method: 'GET' | 'POST';
  /** By lower-case name, credentials left out. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's address, as TRUST_PROXY says. */
  readonly ip: string;
  /** Whether it brought the master key or an API key of the system. */
  readonly holdsKey: boolean;
}

/** The trigger that calls a function for a record (CONTRACT "Triggers": `server-side-code`). */
export interface FunctionTrigger {
  /** objectId of its definition. */
  readonly id: string;
  readonly name: string | null;
  /** Of the action that names the function. */
  readonly actionId: string;
  readonly event: 'create' | 'update' | 'delete' | 'schedule';
  /** The same at every attempt to do the action for this record once: what was done under it need not be done again. */
  readonly runId: string;
  /** From 1 on. */
  readonly attempt: number;
}

/** A call as the edge brings it. */
export interface FunctionCall {
  /** The body or the query, credentials taken out. Strings hold no NUL and no half of a surrogate pair. */
  readonly input: JsonObject;
  /** Whether a form or a query brought it, so that all values are texts or arrays of them. */
  readonly isForm: boolean;
  readonly request: FunctionRequest;
  /** Who is signed in; asked only for functions of the operator. @returns rejects with invalidSession (209) */
  user(): Promise<FunctionUser | null>;
  /** Who calls; asked as `user` is. His rights to files count for those that he names. */
  caller(): Promise<Principal>;
}
