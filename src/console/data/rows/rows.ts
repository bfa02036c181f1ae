import { setImmediate as turn } from 'node:timers/promises';
import { grantOn } from '../../../crm/queries/field-visibility.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { splitNames } from '../../../query/model/names.ts';
import type { ApiEndpoint, ApiRequest } from '../../protocol/api-endpoint.ts';
import type { RowsAnswer } from '../../protocol/protocol.ts';
import { rowNames } from '../wire/names.ts';
import { mapFilterErrors, numberOf, refuse, tableOf, textOf, whereOf } from '../wire/parameters.ts';
import { type Block, type BlockQuery, blockBeside } from './block.ts';
import { type Cursor, cursorText, MAX_CURSOR_LENGTH, readCursor } from './cursor.ts';
import { jump } from './jump.ts';
import { readOrder } from './order.ts';

const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 200;
const MAX_SKIP = 1_000_000_000;
const MAX_ORDER_LENGTH = 2_000;
const MAX_KEYS_LENGTH = 64 * 1024;

/** Returns a block of rows of a table, with the names of their Pointers' targets. Reference: console.md#console-data. */
export const getRows: ApiEndpoint = {
  method: 'GET',
  path: '/rows/:table',
  async run(context, request): Promise<RowsAnswer> {
    const { className } = tableOf(context, request, 'find');
    const reading = { ...context, until: context.signal };
    // Authorise before any error reveals field names.
    const grant = grantOn(context, className, 'find');
    const order = readOrder(textOf(request, 'order', MAX_ORDER_LENGTH), grant, {
      schema: context.store.schema(),
      principal: context.principal,
    });
    const shown = keysOf(request);
    const keys = shown.length === 0 ? [] : ['objectId', ...shown, ...(order.keys ?? []).map(({ name }) => name)];
    const limit = numberOf(request, 'limit', DEFAULT_LIMIT, MAX_LIMIT);
    const query: BlockQuery = { context: reading, className, where: whereOf(request), order, keys, limit };
    const block = await mapFilterErrors(() => read(query, request));
    // Each step takes a millisecond or two; yield to other requests in between.
    await turn();
    const isAll = keys.every((name) => shown.includes(name) || fixedFields.includes(name));
    const rows = isAll ? block.rows : block.rows.map((row) => only(row, shown));
    const text = (cursor: Cursor | null) => cursor && cursorText(order, cursor);
    const names = await rowNames(context, rows);
    await turn();
    const leftOut = block.leftOut.size > 0 && { leftOut: Object.fromEntries(block.leftOut) };
    return { rows, names, first: text(block.first), last: text(block.last), ...leftOut };
  },
};

function read(query: BlockQuery, request: ApiRequest): Promise<Block> {
  const skip = numberOf(request, 'skip', 0, MAX_SKIP);
  const [after, before] = ['after', 'before'].map((name) => textOf(request, name, MAX_CURSOR_LENGTH));
  if (after !== undefined && before !== undefined) refuse('before', 'does not go with after');
  if (skip > 0 && (after ?? before) !== undefined) refuse('skip', 'does not go with a cursor');
  if (after !== undefined) return blockBeside(query, readCursor('after', after, query.order), 'after');
  if (before !== undefined) return blockBeside(query, readCursor('before', before, query.order), 'before');
  return jump(query, skip);
}

/** Returns the requested fields; empty: all. @throws invalidArguments (107) */
function keysOf(request: ApiRequest): readonly string[] {
  const names = splitNames('keys', textOf(request, 'keys', MAX_KEYS_LENGTH));
  const inside = names.find((name) => name.includes('.') || name.startsWith('$'));
  return inside === undefined ? names : refuse('keys', 'must name fields of the table');
}

/** Fields of every answer, regardless of `keys`. */
const fixedFields = ['objectId', 'createdAt', 'updatedAt', 'ACL'];

function only(row: JsonObject, names: readonly string[]): JsonObject {
  const shown = new Set([...fixedFields, ...names]);
  return Object.fromEntries(Object.entries(row).filter(([name]) => shown.has(name)));
}
