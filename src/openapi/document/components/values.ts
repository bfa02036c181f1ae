import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { listOf, schema } from './refs.ts';

const object = (properties: Record<string, JsonObject>, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: properties as JsonObject,
  ...more,
});

/** A wrapper whose member `name` has one of the values. */
const wrapper = (name: string, value: string, properties: Record<string, JsonObject>, required = Object.keys(properties)) =>
  object({ [name]: { type: 'string', enum: [value] }, ...properties }, { required: [name, ...required] });

const operator = (name: string, properties: Record<string, JsonObject> = {}): JsonObject => wrapper('__op', name, properties);

const text: JsonObject = { type: 'string' };
const any: JsonObject = {};
const nothing: JsonObject = { type: 'null' };
const anyOf = (...schemas: JsonObject[]): JsonObject => ({ anyOf: schemas });

/** Returns the schema of Pointers to a table. An included record may stand in a Pointer's place. */
export function pointerTo(className: JsonObject): JsonObject {
  const kinds: JsonObject = { type: 'string', enum: ['Pointer', 'Object'] };
  return object({ __type: kinds, className, objectId: text }, { required: ['__type', 'className', 'objectId'] });
}

/** Returns what an update may do to a field. */
export const changeOf = (value: JsonObject, ...operators: JsonObject[]): JsonObject =>
  anyOf(value, nothing, schema('DeleteOperator'), schema('SetOnInsertOperator'), ...operators);

/** Returns a condition: a value, or operators. */
function conditionOf(value: JsonObject, more: Record<string, JsonObject> = {}): JsonObject {
  const list = listOf(anyOf(value, nothing));
  const operators = object({
    $eq: anyOf(value, nothing),
    $ne: anyOf(value, nothing),
    $in: list,
    $nin: list,
    $exists: { type: 'boolean' },
    $not: schema('ObjectValue'),
    $select: schema('SelectQuery'),
    $dontSelect: schema('SelectQuery'),
    ...more,
  });
  return anyOf(value, nothing, operators);
}

const ordered = (value: JsonObject): Record<string, JsonObject> => ({ $lt: value, $lte: value, $gt: value, $gte: value });
const pattern = { $regex: text, $options: { type: 'string', pattern: '^[imsx]*$' } } satisfies Record<string, JsonObject>;
const inQuery = { $inQuery: schema('SubQuery'), $notInQuery: schema('SubQuery') };
const members = { $all: listOf(any), $containedBy: listOf(any) };

const relationOperators = [schema('AddRelationOperator'), schema('RemoveRelationOperator'), schema('RelationBatchOperator')];
const arrayOperators = [schema('AddOperator'), schema('AddUniqueOperator'), schema('RemoveOperator')];
const pointers: JsonObject = listOf(schema('PointerValue'));

const FLAGS = 'Keys that begin with `dont` count under a key alone.';
const flags = Object.fromEntries(
  ['RunPlatformTriggers', 'UpdatePlatformTimeline', 'RunPlatformTriggersCreate', 'RunPlatformTriggersUpdate'].map((name) => [
    `dont${name}`,
    { type: 'boolean' } satisfies JsonObject,
  ]),
);

/** The schemas of values, operators and conditions (types.md, records.md#field-operators, queries.md#where). */
export const valueSchemas: Readonly<Record<string, JsonObject>> = {
  Timestamp: { type: 'string', format: 'date-time' },
  DateValue: wrapper('__type', 'Date', { iso: { type: 'string', format: 'date-time' } }),
  PointerValue: pointerTo(text),
  // By a name of its own: generators make a class of it once, not one for each place.
  ObjectValue: { type: 'object', additionalProperties: true },
  RelationValue: wrapper('__type', 'Relation', { className: text }),
  FileValue: wrapper(
    '__type',
    'File',
    {
      name: text,
      url: { type: 'string', format: 'uri' },
      public: { type: 'boolean' },
      private: { type: 'boolean' },
    },
    ['name', 'url'],
  ),
  FileInput: wrapper('__type', 'File', { name: text, url: text, public: { type: 'boolean' }, private: { type: 'boolean' } }, [
    'name',
  ]),
  AclValue: {
    type: 'object',
    description: 'Rights by user id, `role:NAME` or `*`. Empty: the record is not restricted.',
    additionalProperties: object({ read: { type: 'boolean' }, write: { type: 'boolean' } }),
  },
  DeleteOperator: operator('Delete'),
  IncrementOperator: operator('Increment', { amount: { type: 'number' } }),
  AddOperator: operator('Add', { objects: listOf(any) }),
  AddUniqueOperator: operator('AddUnique', { objects: listOf(any) }),
  RemoveOperator: operator('Remove', { objects: listOf(any) }),
  SetOnInsertOperator: operator('SetOnInsert', { amount: any }),
  AddRelationOperator: operator('AddRelation', { objects: pointers }),
  RemoveRelationOperator: operator('RemoveRelation', { objects: pointers }),
  RelationBatchOperator: operator('Batch', {
    ops: listOf(anyOf(schema('AddRelationOperator'), schema('RemoveRelationOperator'))),
  }),
  StringChange: changeOf(text),
  NumberChange: changeOf({ type: 'number' }, schema('IncrementOperator')),
  BooleanChange: changeOf({ type: 'boolean' }),
  DateChange: changeOf(schema('DateValue')),
  PointerChange: changeOf(schema('PointerValue')),
  FileChange: changeOf(schema('FileInput')),
  ArrayChange: changeOf(listOf(any), ...arrayOperators),
  ObjectChange: changeOf(schema('ObjectValue')),
  RelationChange: anyOf(schema('RelationValue'), nothing, schema('DeleteOperator'), ...relationOperators),
  StringCondition: conditionOf(text, { ...ordered(text), ...pattern, $text: schema('TextSearch') }),
  NumberCondition: conditionOf({ type: 'number' }, ordered({ type: 'number' })),
  BooleanCondition: conditionOf({ type: 'boolean' }),
  DateCondition: conditionOf(schema('DateValue'), ordered(anyOf(schema('DateValue'), schema('RelativeTime')))),
  PointerCondition: conditionOf(schema('PointerValue'), { ...inQuery, ...members }),
  FileCondition: conditionOf(schema('FileInput')),
  ArrayCondition: { description: 'A value that an element equals, a whole array, or operators.' },
  ObjectCondition: { description: 'A whole object, or operators; dotted names reach into it.' },
  RelativeTime: object(
    { $relativeTime: text },
    { required: ['$relativeTime'], description: '`3 days ago`, `in 2 hours`, `now`.' },
  ),
  TextSearch: object({
    $search: object(
      { $term: text, $language: text, $caseSensitive: { type: 'boolean' }, $diacriticSensitive: { type: 'boolean' } },
      { required: ['$term'] },
    ),
  }),
  SubQuery: object(
    {
      className: text,
      where: schema('ObjectValue'),
      key: text,
      limit: { type: 'integer' },
      skip: { type: 'integer' },
    },
    { required: ['className'] },
  ),
  SelectQuery: object({ query: schema('SubQuery'), key: text }, { required: ['query', 'key'] }),
  RelatedTo: object({ object: schema('PointerValue'), key: text }, { required: ['object', 'key'] }),
  Conditions: {
    type: 'object',
    description: 'Operators that join conditions, and conditions on the system fields.',
    properties: {
      ...Object.fromEntries(['$or', '$and', '$nor'].map((name) => [name, listOf(schema('ObjectValue'))])),
      $not: schema('ObjectValue'),
      $text: schema('TextSearch'),
      $relatedTo: schema('RelatedTo'),
      objectId: schema('StringCondition'),
      createdAt: schema('DateCondition'),
      updatedAt: schema('DateCondition'),
      createdBy: schema('PointerCondition'),
      updatedBy: schema('PointerCondition'),
    } as JsonObject,
  },
  CreateOptions: object(
    { objectId: { type: 'string', description: 'Counts under a key alone.' }, ACL: schema('AclValue'), ...flags },
    { description: FLAGS },
  ),
  UpdateOptions: object({ ACL: schema('AclValue'), ...flags }, { description: FLAGS }),
  SystemValues: object(
    {
      objectId: text,
      createdAt: schema('Timestamp'),
      updatedAt: schema('Timestamp'),
      ACL: schema('AclValue'),
      createdBy: schema('PointerValue'),
      updatedBy: schema('PointerValue'),
    },
    { required: ['objectId', 'createdAt', 'updatedAt'] },
  ),
  Nothing: object({}, { description: 'Empty.' }),
};

/** A value of a Date field. */
export const exampleDate: JsonValue = { __type: 'Date', iso: '2026-01-31T08:30:00.000Z' };
