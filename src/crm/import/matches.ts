import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { comparable } from '../commands/match.ts';
import type { CrmContext } from '../context.ts';
import { findRows, type Row } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { byIds, commonForms, idsByKey, numberOf } from '../search/phones.ts';
import { searchFieldsOf } from '../search/search-fields.ts';
import { folded, literal } from '../search/text-match.ts';
import { instantOf } from '../wire/values.ts';

/** Finds existing records that a row to be imported would duplicate. */
export interface Matcher {
  /** The comparison key of rows and records; `undefined` if a field has no value. */
  keyOf(data: JsonObject): string | undefined;
  /** By key: objectIds of the records that have it. */
  find(data: readonly JsonObject[]): Promise<Map<string, string[]>>;
}

/** Values per query: a phone without a derived key has about 15 forms, and a `where` takes 2,000 constraints. */
const BATCH_SIZE = 80;
/** Longest e-mail address matched regardless of case: 80 of them form one pattern. */
const MAX_EMAIL_LENGTH = 100;
const MAX_FOUND = 5_000;

/**
 * Returns a matcher by the values of some fields: phones in every form, e-mail addresses regardless of case, other values exactly.
 * @throws invalidArguments (107) for a field of a type that cannot be compared
 */
export function matcherFor(context: CrmContext, table: TableSchema, fields: readonly Field[]): Matcher {
  for (const { name, type } of fields)
    if (!comparable.includes(type)) badArguments(`matchOn: ${name} is of type ${type}, which is not compared`);
  const { phones, emails } = searchFieldsOf(context, table);
  const partOf = (field: Field, value: JsonValue | undefined): string | undefined => {
    const text = textOf(value);
    if (text === undefined) return undefined;
    if (phones.includes(field.name)) return numberOf(text) ?? folded(text);
    return emails.includes(field.name) ? folded(text) : text;
  };
  const keyOf = (data: JsonObject): string | undefined => {
    const parts = fields.map((field) => partOf(field, own(data, field.name)));
    return fields.length > 0 && parts.every((part) => part !== undefined) ? JSON.stringify(parts) : undefined;
  };
  const priority = ({ name, type }: Field) =>
    phones.includes(name) ? -2 : emails.includes(name) ? -1 : comparable.indexOf(type);
  const best = [...fields].sort((a, b) => priority(a) - priority(b))[0];
  return {
    keyOf,
    async find(data) {
      const found = new Map<string, string[]>();
      if (!best) return found;
      const keyed = data.filter((one) => keyOf(one) !== undefined);
      const keys = ['objectId', ...fields.map(({ name }) => name)];
      for (let at = 0; at < keyed.length; at += BATCH_SIZE) {
        const values = keyed.slice(at, at + BATCH_SIZE).map((one) => own(one, best.name) ?? null);
        const where = emails.includes(best.name)
          ? emailsAmong(best.name, values)
          : await whereOf(context, table, best.name, values, phones.includes(best.name));
        // The tool's own patterns do not count towards the caller's budget for patterns.
        const asTool = { ...context, patterns: {} };
        const rows: Row[] = await findRows(asTool, table.className, { where, keys, order: 'createdAt', limit: MAX_FOUND });
        for (const row of rows) {
          const key = keyOf(row);
          if (key !== undefined) found.set(key, [...new Set([...(found.get(key) ?? []), row.objectId])]);
        }
      }
      return found;
    },
  };
}

/** Matches any of the addresses regardless of case. */
function emailsAmong(name: string, values: readonly JsonValue[]): JsonObject {
  const isAddress = (value: JsonValue): value is string => typeof value === 'string' && value.length <= MAX_EMAIL_LENGTH;
  const addresses = [...new Set(values.filter(isAddress).map((value) => literal(folded(value))))];
  const others = values.filter((value) => !isAddress(value));
  const $or: JsonObject[] = [];
  if (addresses.length > 0) $or.push({ [name]: { $regex: `^\\s*(?:${addresses.join('|')})\\s*$`, $options: 'i' } });
  if (others.length > 0) $or.push({ [name]: { $in: others } });
  return { $or };
}

async function whereOf(
  context: CrmContext,
  table: TableSchema,
  name: string,
  values: readonly JsonValue[],
  isPhone: boolean,
): Promise<JsonObject> {
  if (!isPhone) return { [name]: { $in: [...new Set(values)] } };
  const keys = values.flatMap((value) => numberOf(String(value)) ?? []);
  const ids = await idsByKey(context, table, name, keys);
  if (ids) return byIds(name, [...ids.keys()]);
  return { [name]: { $in: [...new Set([...values, ...keys.flatMap(commonForms)])] } };
}

/** Returns a value in wire form as text: the id of a Pointer, the instant of a Date. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (!isJsonObject(value)) return typeof value === 'object' ? undefined : String(value);
  if (value.__type === 'Date') {
    const at = instantOf(value);
    return at === undefined ? undefined : isoText(at);
  }
  return typeof value.objectId === 'string' ? value.objectId : undefined;
}
