import { applyChanges, emptySchema, isDefaultField, type SchemaChange } from './change.ts';
import type { Schema } from './model.ts';

/** Returns the changes that create a schema from an empty one: the same tables, fields, permissions, indexes and settings, in the same order. */
export function changesTo(schema: Schema): SchemaChange[] {
  const changes: SchemaChange[] = [];
  for (const {
    className,
    fields,
    permissions,
    timeline,
    isCopied,
    indexes,
    uniqueIndexes,
    textIndex,
    formerNames,
    loggedNames,
  } of schema.tables.values()) {
    changes.push({ kind: 'createTable', className, fields: [...fields.values()].filter(({ name }) => !isDefaultField(name)) });
    changes.push({ kind: 'setPermissions', className, permissions });
    if (timeline) changes.push({ kind: 'setTimeline', className, timeline });
    else if (isCopied) changes.push({ kind: 'setCopied', className });
    // The search index of an empty table is complete.
    for (const { name, keys } of indexes.values()) changes.push({ kind: 'setIndex', className, index: { name, keys } });
    for (const index of uniqueIndexes.values()) changes.push({ kind: 'setUniqueIndex', className, index });
    if (formerNames.size + loggedNames.size > 0)
      changes.push({ kind: 'setFormerNames', className, names: [...formerNames], logged: [...loggedNames] });
    if (textIndex.length > 0) changes.push({ kind: 'setTextIndex', className, fields: textIndex });
  }
  const { templateVersion: version, requiredVersion: required } = schema;
  if (version !== undefined) changes.push({ kind: 'setTemplateVersion', version, ...(required !== undefined && { required }) });
  return changes;
}

/** Whether two schemas are equal, apart from names of columns, which each engine chooses. */
export function isSameSchema(one: Schema, other: Schema): boolean {
  return comparable(one) === comparable(other);
}

function comparable(schema: Schema): string {
  const replayed = applyChanges(emptySchema, changesTo(schema));
  return JSON.stringify(changesTo(replayed));
}
