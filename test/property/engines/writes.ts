/** Writes of records and changes of the schema, as requests; some are refused. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';
import { list, type Made, pick, pickWord, some, weighted } from './draw.ts';
import { batchOf, classPath, MAIN, OTHER, type Request } from './request.ts';
import { anything, array, fieldName, fields, mainId, number, otherId, pointerTo, record, scalar, text } from './values.ts';
import { place } from './where.ts';

const elements = list(weighted([4, scalar], [1, anything]), 3);
const increment = number.map((amount): Json => ({ __op: 'Increment', amount }));
const listed = fc.tuple(pickWord('Add AddUnique Remove'), elements).map(([__op, objects]): Json => ({ __op, objects }));
const cleared = pick<Json>(null, { __op: 'Delete' });
const setOnInsert = anything.map((amount): Json => ({ __op: 'SetOnInsert', amount }));
const malformed = fc
  .tuple(pickWord('Increment Add Batch Foo AddRelation'), anything)
  .map(([__op, of]): Json => ({ __op, amount: of, objects: of }));
const anyOperator = fc.oneof(increment, listed, cleared, setOnInsert, malformed);

/** Draws a value for a field or a place: mostly of its own values and operators. */
function change(name: string): Made {
  const { type, of } = fields.get(name) ?? { type: 'any', of: anything };
  const fitting = [of, of, cleared];
  if (type === 'Number' || type === 'any') fitting.push(increment);
  if (type === 'Array' || type === 'any') fitting.push(listed, listed);
  return weighted([10, fc.oneof(...fitting)], [1, anyOperator], [1, anything]);
}

// PostgreSQL's identifiers have at most 63 bytes.
const unknown = pick('new1', 'new2', 'ACL', '1x', 'createdAt', 'x y', `${'L'.repeat(80)}a`, `${'L'.repeat(80)}b`);
const changes = fc
  .uniqueArray(weighted([3, fieldName], [3, place], [1, unknown]), { minLength: 1, maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((name) => change(name).map((value) => [name, value] as const))))
  .map((entries) => Object.fromEntries(entries));

const create = fc
  .tuple(mainId, weighted<object>([3, record], [1, changes]))
  .map(([objectId, row]): Request => ({ method: 'POST', path: classPath(MAIN), body: { ...row, objectId } }));
const update = fc.tuple(mainId, changes).map(([id, body]): Request => ({ method: 'PUT', path: classPath(MAIN, id), body }));
const remove = fc.oneof(
  { weight: 2, arbitrary: mainId.map((id): Request => ({ method: 'DELETE', path: classPath(MAIN, id) })) },
  otherId.map((id): Request => ({ method: 'DELETE', path: classPath(OTHER, id) })),
);
const target = some({ name: text, rank: number, up: pointerTo(OTHER, otherId), list: array });
const createOther = fc
  .tuple(otherId, target)
  .map(([objectId, row]): Request => ({ method: 'POST', path: classPath(OTHER), body: { ...row, objectId } }));
const single = weighted([4, create], [8, update], [3, remove], [1, createOther]);
const batch = fc.array(single, { minLength: 1, maxLength: 8 }).map(batchOf);
const byAnyone = fc.tuple(weighted([3, single], [1, batch]), weighted([3, fc.constant(false)], [1, fc.constant(true)]));

const types = pickWord('String Number Boolean Date Array Object File HTML/XML').map((type): Json => ({ type }));
const targeted = pickWord('Pointer Relation').map((type): Json => ({ type, targetClass: OTHER }));
const fieldChange = fc
  .tuple(
    weighted([1, fieldName], [2, pickWord('s S n o p new1 new2')]),
    fc.oneof(pick<Json>({ __op: 'Delete' }), types, targeted),
  )
  .map(([name, of]): Json => ({ fields: { [name]: of } }));
const indexed = fc.uniqueArray(pickWord('n d b p m createdAt a o objectId new1 r l f'), { minLength: 1, maxLength: 2 });
const index = fc.tuple(pickWord('i1 i2'), indexed, pick<Json>(1, -1, null)).map(
  ([of, names, direction]): Json => ({
    indexes: { [of]: direction === null ? { __op: 'Delete' } : Object.fromEntries(names.map((name) => [name, direction])) },
  }),
);
const uniqueFields = fc.uniqueArray(pickWord('s S n d b p h l createdAt new1'), { minLength: 1, maxLength: 3 });
const uniqueIndex = fc
  .tuple(pickWord('u1 u2 U1'), uniqueFields, pick<Json>(undefined as never, 'text', 'nocase', 'phone', null))
  .map(
    ([name, of, as]): Json => ({
      uniqueIndexes: { [name]: as === null ? { __op: 'Delete' } : { fields: of, ...(as !== undefined && { as }) } },
    }),
  );
const options = fc
  .tuple(
    pickWord('s S n d b h o m'),
    pick<Json>(true, false, undefined as never),
    weighted([2, scalar], [1, anything]),
    fc.boolean(),
  )
  .map(([name, required, defaultValue, hasDefault]): Json => {
    const type = fields.get(name)?.type ?? 'String';
    return { fields: { [name]: { type, ...(required !== undefined && { required }), ...(hasDefault && { defaultValue }) } } };
  });
const textIndex = fc.uniqueArray(pickWord('s h S'), { maxLength: 3 }).map((names): Json => ({ textIndex: names }));
const everyone = { requiresAuthentication: true };
const open = { find: everyone, get: everyone, count: everyone };
/** The user's rights, and which fields and records are visible: `a` and `l` hold users. */
const permissions = pick<{ [key: string]: Json }>(
  {},
  // Without `create`, the user cannot choose an id.
  { update: everyone, delete: everyone },
  { find: { pointerFields: ['l'] }, update: { pointerFields: ['a', 'l'] } },
  { find: {}, get: {}, readUserFields: ['a', 'l'], writeUserFields: ['l'], addField: everyone },
  { protectedFields: { '*': ['m', 'f'] } },
  { protectedFields: { 'userField:l': ['n', 's', 'r'], authenticated: ['d'] }, update: everyone },
).map((more): Json => ({ classLevelPermissions: { ...open, ...more } }));
const redefine = fc
  .oneof(fieldChange, index, uniqueIndex, options, textIndex, permissions)
  .map((body): Request => ({ method: 'PUT', path: `schemas/${MAIN}`, body }));
const drop = pick(MAIN, OTHER).map((table): Request => ({ method: 'DELETE', path: `schemas/${table}` }));

export const write = weighted(
  [22, byAnyone.map(([request, byUser]): Request => ({ ...request, byUser }))],
  [3, redefine],
  [1, drop],
);

const isThere = (id: string) => id !== 'gone';
/** The records that both tables begin with. */
export const rows = fc
  .uniqueArray(mainId.filter(isThere), { maxLength: 13, size: 'max' })
  .chain((ids) => fc.tuple(...ids.map((objectId) => record.map((row): Json => ({ ...row, objectId })))));
export const targets = fc
  .uniqueArray(otherId.filter(isThere), { maxLength: 6, size: 'max' })
  .chain((ids) => fc.tuple(...ids.map((objectId, rank) => target.map((row): Json => ({ rank, ...row, objectId })))));

/** Returns the requests that create the tables, which every user may read, and fill them. */
export function seeding(all: readonly Json[], others: readonly Json[]): Request[] {
  const make = (className: string, more: { [key: string]: Json }): Request => ({
    method: 'POST',
    path: `schemas/${className}`,
    body: { className, classLevelPermissions: open, ...more },
  });
  const own = [...fields].map(([name, { of, ...type }]): [string, Json] => [name, type]);
  const up = { type: 'Pointer', targetClass: OTHER };
  return [
    make(OTHER, { fields: { name: { type: 'String' }, rank: { type: 'Number' }, up, list: { type: 'Array' } } }),
    make(MAIN, { fields: Object.fromEntries(own), textIndex: ['s', 'h'] }),
    batchOf(others.map((body): Request => ({ method: 'POST', path: classPath(OTHER), body }))),
    batchOf(all.map((body): Request => ({ method: 'POST', path: classPath(MAIN), body }))),
  ];
}
