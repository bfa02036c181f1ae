import type { JsonValue } from '../../kernel/json.ts';
import { withUnique } from './equality.ts';
import type { Operator } from './parse.ts';

/**
 * What an operator leaves in a new record: the plain value to store, `undefined` for none. As in Parse, but for AddUnique, which
 * drops duplicates here too. Relation operators store nothing in the record: their steps are links.
 */
export function flattenForCreate(operator: Operator): JsonValue | undefined {
  switch (operator.op) {
    case 'increment':
      return operator.amount;
    case 'add':
      return [...operator.objects];
    case 'addUnique':
      return withUnique([], operator.objects);
    case 'remove':
      return [];
    case 'setOnInsert':
      return operator.value;
    case 'delete':
    case 'relation':
      return undefined;
  }
}
