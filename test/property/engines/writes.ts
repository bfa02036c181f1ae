/** Writes of records and changes of the schema, as requests; some are refused. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';
import type { Request } from './reads.ts';
import {
  anything,
  array,
  boolean,
  fieldNames,
  fields,
  label,
  MAIN,
  mainId,
  number,
  OTHER,
  otherId,
  pointerTo,
  record,
  scalar,
  text,
} from './values.ts';
import { place } from './where.ts';

const pick = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const elements = fc.array(fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: anything }), { maxLength: 3 });
const operator: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: number.map((amount): Json => ({ __op: 'Increment', amount })) },
  {
    weight: 5,
    arbitrary: fc.tuple(pick('Add', 'AddUnique', 'Remove'), elements).map(([__op, objects]): Json => ({ __op, objects })),
  },
  { weight: 2, arbitrary: fc.constant<Json>({ __op: 'Delete' }) },
  { weight: 1, arbitrary: anything.map((amount): Json => ({ __op: 'SetOnInsert', amount })) },
  { weight: 1, arbitrary: fields.r.of },
  {
    weight: 1,
    arbitrary: fc
      .tuple(pick('Increment', 'Add', 'Batch', 'Foo', 'AddRelation'), anything)
      .map(([__op, x]): Json => ({ __op, amount: x, objects: x })),
  },
);
/** Operators that the field takes, its own values, and now and then anything. */
function change(name: string): fc.Arbitrary<Json> {
  const known = Object.hasOwn(fields, name) ? fields[name as 's'] : undefined;
  const type: string = known?.type ?? 'Object';
  const own = known ? (known.of as fc.Arbitrary<Json>) : anything;
  const lists = fc.tuple(pick('Add', 'AddUnique', 'Remove'), elements).map(([__op, objects]): Json => ({ __op, objects }));
  const fitting: fc.Arbitrary<Json>[] = [own, own, pick<Json>(null, { __op: 'Delete' })];
  if (type === 'Number') fitting.push(number.map((amount): Json => ({ __op: 'Increment', amount })));
  if (type === 'Array' || !known) fitting.push(lists, lists);
  if (!known) fitting.push(number.map((amount): Json => ({ __op: 'Increment', amount })));
  return fc.oneof(
    { weight: 10, arbitrary: fc.oneof(...fitting) },
    { weight: 1, arbitrary: operator },
    { weight: 1, arbitrary: anything },
  );
}
const changed = fc.oneof(
  { weight: 3, arbitrary: pick<string>(...fieldNames) },
  { weight: 3, arbitrary: place },
  { weight: 1, arbitrary: pick('new1', 'new2', 'ACL', '1x', 'createdAt', 'x y', `${'L'.repeat(80)}a`, `${'L'.repeat(80)}b`) },
);
const body = fc
  .uniqueArray(changed, { minLength: 1, maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((of) => change(of).map((value) => [of, value] as const))))
  .map((entries): Json => Object.fromEntries(entries));

const at = (id: string) => `classes/${MAIN}/${encodeURIComponent(id)}`;
const create = fc
  .tuple(mainId, record)
  .map(([objectId, row]): Request => ({ method: 'POST', path: `classes/${MAIN}`, body: { ...row, objectId } }));
const createAnyhow = fc
  .tuple(mainId, body)
  .map(([objectId, row]): Request => ({ method: 'POST', path: `classes/${MAIN}`, body: { ...(row as object), objectId } }));
const update = fc.tuple(mainId, body).map(([id, of]): Request => ({ method: 'PUT', path: at(id), body: of }));
const remove = mainId.map((id): Request => ({ method: 'DELETE', path: at(id) }));
const removeOther = otherId.map((id): Request => ({ method: 'DELETE', path: `classes/${OTHER}/${encodeURIComponent(id)}` }));
const other = fc
  .record(
    { objectId: otherId, name: text, rank: number, up: pointerTo(OTHER, otherId), list: array },
    { requiredKeys: ['objectId'] },
  )
  .map((row): Request => ({ method: 'POST', path: `classes/${OTHER}`, body: row as Json }));
const single = fc.oneof(
  { weight: 3, arbitrary: create },
  { weight: 1, arbitrary: createAnyhow },
  { weight: 8, arbitrary: update },
  { weight: 2, arbitrary: remove },
  { weight: 1, arbitrary: removeOther },
  { weight: 1, arbitrary: other },
);
const batch = fc.array(single, { minLength: 1, maxLength: 6 }).map(
  (items): Request => ({
    method: 'POST',
    path: 'batch',
    body: {
      requests: items.map(({ method, path, body: of }) => ({
        method,
        path: `/platform/${path}`,
        ...(of === undefined ? {} : { body: of }),
      })) as Json,
    },
  }),
);

const types = pick<Json>(
  { type: 'String' },
  { type: 'Number' },
  { type: 'Boolean' },
  { type: 'Date' },
  { type: 'Array' },
  { type: 'Object' },
  { type: 'Pointer', targetClass: OTHER },
  { type: 'Relation', targetClass: OTHER },
  { type: 'File' },
  { type: 'HTML/XML' },
);
const fieldChange = fc.oneof(
  { weight: 1, arbitrary: pick<string>(...fieldNames, 'new1').map((of): Json => ({ fields: { [of]: { __op: 'Delete' } } })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(pick('s', 'S', 'n', 'o', 'p', 'new1', 'new2'), types)
      .map(([of, type]): Json => ({ fields: { [of]: type } })),
  },
);
const index = fc
  .tuple(
    pick('i1', 'i2'),
    fc.uniqueArray(pick('n', 'd', 'b', 'p', 'm', 'createdAt', 'a', 'o', 'objectId', 'new1', 'r', 'l', 'f'), {
      minLength: 1,
      maxLength: 2,
    }),
    pick(1, -1),
    fc.boolean(),
  )
  .map(
    ([of, names, direction, gone]): Json => ({
      indexes: { [of]: gone ? { __op: 'Delete' } : Object.fromEntries(names.map((one) => [one, direction])) },
    }),
  );
const textIndex = fc.uniqueArray(pick('s', 'h', 'S'), { maxLength: 3 }).map((names): Json => ({ textIndex: names }));
const redefine = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .oneof(fieldChange, index, textIndex)
      .map((of): Request => ({ method: 'PUT', path: `schemas/${MAIN}`, body: of })),
  },
  {
    weight: 1,
    arbitrary: pick<Request>({ method: 'DELETE', path: `schemas/${MAIN}` }, { method: 'DELETE', path: `schemas/${OTHER}` }),
  },
);

export const write = fc.oneof(
  { weight: 8, arbitrary: single },
  { weight: 3, arbitrary: batch },
  { weight: 1, arbitrary: redefine },
);
export const edits = { update, create, batch, redefine };

/** Makes the tables, with a text index, and fills them. */
export function seeding(rows: Json[], targets: Json[]): Request[] {
  const wire = (of: { type: string; targetClass?: string }) => ({
    type: of.type,
    ...(of.targetClass === undefined ? {} : { targetClass: of.targetClass }),
  });
  const main = Object.fromEntries(fieldNames.map((of) => [of, wire(fields[of])]));
  const open = {
    find: { requiresAuthentication: true },
    get: { requiresAuthentication: true },
    count: { requiresAuthentication: true },
  };
  const target = {
    name: { type: 'String' },
    rank: { type: 'Number' },
    up: { type: 'Pointer', targetClass: OTHER },
    list: { type: 'Array' },
  };
  const load = (table: string, all: Json[]): Request => ({
    method: 'POST',
    path: 'batch',
    body: { requests: all.map((of) => ({ method: 'POST', path: `/platform/classes/${table}`, body: of })) },
  });
  return [
    { method: 'POST', path: `schemas/${OTHER}`, body: { className: OTHER, fields: target, classLevelPermissions: open } },
    {
      method: 'POST',
      path: `schemas/${MAIN}`,
      body: { className: MAIN, fields: main, textIndex: ['s', 'h'], classLevelPermissions: open },
    },
    load(OTHER, targets),
    load(MAIN, rows),
  ];
}
export const rows = fc
  .uniqueArray(
    mainId.filter((id) => id !== 'gone'),
    { maxLength: 13, size: 'max' },
  )
  .chain((ids) => fc.tuple(...ids.map((objectId) => record.map((row): Json => ({ ...row, objectId })))));
export const targets = fc
  .uniqueArray(
    otherId.filter((id) => id !== 'gone'),
    { maxLength: 6, size: 'max' },
  )
  .chain((ids) =>
    fc.tuple(
      ...ids.map((objectId, at_) =>
        fc
          .record({ name: text, rank: fc.constant(at_), up: pointerTo(OTHER, otherId), list: array }, { requiredKeys: [] })
          .map((row): Json => ({ ...row, objectId }) as Json),
      ),
    ),
  );
export { boolean, label };
