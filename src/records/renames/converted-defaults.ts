import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import { applyChanges, type SchemaChange } from '../../schema/change.ts';
import { type Field, fieldOf, type Schema, tableOf, typeText } from '../../schema/model.ts';
import { type StoredValue, storageOf, ValueConverter, valueTypeOf } from '../../values/index.ts';
import { wireDate, wirePointer } from '../../values/json/wire.ts';

/**
 * Returns schema changes with the default values of fields that change their type, converted like values. Pure.
 * @throws schemaMismatch (111) for a default that cannot be converted
 */
export function withConvertedDefaults(schema: Schema, changes: readonly SchemaChange[]): readonly SchemaChange[] {
  if (!changes.some(({ kind }) => kind === 'retypeField')) return changes;
  let before = schema;
  return changes.flatMap((change): SchemaChange[] => {
    const now = before;
    before = applyChanges(now, [change]);
    if (change.kind !== 'retypeField') return [change];
    const { className, name } = change;
    const [from, to] = [now, before].map(({ tables }) => fieldOf(tableOf({ tables } as Schema, className), name)) as [
      Field,
      Field,
    ];
    if (from.defaultValue === undefined) return [change];
    const defaultValue = converted(className, from, to, from.defaultValue);
    return [
      change,
      { kind: 'setFieldOptions', className, name, options: { ...(from.required && { required: true }), defaultValue } },
    ];
  });
}

function converted(className: string, from: Field, to: Field, value: JsonValue): JsonValue {
  const converter = new ValueConverter(from.name, from, to);
  const stored = converter.convert('', valueTypeOf(from).decode(value, from, className));
  if (stored === null)
    fail('schemaMismatch', className, to.name, typeText(to.type, to.targetClass), typeText(from.type, from.targetClass));
  return wireOf(to, stored);
}

function wireOf(field: Field, value: Exclude<StoredValue, null>): JsonValue {
  if (field.type === 'Date') return wireDate(isoText(value as number));
  if (field.type === 'Pointer') return wirePointer(field.targetClass ?? '', value as string);
  return storageOf(field) === 'json' ? (JSON.parse(value as string) as JsonValue) : value;
}
