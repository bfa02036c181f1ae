import type { CrmContext } from '../../crm/context.ts';
import type { JsonValue } from '../../kernel/json.ts';

/** A request to a data address of the console, of a user who is signed in. */
export interface ApiRequest {
  /** Segments of the path that stand for something, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, string>;
  /** `undefined` where none was sent. */
  readonly body: JsonValue | undefined;
}

/** A data address of the console, below its system's: `protocol.ts` says what it takes and answers. */
export interface ApiEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As the router writes it: `/rows/:table`. */
  readonly path: string;
  /** Bytes of a body; left out: few. */
  readonly bodyBytes?: number;
  /**
   * Carries the request out with the rights of the user.
   * @returns the answer, of status 200
   * @throws errors of the catalogue
   */
  run(context: CrmContext, request: ApiRequest): Promise<object>;
}
