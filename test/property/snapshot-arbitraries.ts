/** Random snapshots of schemas: a few tables and records of each part that fit together. Reference: schema-as-code.md#the-snapshot. */
import fc from 'fast-check';
import type { Json } from '../support/oracle.ts';

type Members = Record<string, Json>;

// Names that differ by case alone are different ones.
const tableNames = ['Zeta', 'zeta', 'Alpha', 'A1', 'Some_table'] as const;
const fieldNames = ['Name', 'name', 'a', 'A', 'b_2', 'Status', 'rank', 'Comment', 'f10', 'f9'] as const;
const types = ['String', 'Number', 'Boolean', 'Date', 'File', 'PrivateFile', 'Array', 'Object', 'HTML/XML'] as const;
const indexable: ReadonlySet<string> = new Set(['String', 'Number', 'Boolean', 'Date', 'HTML/XML', 'Pointer']);
const roleNames = ['Admin', 'Sales', 'Night shift', 'constructor', 'r-1'] as const;
const label = fc.constantFrom('שם', 'a "label"', "it's", '😀', '\\', 'x');

const field = (tables: readonly string[]): fc.Arbitrary<Members> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...types).map((type): Members => ({ type })) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Members>(
        { type: 'String', required: true },
        { type: 'Number', required: true, defaultValue: 0 },
        { type: 'String', defaultValue: 'שלום' },
        { type: 'Array', defaultValue: [{ b: 1, a: [2] }] },
        { type: 'Date', defaultValue: { __type: 'Date', iso: '2026-01-31T09:00:00.000Z' } },
        {
          type: 'Pointer',
          targetClass: '_User',
          defaultValue: { __type: 'Pointer', className: '_User', objectId: 'aaaaaaaaaa' },
        },
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('Pointer', 'Relation'), fc.constantFrom(...tables, '_User', 'Accounts'))
        .map(([type, targetClass]): Members => ({ type, targetClass })),
    },
  );

const labelled = (tables: readonly string[]): fc.Arbitrary<Members> =>
  fc
    .tuple(field(tables), fc.option(label, { nil: undefined }))
    .map(([one, dictionary]) => ({ ...one, ...(dictionary && { dictionary }) }));

const some = <T>(values: readonly T[], minLength = 0) => fc.subarray([...values], { minLength });

const grants = some(['*', 'requiresAuthentication', 'role:Admin', 'role:Night shift', 'someUserId']).map(
  (entities): Members => Object.fromEntries(entities.map((entity) => [entity, true])),
);

const permissionsFor = (fields: readonly string[]): fc.Arbitrary<Members> =>
  fc
    .tuple(fc.dictionary(fc.constantFrom('find', 'get', 'count', 'create', 'update', 'delete', 'addField'), grants), some(fields))
    .map(([actions, hidden]) => ({ ...actions, ...(hidden.length > 0 && { protectedFields: { '*': hidden } }) }));

const uniqueOf = (strings: readonly string[]): fc.Arbitrary<Members> =>
  fc
    .tuple(some(strings, Math.min(1, strings.length)), fc.constantFrom(undefined, 'nocase', 'phone'))
    .map(([fields, as]) => ({ fields, ...(as && { as }) }));

function tableFor(fields: Record<string, Members>): fc.Arbitrary<Members> {
  const named = Object.keys(fields).filter((name) => indexable.has(fields[name]?.type as string));
  const texts = Object.keys(fields).filter((name) => ['String', 'HTML/XML'].includes(fields[name]?.type as string));
  const strings = Object.keys(fields).filter((name) => fields[name]?.type === 'String');
  const direction = fc.constantFrom(1, -1);
  const keys = fc
    .tuple(some([...named, 'createdAt'], 1), fc.array(direction, { minLength: 12, maxLength: 12 }))
    .map(([names, directions]): Members => Object.fromEntries(names.map((name, n) => [name, directions[n] as number])));
  return fc
    .record({
      indexes: fc.dictionary(fc.constantFrom('byName', 'i2', 'I3'), keys),
      textIndex: some(texts),
      uniqueIndexes: fc.dictionary(fc.constantFrom('u1', 'U2'), uniqueOf(strings)),
      timeline: fc.option(
        fc.record({
          displayFields: some(Object.keys(fields)).map((names): Members => Object.fromEntries(names.map((name) => [name, true]))),
          index: fc.constant({} as Members),
        }),
      ),
    })
    .map(({ indexes, textIndex, uniqueIndexes, timeline }) => ({
      ...{ fields, indexes, textIndex },
      uniqueIndexes: strings.length > 0 ? uniqueIndexes : {},
      ...(timeline && { timeline }),
    }));
}

const conditions = fc.constantFrom<Members>(
  { objectId: { $ne: 'x' } },
  { $or: [{ createdAt: { $exists: true } }, { objectId: 'a' }] },
  { createdBy: { __type: 'Pointer', className: '_User', objectId: 'aaaaaaaaaa' } },
  {},
);

const acl = fc.option(
  fc.constantFrom<Members>({ 'role:Admin': { read: true, write: true } }, { '*': { read: true } }, { '*': {} }),
  { nil: undefined },
);

const rowsOf = (tables: readonly string[], more: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Members[]> =>
  fc.array(
    fc
      .record({
        Name: fc.option(fc.constantFrom('first', 'second', 'שלישי'), { nil: undefined }),
        table: fc.constantFrom(...tables, 'Accounts'),
        ACL: acl,
        ...more,
      })
      .map((row) => JSON.parse(JSON.stringify(row)) as Members),
    { maxLength: 4 },
  );

const actionsOf = (tables: readonly string[]) =>
  fc.array(
    fc.oneof(
      fc
        .constantFrom(...tables)
        .map((table): Members => ({ type: 'create-object', actionData: { table, fields: { note: '{{objectId}}' } } })),
      fc.constant<Members>({
        Active: false,
        type: 'e-mail',
        actionData: { to: 'a@example.com', subject: '{{objectId}}', html: '<b>x</b>' },
      }),
      fc.constant<Members>({ type: 'notification', actionData: { user: 'createdBy', content: 'x' } }),
    ),
    { maxLength: 3 },
  );

/** A snapshot without `complete`: it adds to what a system has. */
export const snapshots: fc.Arbitrary<Members> = some(tableNames, 1).chain((tables) =>
  fc.tuple(...tables.map(() => fc.dictionary(fc.constantFrom(...fieldNames), labelled(tables), { maxKeys: 7 }))).chain((fields) =>
    fc.record({
      format: fc.constant(1),
      tables: fc.tuple(...fields.map(tableFor)).map((all): Members => Object.fromEntries(all.map((one, n) => [tables[n], one]))),
      permissions: fc
        .tuple(...fields.map((one) => permissionsFor(Object.keys(one))))
        .map((all): Members => Object.fromEntries(all.map((one, n) => [tables[n], one]))),
      roles: fc.dictionary(fc.constantFrom(...roleNames), fc.record({ roles: some(['Sales', 'Service', 'Admin']) })),
      triggers: rowsOf(tables, {
        events: some(['create', 'update', 'delete'], 1),
        criteria: conditions,
        Active: fc.boolean(),
        actions: actionsOf(tables),
      }),
      labels: fc.dictionary(
        fc.constantFrom(...tables, '_Terminology', 'Nowhere'),
        fc.record({ label, fields: fc.dictionary(fc.constantFrom('createdAt', 'Sales', '12'), label) }),
      ),
      reports: rowsOf(tables, {
        keys: some(['objectId', 'createdAt']),
        where: conditions,
        order: fc.constantFrom('-createdAt', 'objectId'),
        Shared: fc.boolean(),
        View: fc.constantFrom({ columns: [{ field: 'objectId', width: 120 }] }, {}),
      }),
      config: fc
        .dictionary(fc.constantFrom('AcceptWebToTable', 'allowAllFiles', 'MyFlag'), fc.boolean())
        .map((flags): Members => Object.fromEntries(Object.entries(flags).map(([name, is]) => [name, { [name]: is }]))),
    }),
  ),
) as fc.Arbitrary<Members>;
