import { type JsonObject, own } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { withShortTexts } from '../wire/short-text.ts';
import { namedPointer, titleFieldsOf } from '../wire/titles.ts';
import { visibleFields } from './field-visibility.ts';
import { type Ask, type Row, tableIfAny } from './records.ts';

/** Returns the `keys` and `include` for `briefOf`: those fields that exist and that the caller sees, with the titles of Pointer targets. */
export function briefly(context: CrmContext, table: TableSchema, names: readonly string[]): Pick<Ask, 'keys' | 'include'> {
  const shown = visibleFields(context, table, names);
  const targets = shown.flatMap((name) => {
    const { type, targetClass = '' } = table.fields.get(name) ?? {};
    const target = type === 'Pointer' ? tableIfAny(context, targetClass) : undefined;
    return target ? [[name, target] as const] : [];
  });
  const keys = targets.flatMap(([name, target]) =>
    visibleFields(context, target, titleFieldsOf(target)).map((title) => `${name}.${title}`),
  );
  // Without keys, a read returns whole records.
  return { keys: ['objectId', ...shown, ...keys], include: targets.map(([name]) => name) };
}

/** Returns a record reduced to these fields: Pointers with titles of their targets, texts shortened. @param maxLength characters of each */
export function briefOf(row: Row, names: readonly string[], maxLength?: number): JsonObject {
  const shown: JsonObject = { objectId: row.objectId };
  for (const name of names) {
    const value = own(row, name);
    if (value !== undefined && value !== null && value !== '') shown[name] = withShortTexts(namedPointer(value), maxLength);
  }
  return shown;
}
