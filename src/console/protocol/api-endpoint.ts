import type { CrmContext } from '../../crm/context.ts';
import type { JsonValue } from '../../kernel/json.ts';

/** A request of a signed-in user to a data endpoint of the console. */
export interface ApiRequest {
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, string>;
  /** `undefined` if none was sent. */
  readonly body: JsonValue | undefined;
}

/** A data endpoint of the console, relative to its system's path. `protocol.ts` defines the types of requests and answers. */
export interface ApiEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** In the router's syntax: `/rows/:table`. */
  readonly path: string;
  /** Maximum body size in bytes; if omitted, a small default. */
  readonly maxBodyBytes?: number;
  /** Executes the request with the rights of the user. @returns the answer, with status 200 @throws errors of the catalogue */
  run(context: CrmContext, request: ApiRequest): Promise<object>;
}
