/** A clone has the records of a system as of one moment, keys of its own, and waits. Reference: clone.md. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { on } from '../audit/rows.ts';
import { assertServed, fileObject, publicUrl, recordUrl, uploadFile } from '../support/files.ts';
import { create, createEach, defineTable, find, pointer, type Row } from '../support/query.ts';
import { type EngineName, engines, type Service, startService } from '../support/service.ts';
import { afterCommand, soon } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';
import { begin, credentialsIn, done, folderForTest, namesBelow, refused, run } from './backups.ts';
import { at, clone, dump, remove, rowsIn } from './clones.ts';
import { LiveModel, table, targets } from './live-model.ts';
import { isServed } from './other-system.ts';
import { assertAlike, fill, readAll, type World } from './world.ts';

const password = 'Correct horse 1';
const privateText = 'for the eyes of Dana';

/** Tables that a clone has without rows. */
const logs = ['_Timeline', '_RequestLog', '_GeneralLogs', '_syslogTriggers', '_syslogSMS', '_syslogCampaignEmails'];
const live = ['_Session', '_TriggerQueue', '_OAuthItem', '_ImportJob', '_ImportReject', '_IdempotencyKey'];

interface Ground {
  service: Service;
  world: World;
  letter: { id: string; name: string };
}

async function groundOn(engine: EngineName): Promise<Ground> {
  const service = await startService({ engine });
  const world = await fill(service, 300);
  await defineTable(service, 'Letters', { f: 'PrivateFile', Name: 'String' }, { timeline: on });
  const f = fileObject(await uploadFile(service, 'letter.txt', privateText));
  const id = await create(service, 'Letters', { f, Name: 'a letter' });
  const [row] = await find(service, 'Letters');
  await createEach(service, '_GeneralLogs', [{ Type: 'test', Name: 'a log' }]);
  const again = { headers: { 'Idempotency-Key': 'a-key' }, body: { s: 'once' } };
  assert.equal((await service.call('POST', '/platform/classes/Target', again)).status, 201);
  return { service, world, letter: { id, name: String((row as { f: Row }).f.name) } };
}

/** Reads everything of one system, without what a clone leaves out and what requests of this suite change. */
async function readOf(service: Service, world: World, system: System): Promise<Map<string, string>> {
  const read = await readAll(at(service, system), { ...world, other: system });
  const own = [...read].filter(
    ([request]) => !/\/classes\/(_Session|_Timeline|_RequestLog|_GeneralLogs|_syslog\w+) /.test(request),
  );
  return new Map(
    own.map(([request, text]) => [request.slice(system.appId.length), text.replaceAll(`/${system.appId}/`, '/APP/')]),
  );
}

const logIn = (service: Service, system: System, username = 'dana') =>
  callSystem(service, system, 'POST', '/platform/login', { as: 'apiKey', body: { username, password } });

/** Creates a trigger that makes a record of `Made` for each created one of a table. */
async function makeTrigger(service: Service, of: string): Promise<void> {
  const actions = [{ _id: 'makesmadeX', type: 'create-object', actionData: { table: 'Made', fields: { Of: '{{objectId}}' } } }];
  const body = { Name: 'makes', table: of, events: ['create'], actions };
  const made = await service.call('POST', '/platform/classes/_Trigger', { body });
  assert.equal(made.status, 201, made.text);
}

for (const engine of engines)
  describe(`system clone: ${engine}`, () => {
    let ground: Ground;
    let folder: string;
    before(async () => {
      ground = await groundOn(engine);
    });
    after(() => ground.service.stop());

    test('records, relations and files to the byte; no sessions, no logs; other keys; nobody signs in without a new password', async () => {
      folder ??= await folderForTest();
      const { service, world, letter } = ground;
      const original: System = { appId: service.appId, masterKey: service.masterKey, apiKey: service.apiKey };
      const before = await readOf(service, world, original);
      const copy = await clone(service, service.appId, 'Staging');
      assert.match(copy.output, /^Staging: \d+ records and 2 files of \S+$/m);
      assert.match(copy.output, /^Held: 0 schedules[.] Start them with: record-service system resume Staging$/m);
      assert.equal(copy.stderr, '');
      const there = at(service, copy);
      // Before the requests that follow.
      const [source, dumped] = [await dump(service, folder, service.appId), await dump(service, folder, copy.appId)];
      assertAlike(await readOf(service, world, copy), before);
      await assertServed(
        publicUrl(there, world.file.name),
        Buffer.from(await (await fetch(publicUrl(service, world.file.name))).arrayBuffer()),
      );
      const place = { table: 'Letters', id: letter.id, field: 'f' };
      await assertServed(recordUrl(there, letter.name, place), privateText, {
        'X-Platform-Application-Id': there.appId,
        'X-Platform-Master-Key': there.masterKey,
      });
      for (const part of source.keys()) {
        const isEmpty = [...logs, ...live].includes(part) || /^_syslog/.test(part);
        if (isEmpty) assert.equal(rowsIn(dumped, part), 0, dumped.get(part));
        // The row of the clone itself.
        else if (part === '_AdminLog') assert.equal(rowsIn(dumped, part), 1, dumped.get(part));
        else if (!part.startsWith('_RequestLog')) assert.equal(rowsIn(dumped, part), rowsIn(source, part), part);
      }
      for (const name of ['_Timeline', '_RequestLog', '_GeneralLogs', '_Session', '_IdempotencyKey'])
        assert.ok(rowsIn(source, name) > 0, `${name} has rows to leave out`);
      // Keys, session and password of the original are of no use here.
      for (const key of [service.masterKey, service.apiKey, world.secondKey])
        for (const name of ['X-Platform-Master-Key', 'X-Platform-API-Key']) {
          const answer = await there.call('GET', '/platform/classes/Target', { as: 'anonymous', headers: { [name]: key } });
          assert.ok(answer.status >= 400, answer.text);
        }
      assert.equal((await there.call('GET', '/platform/users/me', { session: world.token })).body.code, 209);
      const turnedAway = await logIn(service, copy);
      assert.deepEqual([turnedAway.status, turnedAway.body.code], [404, 101]);
      assert.equal((await logIn(service, original)).status, 200);
      assert.ok(!String(dumped.get('_User')).includes('$argon2'), 'no hash');
      await done(service, ['user', 'set-password', 'dana', '--system', copy.appId, '--password', password]);
      await afterCommand(service, async () => assert.equal((await logIn(service, copy)).status, 200));
      // Writes to one are not in the other.
      await create(there, 'Letters', { Name: 'of the clone' });
      assert.equal((await find(service, 'Letters')).length, 1);
      await remove(service, copy);
      await assertServed(recordUrl(service, letter.name, place), privateText, {
        'X-Platform-Application-Id': service.appId,
        'X-Platform-Master-Key': service.masterKey,
      });
    });

    test('--with-logins: users sign in with their passwords, and no session goes along', async () => {
      const { service, world } = ground;
      const copy = await clone(service, service.appId, 'Logins', '--with-logins');
      assert.equal((await logIn(service, copy)).status, 200);
      assert.equal((await at(service, copy).call('GET', '/platform/users/me', { session: world.token })).body.code, 209);
      await remove(service, copy);
    });

    test('a clone is held, its queue begins empty, and its triggers run once it is resumed', async () => {
      folder ??= await folderForTest();
      const { service } = ground;
      await defineTable(service, 'Made', { Of: 'String' });
      await makeTrigger(service, 'Letters');
      const copy = await clone(service, service.appId, 'Held');
      const there = at(service, copy);
      assert.match(await done(service, ['system', 'list']), /^Held\t.*\theld: .*system resume Held/m);
      const id = await create(there, 'Letters', { Name: 'fires' });
      // A clone of a held system does not take its queued jobs.
      const second = await clone(service, 'Held', 'Held-2');
      assert.deepEqual(
        [await dump(service, folder, 'Held'), await dump(service, folder, 'Held-2')].map((one) => rowsIn(one, '_TriggerQueue')),
        [1, 0],
      );
      assert.equal((await find(there, 'Made')).length, 0);
      assert.equal(await done(service, ['system', 'resume', 'Held-2']), 'Resumed Held-2: 0 queued jobs start\n');
      assert.equal(await done(service, ['system', 'resume', 'Held']), 'Resumed Held: 1 queued job starts\n');
      const made = async () => (await find(there, 'Made')).map(({ Of }) => Of);
      await soon(async () => assert.deepEqual(await made(), [id]), 20_000);
      await remove(service, copy, second);
    });

    test('--schema-only: definitions and lookup tables, no business records, no users, no files', async () => {
      const { service } = ground;
      await createEach(service, 'Accounts', [{ Name: 'Dana' }]);
      await createEach(service, 'LeadStatuses', [{ Name: 'of our own' }]);
      await createEach(service, '_DynamicQueries', [{ Name: 'a report', table: 'Accounts' }]);
      await createEach(service, 'Config', [{ Name: 'OurFlag', Value: { OurFlag: true } }]);
      const copy = await clone(service, service.appId, 'Schema', '--schema-only');
      const there = at(service, copy);
      assert.match(copy.output, /^Schema: \d+ records and 0 files of /m);
      const schemas = async (of: Service) => (await of.call('GET', '/platform/schemas')).body.results;
      assert.deepEqual(await schemas(there), await schemas(service));
      for (const name of ['LeadStatuses', 'Config', '_DynamicQueries', '_Dictionary', '_Role', '_Trigger', 'CityList'])
        assert.deepEqual(await find(there, name, { limit: 10_000 }), await find(service, name, { limit: 10_000 }), name);
      for (const name of ['Accounts', 'Many', 'Letters', 'Target', '_User', '_Timeline'])
        assert.deepEqual(await find(there, name), [], name);
      const members = { where: { $relatedTo: { object: pointer('_Role', await roleId(service)), key: 'users' } } };
      assert.deepEqual([(await find(service, '_User', members)).length, (await find(there, '_User', members)).length], [1, 0]);
      const usage = await done(service, ['files', 'usage', '--system', copy.appId]);
      assert.match(usage, /^0 files|\b0\b/, usage);
      // Users come with their logins, and keep their roles.
      const withUsers = await clone(service, service.appId, 'Schema-2', '--schema-only', '--with-logins');
      assert.equal((await logIn(service, withUsers)).status, 200);
      assert.equal((await find(at(service, withUsers), '_User', members)).length, 1);
      await remove(service, copy, withUsers);
    });

    test('--files none: File fields are cleared and counted, uploads are counted from zero', async () => {
      const { service, world } = ground;
      const copy = await clone(service, service.appId, 'Fileless', '--files', 'none');
      assert.match(copy.output, /^Fileless: \d+ records and 0 files of \S+; 2 fields with a file cleared$/m);
      const there = at(service, copy);
      assert.equal((await fetch(publicUrl(there, world.file.name))).status, 404);
      assert.deepEqual(
        (await find(there, 'Letters')).map(({ f }) => f),
        [undefined],
      );
      assert.ok((await find(service, 'Letters')).every(({ f }) => f !== undefined));
      await uploadFile(there, 'new.txt', 'uploads are taken');
      await remove(service, copy);
    });

    test('a file whose bytes are missing: the clone is made, and the exit code is 2', async () => {
      const service = await startService({ engine });
      const names = async () => (await namesBelow(join(service.dataDir, 'files'))).filter((name) => !name.startsWith('.'));
      await defineTable(service, 'Papers', { f: 'File' });
      for (const name of ['kept.txt', 'lost.txt'])
        await create(service, 'Papers', { f: fileObject(await uploadFile(service, name, name)) });
      const [lost = ''] = await names();
      await rm(join(service.dataDir, 'files', lost));
      const { code, stdout, stderr } = await run(service, ['system', 'clone', service.appId, '--as', 'Lossy']);
      assert.deepEqual([code, stderr], [2, `record-service: 1 file of ${service.appId} had no bytes\n`]);
      assert.match(stdout, /^Lossy: \d+ records and 1 file of/);
      assert.deepEqual((await names()).filter((name) => name.startsWith('Lossy/')).length, 1);
      await service.stop();
    });

    test('what is refused leaves nothing', async () => {
      const { service } = ground;
      const { appId } = service;
      const listed = await done(service, ['system', 'list']);
      const second = await clone(service, appId, 'Taken');
      await done(service, ['system', 'remove', 'Taken']);
      for (const [from, as, says] of [
        [appId, 'Second-app', /the application id Second-app is taken$/m],
        [appId, 'second-APP', /the application id second-APP is taken$/m],
        [appId, appId, /is taken$/m],
        [appId, 'Taken', /the application id Taken is taken by a removed system: .*system restore Taken/],
        ['Taken', 'New', /Taken was removed/],
        ['Nowhere', 'New', /there is no system "Nowhere"/],
        [appId, 'no id', /an application id has 1 to 64 letters/],
        [appId, '', /an application id has 1 to 64 letters/],
      ] as const)
        await refused(service, ['system', 'clone', from, '--as', as], says);
      for (const args of [[appId], [appId, '--as', 'New', '--files', 'some'], ['--as', 'New']]) {
        const { code, stdout } = await run(service, ['system', 'clone', ...args]);
        assert.deepEqual([code, stdout], [1, ''], args.join(' '));
      }
      await remove(service, second);
      assert.equal(await done(service, ['system', 'list']), listed);
      await done(service, ['check']);
    });

    test('a system whose store is missing is not cloned', { skip: engine !== 'sqlite' }, async () => {
      const { service } = ground;
      const lost = await addSystem(service, '--app-id', 'Lost');
      await rm(join(service.dataDir, 'systems', lost.appId), { recursive: true });
      await refused(service, ['system', 'clone', 'Lost', '--as', 'Found'], /Lost.* is missing/);
      assert.ok(!(await done(service, ['system', 'list'])).includes('Found'));
      await done(service, ['system', 'forget', 'Lost']);
    });

    test('of two clones of one name at a time one is made', async () => {
      const { service } = ground;
      const both = [begin(service, ['system', 'clone', service.appId, '--as', 'Once']).ended];
      both.push(begin(service, ['system', 'clone', 'Second-app', '--as', 'Once']).ended);
      const ended = await Promise.all(both);
      assert.deepEqual(ended.map(({ code }) => code).toSorted(), [0, 1], JSON.stringify(ended));
      assert.match(
        ended.find(({ code }) => code === 1)?.stderr ?? '',
        /Once is taken|another process is making a system in Once/,
      );
      const [made] = ended.filter(({ code }) => code === 0);
      const system = credentialsIn(String(made?.stdout));
      await isServed(service, system);
      await remove(service, system);
    });

    test('--json: one object, with the keys', async () => {
      const { service } = ground;
      const { code, stdout } = await run(service, ['system', 'clone', service.appId, '--as', 'Json', '--json']);
      assert.equal(code, 0);
      const made = JSON.parse(stdout);
      assert.deepEqual([made.appId, made.from, made.files, made.missingFiles, made.held.jobs], ['Json', service.appId, 2, 0, 0]);
      assert.ok(made.masterKey && made.apiKey && made.records > 300);
      assert.equal(made.credentials, undefined);
      await remove(service, made);
    });
  });

async function roleId(service: Service): Promise<string> {
  return String((await find(service, '_Role', { where: { name: 'Sales 2' } }))[0]?.objectId);
}

for (const engine of engines)
  describe(`a clone of a system that is written to: ${engine}`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ engine });
      await createEach(
        service,
        'Target',
        targets.map((objectId) => ({ objectId })),
      );
      await defineTable(service, 'Made', { Of: 'String' });
      const fields = { tag: 'String', a: 'String', b: 'String', c: 'Object', filler: 'String', pair: 'Relation:Target' };
      await defineTable(service, table, fields);
      await makeTrigger(service, table);
    });
    after(() => service.stop());

    test('what was acknowledged before is in it, none by half', async (t) => {
      const folder = await folderForTest();
      const model = new LiveModel();
      const writing = Array.from({ length: 16 }, (_, n) => model.write(service, `w${n}`, 20));
      let copy: System | undefined;
      let moment = model.moment();
      try {
        while (model.moment().size <= 16) await wait(20);
        moment = model.moment();
        copy = await clone(service, service.appId, 'Live');
      } finally {
        model.isOver = true;
        for (const result of await Promise.allSettled(writing)) assert.equal(result.status, 'fulfilled', JSON.stringify(result));
      }
      assert.ok(copy);
      t.diagnostic(`${model.writes} writes`);
      const records = await find(at(service, copy), table, { limit: 1_000_000 });
      const writes = model.verify(records as never, moment);
      const pairs = (await dump(service, folder, copy.appId)).get(`${table}.pair`) ?? '';
      const owners = pairs
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)[0]);
      for (const objectId of writes.keys()) assert.equal(owners.filter((one) => one === objectId).length, targets.length);
      await remove(service, copy);
    });
  });
