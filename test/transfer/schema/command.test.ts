/** Schema as code by the commands: export, diff, apply. Reference: schema-as-code.md. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { create, createEach, find, onEachEngine, pointer } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { succeed } from '../../systems/cli.ts';
import {
  applied,
  apply,
  assertFails,
  changesOf,
  diff,
  directoryForTest,
  edit,
  exported,
  filesIn,
  fillSchema,
  newSystem,
} from './schemas.ts';

onEachEngine((get) => {
  let source: Service;
  let directory: string;
  before(async () => {
    source = await newSystem(get());
    await fillSchema(source);
    directory = await exported(source);
  });

  test('Export: the directory has a file for each table and one for each other part, ids and times of none', async () => {
    const files = await filesIn(directory);
    const own = ['config', 'labels', 'permissions', 'reports', 'roles', 'schema', 'triggers'].map((name) => `${name}.json`);
    assert.deepEqual(
      Object.keys(files).filter((name) => !name.startsWith('tables')),
      own,
    );
    assert.ok(files['tables/Accounts.json'] && files['tables/_User.json'] && !files['tables/_StoredFile.json']);
    for (const [name, text] of Object.entries(files)) {
      assert.ok(text.endsWith('\n') && !text.endsWith('\n\n'), name);
      assert.doesNotMatch(text, /_id"|objectId": "[^מ]|"20\d\d-|not in any snapshot/, name);
    }
    const visits = JSON.parse(files['tables/Visits.json'] as string);
    assert.deepEqual(visits.fields.Name, { type: 'String', dictionary: 'שם הביקור' });
    assert.deepEqual(visits.fields.Guests, { type: 'Relation', targetClass: 'Contacts' });
    assert.deepEqual(Object.keys(visits), ['fields', 'timeline', 'indexes', 'textIndex']);
    assert.deepEqual(Object.entries(visits.indexes.byDay), [
      ['At', -1],
      ['AccountId', 1],
    ]);
    assert.deepEqual(JSON.parse(files['roles.json'] as string).Sales, { roles: ['Dispatcher'] });
    assert.deepEqual(JSON.parse(files['config.json'] as string), {
      AcceptWebLeads: { AcceptWebLeads: true },
      AcceptWebToTable: { AcceptWebToTable: true },
      TimeZone: { TimeZone: 'Asia/Jerusalem' },
    });
    assert.equal(JSON.parse(files['labels.json'] as string).Visits.label, 'ביקורים');
    const [trigger] = JSON.parse(files['triggers.json'] as string);
    assert.deepEqual([trigger.Name, trigger.table, trigger.Active], ['Visit new leads', 'Accounts', true]);
    const [status] = await find(source, 'LeadStatuses', { order: 'Name' });
    assert.deepEqual(trigger.criteria.LeadStatusId, { Name: status?.Name, __type: 'Pointer', className: 'LeadStatuses' });
  });

  test('Export: the same system gives the same bytes; a table that is gone is removed from the directory', async () => {
    const again = await exported(source);
    assert.deepEqual(await filesIn(again), await filesIn(directory));
    await edit(again, 'tables/Gone.json', () => ({ fields: {} }));
    await succeed(source, 'schema', 'export', '--system', source.appId, '--to', again);
    assert.deepEqual(await filesIn(again), await filesIn(directory));
  });
  test('Export: --parts writes the named parts alone; a directory of others is not touched', async () => {
    const only = await exported(source, '--parts', 'roles,config');
    assert.deepEqual(Object.keys(await filesIn(only)), ['config.json', 'roles.json', 'schema.json']);
    const other = await directoryForTest();
    await edit(other, 'x.json', () => ({}));
    await succeed(source, 'schema', 'export', '--system', source.appId, '--to', join(other, 'new'));
    await rm(join(other, 'new', 'schema.json'));
    await edit(join(other, 'new'), 'tables/Mine.json', () => ({}));
    await assertFails(
      runExport(source, join(other, 'new')),
      /holds Mine\.json, and no export has written there; name an empty directory/,
    );
    assert.ok(existsSync(join(other, 'new', 'tables', 'Mine.json')));
    await assertFails(runExport(source, other, '--parts', 'tables,rolls'), /--parts: rolls is none of tables, permissions/);
  });

  test('Apply: a new system becomes the same, applied twice nothing changes, and its export has the same bytes', async () => {
    const target = await newSystem(get());
    const lines = await changesOf(target, directory);
    assert.ok(lines.includes('+ Visits: table, 12 fields'), lines.join('\n'));
    assert.ok(lines.includes('+ Accounts.Score Number'));
    assert.ok(lines.includes('~ Accounts: index byScore'));
    assert.ok(lines.includes('+ role Dispatcher'));
    assert.ok(lines.includes('~ role Sales: roles'));
    assert.ok(lines.includes('+ trigger Visit new leads (Accounts)'));
    assert.ok(lines.includes('+ report Open visits (Visits)'));
    assert.ok(lines.includes('+ flag TimeZone'));
    assert.ok(lines.includes('~ _Terminology: labels of Sales'));
    assert.ok(!lines.some((line) => line.startsWith('~ Visits')), 'a new table is one change');
    assert.match(lines.at(-1) as string, /^\d+ changes, 0 destructive$/);
    assert.deepEqual(await applied(target, directory), lines);
    assert.deepEqual(await changesOf(target, directory), []);
    assert.deepEqual(await applied(target, directory), ['no changes']);
    assert.deepEqual(await filesIn(await exported(target)), await filesIn(directory));
  });

  test('Apply: what was applied works', async () => {
    const target = await newSystem(get());
    await applied(target, directory);
    const [status] = await find(target, 'LeadStatuses', { order: 'Name' });
    const lead = { Name: 'Lead', Score: 5, LeadStatusId: pointer('LeadStatuses', String(status?.objectId)) };
    await create(target, 'Accounts', lead);
    for (let tries = 0; tries < 100 && (await find(target, 'Visits')).length === 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(
      (await find(target, 'Visits')).map(({ Name }) => Name),
      ['Lead'],
    );
    assert.equal((await find(target, 'Visits', { where: { $text: { $search: { $term: 'lead' } } } })).length, 1);
    const { body } = await target.call('GET', '/platform/schemas/Visits');
    assert.deepEqual(body.classLevelPermissions.create, { requiresAuthentication: true });
    assert.deepEqual(body.timeline.displayFields, { Name: true, At: true });
  });

  test('Diff: the lines of each kind of change, and exit code 2', async () => {
    const target = await newSystem(get());
    await applied(target, directory);
    await createEach(target, 'Visits', [{ Minutes: 5 }, { Minutes: 6, Name: 'x' }, {}]);
    const changed = await exported(target);
    await edit(changed, 'tables/Visits.json', (visits) => {
      delete visits.fields.Minutes;
      visits.fields.Done.dictionary = 'בוצע';
      delete visits.indexes.byName;
      visits.indexes.byDay = { At: 1 };
      visits.fields.Length = { type: 'Number' };
      visits.fields.Where = { type: 'Pointer', targetClass: 'CityList', dictionary: 'איפה' };
      visits.textIndex = ['Notes'];
      visits.timeline = null;
    });
    await edit(changed, 'permissions.json', (all) => {
      all.Visits.delete = { 'role:Admin': true };
    });
    await edit(changed, 'roles.json', (roles) => {
      delete roles.Dispatcher;
      delete roles.Sales.roles;
    });
    await edit(changed, 'triggers.json', ([trigger]) => {
      trigger.Active = false;
      return [trigger];
    });
    await edit(changed, 'reports.json', () => []);
    await edit(changed, 'config.json', (config) => {
      delete config.TimeZone;
      config.AcceptWebToTable.AcceptWebToTable = false;
    });
    await rm(join(changed, 'tables', 'Tags.json'));
    const tags = (await find(target, 'Tags')).length;
    const lines = await changesOf(target, changed);
    assert.deepEqual(
      lines.map((line) => line.replace(/ +DESTRUCTIVE$/, '  DESTRUCTIVE')),
      [
        '+ Visits.Length Number',
        '+ Visits.Where Pointer<CityList>',
        '~ Visits: index byDay',
        '~ Visits: index byName goes',
        '~ Visits: text index Notes',
        '~ Visits: timeline off',
        '~ Visits: permissions delete',
        '! Visits.Minutes: field goes, 2 records have a value  DESTRUCTIVE',
        `! Tags: table goes, ${tags === 0 ? 'no record' : `${tags} records`}  DESTRUCTIVE`,
        '! role Dispatcher goes, no users  DESTRUCTIVE',
        '~ role Sales: roles',
        '~ trigger Visit new leads (Accounts): Active',
        '~ Visits: labels of Done',
        '! report Open visits (Visits) goes  DESTRUCTIVE',
        '~ flag AcceptWebToTable: Value',
        '! flag TimeZone goes  DESTRUCTIVE',
        '16 changes, 5 destructive',
      ],
    );
    const before = await filesIn(await exported(target));
    const refused = await assertFails(
      apply(target, changed),
      /nothing was done: 5 destructive changes not allowed: Visits\.Minutes/,
    );
    assert.match(refused, /--allow-destructive/);
    assert.deepEqual(await filesIn(await exported(target)), before);
    assert.equal((await apply(target, changed, '--dry-run', '--allow-destructive')).code, 0);
    assert.deepEqual(await filesIn(await exported(target)), before);
    await applied(target, changed, '--allow-destructive');
    assert.deepEqual(await changesOf(target, changed), []);
    assert.equal((await target.call('GET', '/platform/schemas/Tags')).status, 400);
  });

  test('Diff: the files of the template are a directory, too: a new system does not differ from them', async () => {
    const template = fileURLToPath(new URL('../../../template', import.meta.url));
    assert.deepEqual(await changesOf(await newSystem(get()), template), []);
  });

  test('Diff: --json prints the hash and the changes as one object', async () => {
    const target = await newSystem(get());
    const { code, stdout } = await diff(target, directory, '--json');
    const { hash, changes } = JSON.parse(stdout);
    assert.equal(code, 2);
    assert.match(hash, /^[\w-]{43}$/);
    const score = changes.find(({ name }: { name?: string }) => name === 'Score');
    assert.deepEqual(score, {
      sign: '+',
      part: 'tables',
      table: 'Accounts',
      name: 'Score',
      text: 'Accounts.Score Number',
      destructive: false,
    });
  });
});

async function runExport(system: Service, to: string, ...args: string[]) {
  const { command } = await import('../../systems/cli.ts');
  return command(system, 'schema', 'export', '--system', system.appId, '--to', to, ...args);
}
