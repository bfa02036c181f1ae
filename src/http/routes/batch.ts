import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail, isInDoubt, isUnavailable, ServiceError, serviceError } from '../../errors/fail.ts';
import { renderError } from '../../errors/render.ts';
import { keyOfPart } from '../../idempotency/index.ts';
import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { prefix } from '../../kernel/prefix.ts';
import { errorToReport, type Progress } from '../../records/index.ts';
import { wholeText } from '../../storage/port.ts';
import type { ApiReply, ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import { stripConsumed } from '../endpoint/parse-request.ts';
import { Chains, linkOf } from './batch-chains.ts';
import { batchRouter, isWithoutBody, noQuery, type RoutedItem, routeItems } from './batch-items.ts';
import { answerBatchOnce, type ExecutedBatch, type ItemAnswers } from './batch-once.ts';
import { answerTransaction } from './batch-transaction.ts';

/**
 * Limits of the items that run concurrently, by number and content (a single item may exceed them). A usual batch runs as one chunk; a huge one
 * yields to other requests between chunks and stays small in memory.
 */
const MAX_CONCURRENT_ITEMS = 1_000;
const MAX_CONCURRENT_FIELDS = 120_000;
const MAX_CONCURRENT_LENGTH = 2_000_000;
/** Maximum concurrent items that edit a value in place: each may answer with the resulting value, which may be as large as a record. */
const MAX_CONCURRENT_EDITS = 25;
/** When the answers exceed this length, the remaining items are rejected, because all answers are held in memory until the end. */
export const MAX_ANSWERS_LENGTH = 64 * 1024 * 1024;
/**
 * Time after which open items (which need only the application id) are no longer started: a password check waits for all others, and the whole body
 * stays in memory.
 */
export const MAX_OPEN_MS = 30_000;
/** The answer to a GET item, and to a POST or PUT item without a body. Reference: batch.md#answers. */
const bodyMissing = `{"error":${renderError(serviceError('batchItemBody')).json}}`;

const timedOut = `{"error":${renderError(serviceError('unavailable')).json}}`;

const answersTooLarge = `{"error":${renderError(serviceError('resultTooLarge')).json}}`;

/**
 * The batch endpoint: many writes in one request, each with its own outcome, in one commit if the engine can; or all of them or none, if it is a
 * transaction. Reference: batch.md#request, batch.md#transactions.
 * @param endpoints that items may address
 * @param reportFault receives unexpected faults, which the item's answer does not reveal
 */
export function batchEndpoint(endpoints: readonly Endpoint[], reportFault: (error: unknown) => void): Endpoint {
  const route = batchRouter(endpoints);
  const execute = (request: ApiRequest, items: readonly RoutedItem[], known: ItemAnswers = new Map()) =>
    executeItems(request, items, known, reportFault);
  const handle = async (request: ApiRequest): Promise<ApiReply> => {
    const requests = isJsonObject(request.body) ? own(request.body, 'requests') : notAnObject(request.body);
    if (!Array.isArray(requests)) return fail('batchNoArray');
    const isTransaction = transactionOf(request.body);
    const items = await routeItems(requests, route);
    if (isTransaction) return answerTransaction(request, items);
    checkOpenItems(items);
    if (request.repeat)
      return answerBatchOnce(request, request.repeat, (repeat, known) => execute({ ...request, repeat }, items, known));
    return (await execute(request, items)).reply;
  };
  return { method: 'POST', path: '/batch', handle, keyed: (request, key) => handle({ ...request, repeat: key }) };
}

/**
 * @param known answers of items that are not executed
 * @throws unavailable if a passing fault prevented every item
 */
async function executeItems(
  request: ApiRequest,
  items: readonly RoutedItem[],
  known: ItemAnswers,
  reportFault: (error: unknown) => void,
): Promise<ExecutedBatch> {
  const answers: ItemAnswer[] = [];
  let answered = 0;
  const openUntil = performance.now() + MAX_OPEN_MS;
  for (let at = 0, end = 0; at < items.length; at = end) {
    if (at > 0) await nextTurn();
    if (answered > MAX_ANSWERS_LENGTH) {
      for (; at < items.length; at++) answers.push({ text: answersTooLarge });
      break;
    }
    end = endOfChunk(items, at);
    const chains = new Chains();
    const first = at;
    const chunk = items.slice(at, end).map((item, n) => {
      const before = known.get(first + n);
      if (before !== undefined) return { text: before };
      return chains.run(linkOf(item, request.context.hooks.watch), async () =>
        item.endpoint.open && performance.now() > openUntil ? { text: timedOut } : answer(request, item, first + n, reportFault),
      );
    });
    for (const one of await Promise.all(chunk)) {
      answers.push(one);
      answered += one.text.length;
    }
    // The remaining items would meet the same fault.
    if (isNothingDone(answers)) fail('unavailable');
  }
  const json = `[${answers.map(({ text }) => text).join(',')}]`;
  const isSecret = answers.some(({ mayBeStored = true }) => !mayBeStored);
  const isFinal = !answers.some(({ outcome }) => outcome === 'inDoubt' || outcome === 'unavailable');
  const keyless = new Map<number, string>();
  if (request.repeat)
    for (const [at, { text, hasKey, mayBeStored = true }] of answers.entries()) if (!hasKey && mayBeStored) keyless.set(at, text);
  return { reply: { status: 200, json, ...(isSecret && { headers: { 'cache-control': 'no-store' } }) }, keyless, isFinal };
}

/** Whether a batch is a transaction. @throws badTransaction (107) */
function transactionOf(body: JsonValue | undefined): boolean {
  const sent = isJsonObject(body) ? own(body, 'transaction') : undefined;
  if (sent === undefined || typeof sent === 'boolean') return sent === true;
  return fail('badTransaction', 'transaction should be true or false');
}

/** The answer of an item; `outcome` is omitted if the item was refused. */
interface ItemAnswer {
  readonly text: string;
  readonly outcome?: 'done' | 'inDoubt' | 'unavailable';
  /** Whether its commit has kept a key, by which it is answered again. */
  readonly hasKey?: boolean;
  /** False if the item must not be cached at all, such as one with a session token. */
  readonly mayBeStored?: boolean;
}

/**
 * Whether a passing fault prevented every item: then the whole batch is answered with that fault. If some were done, or may have been, each item
 * reports its own outcome. Reference: faults.md#passing-faults.
 */
function isNothingDone(answers: readonly ItemAnswer[]): boolean {
  let isMet = false;
  for (const { outcome } of answers) {
    if (outcome === 'done' || outcome === 'inDoubt') return false;
    isMet ||= outcome === 'unavailable';
  }
  return isMet;
}

function endOfChunk(items: readonly RoutedItem[], start: number): number {
  const last = Math.min(start + MAX_CONCURRENT_ITEMS, items.length);
  let fields = 0;
  let characters = 0;
  let edits = 0;
  for (let at = start; at < last; at++) {
    const { body, endpoint } = items[at] as RoutedItem;
    let isEdit = false;
    if (isJsonObject(body))
      for (const key in body) {
        const value = body[key];
        fields++;
        if (typeof value === 'string') characters += value.length;
        else isEdit ||= isJsonObject(value) && own(value, '__op') !== undefined;
        // A new record has no nested value to edit.
        isEdit ||= endpoint.method === 'PUT' && key.includes('.');
      }
    if (isEdit) edits++;
    if (at > start && (fields > MAX_CONCURRENT_FIELDS || characters > MAX_CONCURRENT_LENGTH || edits > MAX_CONCURRENT_EDITS))
      return at;
  }
  return last;
}

/** Maximum number of open items, which need only the application id: the recommended size of a batch. Reference: batch.md#batch-limits. */
export const MAX_OPEN_ITEMS = 50;

/** @throws batchRoute (107) */
function checkOpenItems(items: readonly RoutedItem[]): void {
  const beyond = items.filter(({ endpoint }) => endpoint.open)[MAX_OPEN_ITEMS];
  if (beyond) fail('batchRoute', beyond.endpoint.method, prefix + beyond.endpoint.path);
}

function notAnObject(body: JsonValue | undefined): undefined {
  if (body !== undefined) fail('invalidJson', 'the body should be an object');
}

/**
 * Executes one item and returns its outcome. Starts the work synchronously, so that the writes of all items share a commit.
 * @param at its position: the key of the batch has one for each item
 */
async function answer(
  request: ApiRequest,
  item: RoutedItem,
  at: number,
  reportFault: (error: unknown) => void,
): Promise<ItemAnswer> {
  if (isWithoutBody(item)) return { text: bodyMissing };
  const { endpoint, params, body, preconditions } = item;
  const progress: Progress = { hasWritten: false };
  const context = { ...request.context, progress };
  try {
    const asked = { ...request, context, params, query: noQuery, preconditions, body: stripConsumed(body ?? undefined) };
    const { keyed, handle } = endpoint;
    const part = request.repeat && typeof keyed === 'function' ? { keyed, key: keyOfPart(request.repeat, at) } : null;
    const { json, headers } = part ? await part.keyed(asked, part.key) : await handle(asked);
    return {
      text: `{"success":${await wholeText(json)}}`,
      outcome: 'done',
      hasKey: part !== null,
      mayBeStored: headers?.['cache-control'] !== 'no-store',
    };
  } catch (thrown) {
    const error = errorToReport(thrown, progress, true);
    if (!(error instanceof ServiceError)) reportFault(error);
    const text = `{"error":${renderError(error).json}}`;
    if (isInDoubt(error)) return { text, outcome: 'inDoubt' };
    return isUnavailable(error) ? { text, outcome: 'unavailable' } : { text };
  }
}
