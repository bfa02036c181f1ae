/** What is wrong with a snapshot is named with its file and place, and nothing is done. Reference: schema-as-code.md#what-is-refused. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { assertError, create, onEachEngine } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import {
  apply,
  assertFails,
  diff,
  directoryForTest,
  edit,
  exported,
  filesIn,
  fillSchema,
  type Json,
  newSystem,
} from './schemas.ts';

type Fault = [what: string, file: string, change: (body: Json) => unknown, says: string | RegExp];

const anywhere: readonly Fault[] = [
  [
    'an unknown key of a table',
    'tables/Visits.json',
    (table) => ({ ...table, indxes: {} }),
    /^tables\/Visits\.json: indxes is not a key; is indexes meant\? \(line \d+\)$/,
  ],
  [
    'an unknown key of a field',
    'tables/Visits.json',
    ({ fields }) => Object.assign(fields.Done, { tpye: 'String' }) && undefined,
    /^tables\/Visits\.json: fields\.Done\.tpye is not a key; is type meant\? \(line \d+\)$/,
  ],
  [
    'a field without a type',
    'tables/Visits.json',
    ({ fields }) => {
      delete fields.Done.type;
    },
    /fields\.Done\.type is not a text/,
  ],
  [
    'an unknown type',
    'tables/Visits.json',
    ({ fields }) => {
      fields.New = { type: 'Text' };
    },
    'Visits: invalid field type: Text',
  ],
  [
    'a Pointer to a table that neither side has',
    'tables/Visits.json',
    ({ fields }) => {
      fields.New = { type: 'Pointer', targetClass: 'Nowhere' };
    },
    'tables/Visits.json: fields.New.targetClass names Nowhere, a table that neither side has',
  ],
  [
    'a Pointer without a target',
    'tables/Visits.json',
    ({ fields }) => {
      fields.New = { type: 'Pointer' };
    },
    'Visits: A class name is needed.',
  ],
  [
    'a name that no field may have',
    'tables/Visits.json',
    ({ fields }) => {
      fields['a b'] = { type: 'Date' };
    },
    'Visits: Invalid field name: a b',
  ],
  [
    'a name of the prototype',
    'tables/Visits.json',
    ({ fields, ...table }) => ({ ...table, fields: { ...fields, constructor: { type: 'Date' } } }),
    'Visits: Invalid field name: constructor',
  ],
  [
    'an index of no field',
    'tables/Visits.json',
    ({ indexes }) => {
      indexes.byX = { X: 1 };
    },
    /indexes\.byX names X, which is no field here/,
  ],
  [
    'a direction',
    'tables/Visits.json',
    ({ indexes }) => {
      indexes.byDay = { At: 2 };
    },
    /indexes\.byDay\.At is neither 1 nor -1 \(line \d+\)/,
  ],
  [
    'an index of an Array',
    'tables/Tags.json',
    (table) => void Object.assign(table, { fields: { ...table.fields, L: { type: 'Array' } }, indexes: { l: { L: 1 } } }),
    /^index Tags\.l: Field L is of type Array, cannot add index/,
  ],
  [
    'a text index of a Date',
    'tables/Visits.json',
    (table) => {
      table.textIndex = ['At'];
    },
    /^text index of Visits: Field At is of type Date/,
  ],
  ['a table file that is a list', 'tables/Visits.json', () => [], 'tables/Visits.json: is not an object (line 1)'],
  ['a name that no table may have', 'tables/9.json', () => ({ fields: {} }), '9: Invalid class name: 9'],
  [
    'an unknown permission',
    'permissions.json',
    ({ Visits }) => {
      Visits.read = {};
    },
    /^permissions\.json: Visits\.read is not a key \(line \d+\)/,
  ],
  [
    'a permission of another form',
    'permissions.json',
    ({ Visits }) => {
      Visits.find = { '*': 1 };
    },
    /Visits: Invalid class level permissions: find:\* must be true/,
  ],
  [
    'a role of a role that is not there',
    'roles.json',
    ({ Sales }) => {
      Sales.roles = ['Nobody'];
    },
    'roles.json: Sales.roles names Nobody, a role that neither side has',
  ],
  [
    'a name that no role may have',
    'roles.json',
    (roles) => {
      roles['a/b'] = {};
    },
    'role a/b: Invalid role name.',
  ],
  [
    'a trigger of a field that is not there',
    'triggers.json',
    ([trigger]) => {
      trigger.changedFields = ['X'];
    },
    /^trigger Visit new leads \(Accounts\): Invalid trigger: changedFields\[0\] is no field of Accounts: X/,
  ],
  [
    'a trigger without a table',
    'triggers.json',
    ([trigger]) => {
      delete trigger.table;
    },
    /^triggers\.json: 0\.table is not a text/,
  ],
  [
    'an unknown key of a trigger',
    'triggers.json',
    ([trigger]) => {
      trigger.objectId = 'x';
    },
    /^triggers\.json: 0\.objectId is not a key \(line \d+\)/,
  ],
  [
    'a reference to a record that is not there',
    'triggers.json',
    ([trigger]) => {
      trigger.criteria.LeadStatusId.Name = 'Nothing like it';
    },
    'nothing was done: trigger Visit new leads (Accounts) points at LeadStatuses "Nothing like it", which is not there once',
  ],
  ['triggers that are no list', 'triggers.json', () => ({}), 'triggers.json: are not a list (line 1)'],
  [
    'an unknown key of a report',
    'reports.json',
    ([report]) => {
      report.OwnerId = 'x';
    },
    /^reports\.json: 0\.OwnerId is not a key/,
  ],
  [
    'settings that are no flags',
    'config.json',
    (config) => {
      config.Payment = { Payment: {} };
    },
    /^config\.json: Payment is no flag \(line \d+\)/,
  ],
  [
    'two labels of a field',
    'labels.json',
    (labels) => {
      labels.Visits.fields = { Name: 'x' };
    },
    /^tables\/Visits\.json: fields\.Name\.dictionary is another label/,
  ],
  [
    'a label that is no text',
    'labels.json',
    (labels) => {
      labels.Visits.label = 5;
    },
    /^labels\.json: Visits\.label is not a text/,
  ],
  [
    'a later format',
    'schema.json',
    () => ({ format: 2 }),
    'schema.json: format is 2: this version of the service reads up to 1 (line 2)',
  ],
  ['an unknown key of the manifest', 'schema.json', () => ({ format: 1, tables: {} }), 'schema.json: tables is not a key'],
];

onEachEngine((get) => {
  let system: Service;
  let directory: string;
  let files: Record<string, string>;
  before(async () => {
    system = await newSystem(get());
    await fillSchema(system);
    directory = await exported(system);
    files = await filesIn(directory);
  });

  for (const [what, file, change, says] of anywhere)
    test(`Apply: refused is ${what}`, async () => {
      const changed = await directoryForTest();
      await mkdir(join(changed, 'tables'));
      for (const [name, text] of Object.entries(files)) await writeFile(join(changed, name), text);
      await edit(changed, file, change);
      const stderr = await assertFails(apply(system, changed, '--allow-destructive'), /^record-service: /);
      const text = stderr.trimEnd().slice('record-service: '.length);
      if (typeof says === 'string') assert.equal(text, says);
      else assert.match(text, says);
      assert.deepEqual(await filesIn(await exported(system)), files);
    });

  const broken: [what: string, text: string, says: RegExp][] = [
    ['text that is no JSON', '{\n  "fields": {\n    "A": x\n', /tables\/T\.json: it is no JSON: line 3, column 10$/m],
    ['a file that ends early', '{\n  "fields": {', /tables\/T\.json: it is no JSON: line 2, column 14$/m],
    [
      'values of too many levels',
      `{"fields": {"A": {"type": "Array", "defaultValue": ${'['.repeat(200_000)}${']'.repeat(200_000)}}}}`,
      /tables\/T\.json: Invalid JSON: nested too deep$/m,
    ],
    [
      'NUL',
      '{"fields": {"A": {"type": "String", "defaultValue": "\\u0000"}}}',
      /tables\/T\.json: Invalid JSON: a string holds NUL$/m,
    ],
    [
      'half of a surrogate pair',
      '{"fields": {"A\\ud800": {"type": "String"}}}',
      /T\.json: Invalid JSON: a string holds half of a surrogate/,
    ],
    ['an empty file', '', /tables\/T\.json: it is no JSON: line 1, column 1$/m],
  ];
  for (const [what, text, says] of broken)
    test(`Diff: refused is ${what}, with its place`, async () => {
      const changed = await directoryForTest();
      await mkdir(join(changed, 'tables'));
      await writeFile(join(changed, 'tables', 'T.json'), text);
      await assertFails(diff(system, changed), says);
    });

  test('Diff: refused is a directory without a snapshot, an unknown part, an unknown table', async () => {
    const empty = await directoryForTest();
    await assertFails(diff(system, empty), /holds no snapshot/);
    await assertFails(diff(system, join(empty, 'none')), /there is no directory/);
    await assertFails(diff(system, directory, '--parts', 'tabels'), /--parts: tabels is none of tables/);
    await assertFails(diff(system, directory, '--only', 'Visit'), /only: there is no table Visit; is Visits meant\?/);
    const some = await exported(system, '--parts', 'tables');
    await assertFails(diff(system, some, '--parts', 'roles'), /roles\.json: are not in the snapshot/);
  });

  test('Apply: a change of a type is destructive, with how many records have a value', async () => {
    await create(system, 'Visits', { Minutes: 3 });
    const changed = await exported(system, '--parts', 'tables');
    await edit(changed, 'tables/Visits.json', ({ fields }) => {
      fields.Minutes.type = 'String';
    });
    const { stdout } = await diff(system, changed);
    assert.match(stdout, /^! Visits\.Minutes: Number → String, 1 record has a value +DESTRUCTIVE$/m);
    await assertFails(
      apply(system, changed),
      /nothing was done: 1 destructive change not allowed: Visits\.Minutes: Number → String/,
    );
  });

  test('HTTP: the place of a fault is in the answer, code 107', async () => {
    const { body: snapshot } = await system.call('GET', '/platform/schema/snapshot');
    const send = (change: (body: Json) => unknown) => {
      const body = structuredClone(snapshot);
      change(body);
      return system.call('POST', '/platform/schema/diff', { body });
    };
    assertError(
      await send(({ tables }) => Object.assign(tables.Visits.fields.Done, { tpye: 1 })),
      400,
      107,
      'Invalid snapshot: tables.Visits.fields.Done.tpye is not a key; is type meant?',
    );
    assertError(await send((body) => Object.assign(body, { format: 2 })), 400, 107, /format is 2/);
    assertError(await send((body) => Object.assign(body, { table: {} })), 400, 107, /table is not a key; is tables meant\?/);
    assertError(await system.call('POST', '/platform/schema/diff', { body: [] }), 400, 107);
    assertError(await system.call('POST', '/platform/schema/diff', { body: { snapshot: 5 } }), 400, 107);
    assertError(await system.call('POST', '/platform/schema/diff', { body: { snapshot, parts: ['x'] } }), 400, 107);
    assertError(await system.call('POST', '/platform/schema/diff', { body: { snapshot, other: 1 } }), 400, 107);
  });
});
