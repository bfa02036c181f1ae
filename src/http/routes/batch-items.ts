import { setImmediate as nextTurn } from 'node:timers/promises';
import findMyWay from 'find-my-way';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { prefix } from '../../kernel/prefix.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { noPreconditions, type SentPreconditions } from '../endpoint/entity-tag.ts';

/** An item of a batch with its endpoint. */
export interface RoutedItem {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly body: JsonValue | undefined;
  readonly preconditions: SentPreconditions;
}

type Method = Endpoint['method'];
const methods: ReadonlySet<unknown> = new Set<Method>(['POST', 'PUT', 'DELETE', 'GET']);
export const noQuery: ReadonlyMap<string, string> = new Map();

/** Number of items routed per turn of the event loop. */
const ROUTE_BATCH_SIZE = 20_000;

/** Finds the endpoint of an item's path. */
export type Route = (item: JsonValue) => RoutedItem;

/** @throws errors of `route`, before any item is started */
export async function routeItems(requests: readonly JsonValue[], route: Route): Promise<RoutedItem[]> {
  const items: RoutedItem[] = [];
  for (let at = 0; at < requests.length; at++) {
    if (at > 0 && at % ROUTE_BATCH_SIZE === 0) await nextTurn();
    items.push(route(requests[at] as JsonValue));
  }
  return items;
}

/** Creates the router for the paths of items. @returns throws batchPath, batchRoute, badBatchItem (107), which reject the whole request */
export function batchRouter(endpoints: readonly Endpoint[]): Route {
  const router = findMyWay({ maxParamLength: 20_000 });
  for (const endpoint of endpoints) router.on(endpoint.method, prefix + endpoint.path, () => {}, endpoint);
  return (item) => {
    const { method, path } = isJsonObject(item) ? { method: own(item, 'method'), path: own(item, 'path') } : {};
    if (typeof path !== 'string' || !path.startsWith(`${prefix}/`)) return fail('batchPath', printable(path));
    const found = methods.has(method) ? router.find(method as Method, path) : null;
    if (!found?.store || Object.values(found.params).includes('')) return fail('batchRoute', printable(method), printable(path));
    return {
      endpoint: found.store,
      params: found.params as Record<string, string>,
      body: own(item as JsonObject, 'body'),
      preconditions: preconditionsOf(item as JsonObject),
    };
  };
}

/** @throws badBatchItem (107) */
function preconditionsOf(item: JsonObject): SentPreconditions {
  const ifMatch = tagOf(item, 'ifMatch');
  const ifNoneMatch = tagOf(item, 'ifNoneMatch');
  return ifMatch === undefined && ifNoneMatch === undefined ? noPreconditions : { ifMatch, ifNoneMatch };
}

/** An ETag without its quotes. */
const bare = /^[\w.-]+$/;

/** Maximum characters of the ETags of an item: some 40 of ours. What bounds a header does not bound a text of a body. */
const MAX_TAG_CHARS = 1_000;

/** Returns the ETag of an item as a header would have it: its quotes may be left out. */
function tagOf(item: JsonObject, name: 'ifMatch' | 'ifNoneMatch'): string | undefined {
  const sent = own(item, name);
  if (sent === undefined) return undefined;
  if (typeof sent !== 'string') return fail('badBatchItem', `${name} should be an ETag`);
  if (sent.length > MAX_TAG_CHARS) return fail('badBatchItem', `${name} should have at most ${MAX_TAG_CHARS} characters`);
  return bare.test(sent) ? `"${sent}"` : sent;
}

function printable(value: JsonValue | undefined): string {
  return String(typeof value === 'object' ? null : value).slice(0, 500);
}

/** Whether an item is refused because it reads, or has no body and is no DELETE. Reference: batch.md#answers. */
export const isWithoutBody = ({ endpoint: { method }, body }: RoutedItem): boolean =>
  method === 'GET' || (method !== 'DELETE' && (body ?? null) === null);
