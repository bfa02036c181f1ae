import type { JsonObject } from '../../../kernel/json.ts';
import type { DescribedField } from '../../model/table.ts';
import { listOf, schema } from '../components/refs.ts';

/** Returns the identifier of a table; `undefined` if the system has no such table. */
export type IdentifierOf = (className: string) => string | undefined;

/** Schemas of a field's values. */
export interface FieldSchemas {
  /** The same object as `write` if what is read may be written. */
  readonly read: JsonObject;
  readonly write: JsonObject;
  readonly change: JsonObject;
  readonly condition: JsonObject;
}

/** Returns the schemas of a field. */
export function schemasOf({ type, target }: DescribedField, identifierOf: IdentifierOf): FieldSchemas {
  const table = target === undefined ? undefined : identifierOf(target);
  const pointer = schema(table === undefined ? 'PointerValue' : `${table}Pointer`);
  switch (type) {
    case 'String':
    case 'HTML/XML':
      return plain({ type: 'string' }, 'String');
    case 'Number':
      return plain({ type: 'number' }, 'Number');
    case 'Boolean':
      return plain({ type: 'boolean' }, 'Boolean');
    case 'Date':
      return plain(schema('DateValue'), 'Date');
    case 'File':
    case 'PrivateFile':
      return { ...plain(schema('FileInput'), 'File'), read: schema('FileValue') };
    case 'Object':
      return plain({ type: 'object', additionalProperties: true }, 'Object');
    case 'Array':
      return plain(listOf(target === undefined ? {} : pointer), 'Array');
    case 'Pointer':
      return plain(pointer, 'Pointer');
    case 'Relation':
      return {
        ...plain(schema('AddRelationOperator'), 'Relation'),
        read: schema('RelationValue'),
        condition: schema('PointerCondition'),
      };
    case 'ACL':
      return { ...plain(schema('AclValue'), 'Object'), change: schema('AclValue') };
  }
}

const plain = (value: JsonObject, kind: string): FieldSchemas => ({
  read: value,
  write: value,
  change: schema(`${kind}Change`),
  condition: schema(`${kind}Condition`),
});
