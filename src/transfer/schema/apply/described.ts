import { canonicalJson } from '../../../kernel/json.ts';
import type { Schema } from '../../../schema/model.ts';
import { snapshotJson } from '../model/snapshot-json.ts';
import { permissionsOf, tablesOf } from '../state/tables.ts';

/** Whether two schemas are described alike, so that changes planned for one fit the other. */
export const isSameDescribed = (one: Schema, other: Schema): boolean => textOf(one) === textOf(other);

const textOf = (schema: Schema): string =>
  canonicalJson(snapshotJson({ isComplete: true, tables: tablesOf(schema), permissions: permissionsOf(schema) }));
