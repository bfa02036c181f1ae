import { setImmediate as nextTurn } from 'node:timers/promises';
import findMyWay from 'find-my-way';
import { fail, isInDoubt, isUnavailable, ServiceError, serviceError } from '../../errors/fail.ts';
import { renderError } from '../../errors/render.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { prefix } from '../../kernel/prefix.ts';
import { endOf, type Progress } from '../../records/index.ts';
import { wholeText } from '../../storage/port.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import { stripConsumed } from '../endpoint/parse-request.ts';

/** An item of a batch, and who answers it. */
interface Routed {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly body: JsonValue | undefined;
}

type Method = Endpoint['method'];
const methods: ReadonlySet<unknown> = new Set<Method>(['POST', 'PUT', 'DELETE', 'GET']);
const noQuery: ReadonlyMap<string, string> = new Map();

/**
 * Items that are under way at once, and what they bring, but for the first one. A usual batch goes whole; a huge one leaves the service to
 * others now and then, and stays small in memory.
 */
const SLICE_ITEMS = 1_000;
const SLICE_FIELDS = 120_000;
const SLICE_CHARACTERS = 2_000_000;
/** Of items that change a value in place, and may answer what became of it: it may be as large as a record. So many are under way at once. */
const SLICE_EDITS = 25;
/** Characters of answers beyond which the items that are left are refused, not carried out: all of them are in memory at the end. */
const MAX_ANSWERS_LENGTH = 64 * 1024 * 1024;
/** Milliseconds after which items that anybody may ask for are no longer begun: a password waits for all others', the whole body in memory. */
const MAX_OPEN_MS = 30_000;
/** Items whose paths are looked up in one turn. */
const ROUTED_PER_TURN = 20_000;

/** SPEC "Batch": what a GET item gets, and a POST or PUT item without a body. */
const bodyMissing = `{"error":${renderError(serviceError('batchItemBody')).json}}`;

const tooLate = `{"error":${renderError(serviceError('unavailable')).json}}`;

const tooMuchAnswered = `{"error":${renderError(serviceError('resultTooLarge')).json}}`;

/** Finds the endpoint of an item's path. */
type Route = (item: JsonValue) => Routed;

/**
 * SPEC "Batch": many writes in one request, each with its own outcome, in one commit where the engine can.
 * @param endpoints what items may address
 * @param reportFault told of faults of ours, which the item's answer does not show
 */
export function batchEndpoint(endpoints: readonly Endpoint[], reportFault: (error: unknown) => void): Endpoint {
  const route = batchRouter(endpoints);
  return {
    method: 'POST',
    path: '/batch',
    async handle(request) {
      const requests = isJsonObject(request.body) ? own(request.body, 'requests') : notAnObject(request.body);
      if (!Array.isArray(requests)) return fail('batchNoArray');
      const items = await routed(requests, route);
      refuseManyOpen(items);
      const answers: Answered[] = [];
      let answered = 0;
      const openUntil = performance.now() + MAX_OPEN_MS;
      for (let at = 0, end = 0; at < items.length; at = end) {
        if (at > 0) await nextTurn();
        if (answered > MAX_ANSWERS_LENGTH) {
          for (; at < items.length; at++) answers.push({ text: tooMuchAnswered });
          break;
        }
        end = endOfSlice(items, at);
        let lastOpen: Promise<unknown> = Promise.resolve();
        const slice = items.slice(at, end).map((item) => {
          if (!item.endpoint.open) return answer(request, item, reportFault);
          // The application id is all that these need, and a password takes long to compare: one at a time.
          const answered = lastOpen.then(() =>
            performance.now() > openUntil ? { text: tooLate } : answer(request, item, reportFault),
          );
          lastOpen = answered;
          return answered;
        });
        for (const one of await Promise.all(slice)) {
          answers.push(one);
          answered += one.text.length;
        }
        // The items that are left would only meet it too.
        if (isNothingDone(answers)) fail('unavailable');
      }
      return { status: 200, json: `[${answers.map(({ text }) => text).join(',')}]` };
    },
  };
}

/** The answer of an item, and what became of it; left out where it was refused. */
interface Answered {
  readonly text: string;
  readonly outcome?: 'done' | 'inDoubt' | 'unavailable';
}

/**
 * Whether a fault that can pass kept all items from being done (CONTRACT "Faults of the store"): the whole batch is answered with it then.
 * Where some were done, or may have been, each item says what became of it.
 */
function isNothingDone(answers: readonly Answered[]): boolean {
  let isMet = false;
  for (const { outcome } of answers) {
    if (outcome === 'done' || outcome === 'inDoubt') return false;
    isMet ||= outcome === 'unavailable';
  }
  return isMet;
}

/** @throws what `route` throws, before any item is begun */
async function routed(requests: readonly JsonValue[], route: Route): Promise<Routed[]> {
  const items: Routed[] = [];
  for (let at = 0; at < requests.length; at++) {
    if (at > 0 && at % ROUTED_PER_TURN === 0) await nextTurn();
    items.push(route(requests[at] as JsonValue));
  }
  return items;
}

function endOfSlice(items: readonly Routed[], start: number): number {
  const last = Math.min(start + SLICE_ITEMS, items.length);
  let fields = 0;
  let characters = 0;
  let edits = 0;
  for (let at = start; at < last; at++) {
    const { body, endpoint } = items[at] as Routed;
    let isEdit = false;
    if (isJsonObject(body))
      for (const key in body) {
        const value = body[key];
        fields++;
        if (typeof value === 'string') characters += value.length;
        else isEdit ||= isJsonObject(value) && own(value, '__op') !== undefined;
        // A record that is new has no value that a place could be in.
        isEdit ||= endpoint.method === 'PUT' && key.includes('.');
      }
    if (isEdit) edits++;
    if (at > start && (fields > SLICE_FIELDS || characters > SLICE_CHARACTERS || edits > SLICE_EDITS)) return at;
  }
  return last;
}

/** Items that anybody may ask for who knows the application id: as many as SPEC "Limits" recommends for a batch. */
const MAX_OPEN_ITEMS = 50;

/** @throws batchRoute (107) */
function refuseManyOpen(items: readonly Routed[]): void {
  const beyond = items.filter(({ endpoint }) => endpoint.open)[MAX_OPEN_ITEMS];
  if (beyond) fail('batchRoute', beyond.endpoint.method, prefix + beyond.endpoint.path);
}

function notAnObject(body: JsonValue | undefined): undefined {
  if (body !== undefined) fail('invalidJson', 'the body should be an object');
}

/** A router for the paths of items. @returns throws batchPath, batchRoute (107), which refuse the whole request */
function batchRouter(endpoints: readonly Endpoint[]): Route {
  const router = findMyWay({ maxParamLength: 20_000 });
  for (const endpoint of endpoints) router.on(endpoint.method, prefix + endpoint.path, () => {}, endpoint);
  return (item) => {
    const { method, path } = isJsonObject(item) ? { method: own(item, 'method'), path: own(item, 'path') } : {};
    if (typeof path !== 'string' || !path.startsWith(`${prefix}/`)) return fail('batchPath', shown(path));
    const found = methods.has(method) ? router.find(method as Method, path) : null;
    if (!found?.store || Object.values(found.params).includes('')) return fail('batchRoute', shown(method), shown(path));
    return { endpoint: found.store, params: found.params as Record<string, string>, body: own(item as JsonObject, 'body') };
  };
}

function shown(value: JsonValue | undefined): string {
  return String(typeof value === 'object' ? null : value).slice(0, 500);
}

/** The outcome of one item, with its JSON text. Starts the item's work at once, so that the writes of all items share a commit. */
async function answer(
  request: ApiRequest,
  { endpoint, params, body }: Routed,
  reportFault: (error: unknown) => void,
): Promise<Answered> {
  const { method } = endpoint;
  if (method === 'GET' || (method !== 'DELETE' && (body ?? null) === null)) return { text: bodyMissing };
  const progress: Progress = { hasWritten: false };
  const context = { ...request.context, progress };
  try {
    const { json } = await endpoint.handle({
      ...request,
      context,
      params,
      query: noQuery,
      body: stripConsumed(body ?? undefined),
    });
    return { text: `{"success":${await wholeText(json)}}`, outcome: 'done' };
  } catch (thrown) {
    const error = endOf(thrown, progress, true);
    if (!(error instanceof ServiceError)) reportFault(error);
    const text = `{"error":${renderError(error).json}}`;
    if (isInDoubt(error)) return { text, outcome: 'inDoubt' };
    return isUnavailable(error) ? { text, outcome: 'unavailable' } : { text };
  }
}
