import { errorOfItem, fail, isRefusal, serviceError } from '../../errors/fail.ts';
import { keeping, keptResult, once, type RequestKey, readKey, rowId } from '../../idempotency/index.ts';
import { prefix } from '../../kernel/prefix.ts';
import { type TransactionResult, writeTransaction } from '../../records/index.ts';
import type { ApiReply, ApiRequest, TransactionItem } from '../endpoint/endpoint.ts';
import { markedReply, unsealed } from '../endpoint/keyed.ts';
import { stripConsumed } from '../endpoint/parse-request.ts';
import { isWithoutBody, noQuery, type RoutedItem } from './batch-items.ts';

/** Maximum items of a transaction: it is one commit, in which other writes to its records wait. Reference: batch.md#transactions. */
export const MAX_TRANSACTION_ITEMS = 1_000;

/**
 * Executes a batch as a transaction: all items in one commit, or none.
 * @throws badTransaction (107); the error of the first item that fails, with its `index`
 */
export async function answerTransaction(request: ApiRequest, items: readonly RoutedItem[]): Promise<ApiReply> {
  if (items.length > MAX_TRANSACTION_ITEMS) fail('badTransaction', `more than ${MAX_TRANSACTION_ITEMS} items`);
  for (const { endpoint } of items)
    if (!endpoint.inTransaction && endpoint.method !== 'GET')
      fail('badTransaction', `${endpoint.method} ${prefix}${endpoint.path} cannot be part of it`);
  const writes = items.map((item, index) => withIndex(index, () => writeOf(request, item)));
  const { context, repeat } = request;
  try {
    if (!repeat) return replyOf(writes, await writeTransaction(context, writesOf(writes)));
    const secrets = writes.map(({ secret }) => secret);
    const done = await once(
      context.store,
      repeat,
      async () => replyOf(writes, await writeTransaction(keeping(context, repeat, secrets), writesOf(writes))),
      () => keptReplyOf(request, repeat, writes),
    );
    return markedReply(done);
  } catch (error) {
    throw indexed(error);
  }
}

const writesOf = (items: readonly TransactionItem[]) => items.map(({ write }) => write);

function replyOf(
  items: readonly TransactionItem[],
  results: readonly TransactionResult[],
  secrets: readonly (string | undefined)[] = [],
): ApiReply {
  const replies = items.map((item, at) => item.reply(results[at] as TransactionResult, secrets[at]));
  const isSecret = replies.some(({ headers }) => headers?.['cache-control'] === 'no-store');
  const json = `[${replies.map((one) => `{"success":${one.json}}`).join(',')}]`;
  return { status: 200, json, ...(isSecret && { headers: { 'cache-control': 'no-store' } }) };
}

/** Returns the answer of a transaction by the rows that its commit has kept. */
async function keptReplyOf({ context }: ApiRequest, key: RequestKey, items: readonly TransactionItem[]): Promise<ApiReply> {
  const rows = await Promise.all(items.map((_, at) => readKey(context.store, rowId(key, at))));
  const secrets = rows.map((row) => (row?.sealed === undefined ? undefined : unsealed(key, row.sealed)));
  const results = rows.map((row, at) => {
    const { className } = (items[at] as TransactionItem).write;
    return row ? keptResult(context, className, row) : fail('resultTooLarge');
  });
  return replyOf(items, await Promise.all(results), secrets);
}

/** @throws batchItemBody for an item without a body; what the endpoint throws */
function writeOf(request: ApiRequest, item: RoutedItem): TransactionItem {
  const { endpoint, params, body, preconditions } = item;
  if (isWithoutBody(item) || !endpoint.inTransaction) throw serviceError('batchItemBody');
  return endpoint.inTransaction({ ...request, params, query: noQuery, preconditions, body: stripConsumed(body ?? undefined) });
}

function withIndex<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw indexed(errorOfItem(error, index));
  }
}

/** Returns a refusal with the position of its item as `index`. */
function indexed(error: unknown): unknown {
  if (!isRefusal(error) || error.item === undefined || error.key === 'badTransaction') return error;
  error.details = { ...error.details, index: error.item };
  return error;
}
