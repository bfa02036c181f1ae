import { errorOfItem, fail, isRefusal, serviceError } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import { writeTransaction } from '../../records/index.ts';
import type { ApiReply, ApiRequest, TransactionItem } from '../endpoint/endpoint.ts';
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
  try {
    const results = await writeTransaction(
      request.context,
      writes.map(({ write }) => write),
    );
    const answers = results.map((result, at) => `{"success":${(writes[at] as TransactionItem).answer(result)}}`);
    const isSecret = writes.some((one) => one.isSecret);
    return { status: 200, json: `[${answers.join(',')}]`, ...(isSecret && { headers: { 'cache-control': 'no-store' } }) };
  } catch (error) {
    throw indexed(error);
  }
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
