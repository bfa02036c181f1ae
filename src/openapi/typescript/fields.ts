import type { DescribedField } from '../model/table.ts';
import { literal } from './text.ts';

/** The types of a field in a record, a create, an update and a condition. */
export interface FieldTypes {
  readonly read: string;
  readonly write: string;
  readonly change: string;
  readonly condition: string;
}

/** Returns the types of a field, which `prelude` declares. */
export function typesOf({ type, target }: DescribedField): FieldTypes {
  switch (type) {
    case 'String':
    case 'HTML/XML':
      return plain('string', 'TextCondition');
    case 'Number':
      return { ...plain('number', 'NumberCondition'), change: 'NumberChange' };
    case 'Boolean':
      return plain('boolean', 'BooleanCondition');
    case 'Date':
      return plain('DateValue', 'DateCondition');
    case 'File':
    case 'PrivateFile':
      return { read: 'FileValue', write: 'FileInput', change: 'Change<FileInput>', condition: 'FileCondition' };
    case 'Object':
      return plain('JsonObject', 'ObjectCondition');
    case 'Array': {
      const item = target === undefined ? 'JsonValue' : `Pointer<${literal(target)}>`;
      const list = `readonly ${item}[]`;
      return { read: `${item}[]`, write: list, change: `ArrayChange<${item}>`, condition: `ArrayCondition<${item}>` };
    }
    case 'Pointer': {
      const table = targetOf(target);
      return plain(`Pointer<${table}>`, `PointerCondition<${table}>`);
    }
    case 'Relation': {
      const table = targetOf(target);
      return {
        read: `Relation<${table}>`,
        write: `AddRelation<${table}>`,
        change: `RelationChange<${table}>`,
        condition: `RelationCondition<${table}>`,
      };
    }
    case 'ACL':
      return plain('Acl', 'never');
  }
}

const plain = (type: string, condition: string): FieldTypes => ({
  read: type,
  write: type,
  change: `Change<${type}>`,
  condition,
});

const targetOf = (target: string | undefined): string => (target === undefined ? 'string' : literal(target));
