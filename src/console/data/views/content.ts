import type { CrmContext } from '../../../crm/context.ts';
import { checkReport } from '../../../crm/reports/saved-report.ts';
import { isJsonObject, isStorable, type JsonValue, own } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import type { ApiRequest } from '../../protocol/api-endpoint.ts';
import type { ColumnState, ViewContent } from '../../protocol/protocol.ts';
import { bodyOf, mapFilterErrors, objectAt, refuse } from '../wire/parameters.ts';

const MAX_NAME_LENGTH = 200;
const MAX_ORDER_LENGTH = 2_000;
const MAX_COLUMNS = 500;
const MAX_WIDTH = 10_000;
const MAX_ROLES = 50;
const MAX_ROLE_LENGTH = 100;

/** Parses a view of a table from a body. @throws invalidArguments (107) for a wrong form or unknown fields; errors of `checkReport` */
export async function contentOf(context: CrmContext, request: ApiRequest, table: string): Promise<ViewContent> {
  const member = bodyOf<ViewContent>(request, ['name', 'where', 'order', 'columns', 'sharedWith']);
  const content: ViewContent = {
    name: textAt(member('name'), 'name', MAX_NAME_LENGTH).trim() || refuse('name', 'must not be empty'),
    where: objectAt(member('where') ?? {}, 'where'),
    order: textAt(member('order') ?? '', 'order', MAX_ORDER_LENGTH),
    columns: listAt(member('columns') ?? [], 'columns', MAX_COLUMNS).map(columnOf),
    sharedWith: [...new Set(listAt(member('sharedWith') ?? [], 'sharedWith', MAX_ROLES).map(roleOf))],
  };
  const { where, order, columns } = content;
  const keys = columns.map(({ field }) => field);
  if (new Set(keys).size < keys.length) refuse('columns', 'names a field twice');
  await mapFilterErrors(() => checkReport(context, { table, keys, where, order: order || undefined, groupBy: [] }));
  return content;
}

function textAt(value: JsonValue | undefined, name: string, maxLength: number): string {
  if (typeof value !== 'string' || value.length > maxLength || !isStorable(value))
    return refuse(name, `must be a text of at most ${maxLength} characters`);
  return value;
}

const listAt = (value: JsonValue, name: string, max: number): readonly JsonValue[] =>
  Array.isArray(value) && value.length <= max ? value : refuse(name, `must be a list of at most ${max}`);

const roleOf = (value: JsonValue): string =>
  textAt(value, 'sharedWith', MAX_ROLE_LENGTH).replace(/^role:/, '') || refuse('sharedWith', 'names no role');

/** @throws invalidArguments (107) */
function columnOf(value: JsonValue): ColumnState {
  return readColumn(value) ?? refuse('columns', 'must be a list of {field, width?, isPinned?}');
}

/** Parses a column of a view; `undefined` if it is invalid. */
export function readColumn(value: JsonValue): ColumnState | undefined {
  if (!isJsonObject(value)) return undefined;
  const [field, width, isPinned] = ['field', 'width', 'isPinned'].map((name) => own(value, name) ?? undefined);
  if (typeof field !== 'string' || field === '' || field.length > limits.nameLength || !isStorable(field)) return undefined;
  if (width !== undefined && !(typeof width === 'number' && width > 0 && width <= MAX_WIDTH)) return undefined;
  if (isPinned !== undefined && typeof isPinned !== 'boolean') return undefined;
  return { field, ...(width !== undefined && { width }), ...(isPinned !== undefined && { isPinned }) };
}
