/** Anonymised clones: no original value is left, groups of equal values stay, and wrong rules make nothing. Reference: clone.md#anonymised-clones. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileObject, uploadFile } from '../support/files.ts';
import { keyHeaders, useTool } from '../support/mcp.ts';
import { createEach, createMany, date, defineTable, find, pointer, type Row } from '../support/query.ts';
import type { Json } from '../support/records.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { done, folderForTest, refused, run } from './backups.ts';
import { at, clone, dump, remove, rowsIn } from './clones.ts';

const password = 'Correct horse 1';

/** Texts that the originals hold and the clone must not, in any table and any form. */
const secrets = [
  ...['Rosencrantz', 'ROSENCRANTZ', 'Guildenstern', 'רוזנצוויג', 'גילדנברג', 'Elsinore', 'Kronborg'],
  ...['1234567', '123-4567', '7654321', '512345670', '51-234567-0', 'rosen@', 'guild@', 'denmark', 'Ophelia', '1599-05-06'],
];

const accounts: readonly Row[] = [
  {
    Name: 'Rosencrantz Elsinore',
    F_name: 'Rosencrantz',
    L_name: 'Elsinore',
    PhoneNumber: '050-123-4567',
    Email: 'rosen@denmark.dk',
  },
  { Name: 'ROSENCRANTZ  Elsinore', PhoneNumber: '+972501234567', Email: 'ROSEN@denmark.dk', CompanyId: '512345670' },
  { Name: 'רוזנצוויג', PhoneNumber: '972-50-1234567', Email: 'guild@denmark.dk', CompanyId: '51-234567-0' },
  { Name: 'גילדנברג רוזנצוויג', PhoneNumber: '0507654321', Comment: '<p title="Ophelia">Ophelia of Elsinore</p>' },
  { Name: 'Guildenstern', PhoneNumber: '(050) 765 4321', Email: 'guild@denmark.dk', Address: 'Kronborg 2' },
  { Name: 'without anything else' },
];

const rules = {
  Accounts: {
    ...{ Name: 'name', F_name: 'name', L_name: 'name', PhoneNumber: 'phone', Email: 'email', CompanyId: 'digits' },
    ...{ Comment: 'text', Address: 'remove' },
  },
  Contacts: { FirstName: 'name', Mobile: 'phone' },
  Secrets: { words: 'text', born: 'date', list: 'email', o: 'text', n: 'phone', gone: 'remove', rel: 'remove', flag: 'remove' },
  _User: { username: 'email', email: 'email', name: 'name', phone: 'phone' },
};

interface Ground {
  service: Service;
  folder: string;
  ids: string[];
}

async function groundOn(engine: (typeof engines)[number]): Promise<Ground> {
  const [service, folder] = [await startService({ engine }), await folderForTest()];
  const ids = await createEach(service, 'Accounts', accounts);
  await createEach(service, 'Contacts', [
    { FirstName: 'Rosencrantz', Mobile: '0501234567', AccountId: pointer('Accounts', ids[0] ?? '') },
  ]);
  const fields = {
    ...{ words: 'String', born: 'Date', list: 'Array', o: 'Object', n: 'Number', gone: 'Object', rel: 'Relation:Accounts' },
    ...{ flag: 'Boolean', f: 'File', Email: 'String', plain: 'String' },
  };
  await defineTable(service, 'Secrets', fields, { textIndex: ['words'] });
  await createEach(service, 'Secrets', [
    {
      ...{
        words: 'Ophelia of Elsinore',
        born: date('1599-05-06T07:08:09.010Z'),
        list: ['rosen@denmark.dk', pointer('Accounts', 'x')],
      },
      ...{ o: { who: { name: 'Guildenstern' } }, n: 501234567, gone: { of: 'Ophelia' }, flag: true, plain: 'plain', Email: '' },
      f: fileObject(await uploadFile(service, 'a.txt', 'of Ophelia')),
    },
  ]);
  const [secret] = await find(service, 'Secrets');
  await service.call('PUT', `/platform/classes/Secrets/${secret?.objectId}`, {
    body: { rel: { __op: 'AddRelation', objects: [pointer('Accounts', ids[0] ?? '')] } },
  });
  await createEach(service, '_Notification', [{ Content: 'Ophelia called' }]);
  await createEach(service, '_GeneralLogs', [{ Type: 'Ophelia' }]);
  for (const [username, name] of [
    ['rosen@denmark.dk', 'Rosencrantz'],
    ['guild@denmark.dk', 'Guildenstern'],
  ]) {
    const body = { username, email: username, name, password, phone: '050-1234567' };
    const signed = await service.call('POST', '/platform/users', { as: 'apiKey', body });
    assert.equal(signed.status, 201, signed.text);
  }
  return { service, folder, ids };
}

async function rulesIn(folder: string, content: unknown): Promise<string> {
  const file = join(folder, 'rules.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

for (const engine of engines)
  describe(`system clone --anonymise: ${engine}`, () => {
    let ground: Ground;
    before(async () => {
      ground = await groundOn(engine);
    });
    after(() => ground.service.stop());

    test('no original value is left in any table, hidden ones included', async () => {
      const { service, folder } = ground;
      const source = [...(await dump(service, folder, service.appId)).values()].join('\n');
      for (const secret of secrets)
        assert.ok(source.includes(secret) || secret === '1599-05-06', `${secret} is there to be removed`);
      const copy = await clone(service, service.appId, 'Anon', '--anonymise', await rulesIn(folder, rules));
      const dumped = await dump(service, folder, copy.appId);
      for (const [part, text] of dumped)
        for (const secret of secrets) {
          const found = text.toLowerCase().indexOf(secret.toLowerCase());
          assert.ok(found < 0, `${part}: ${text.slice(Math.max(0, found - 80), found + 80)}`);
        }
      assert.ok(!String(dumped.get('Secrets')).includes(String(Date.parse('1599-05-06T07:08:09.010Z'))));
      assert.equal(rowsIn(dumped, '_Notification'), 0);
      assert.equal(rowsIn(dumped, 'Secrets.rel'), 0);
      assert.equal(rowsIn(dumped, '_StoredFile'), 0);
      // What has no rule stays; the field with a file is cleared.
      const [secret]: Json[] = await find(at(service, copy), 'Secrets');
      assert.deepEqual([secret.plain, secret.f, secret.gone, secret.flag], ['plain', undefined, undefined, undefined]);
      assert.match(secret.born.iso, /T07:08:09\.010Z$/);
      assert.deepEqual(secret.list[1], pointer('Accounts', 'x'));
      await remove(service, copy);
    });

    test('equal values stay equal across tables and notations: duplicates and forms find the same groups', async () => {
      const { service, folder, ids } = ground;
      const copy = await clone(service, service.appId, 'Groups', '--anonymise', await rulesIn(folder, rules));
      const there = at(service, copy);
      const duplicates = async (of: Service, known: Row) =>
        (await useTool(of, keyHeaders(of), 'Find-Duplicates', { table: 'Accounts', ...known })).results.map(
          (row: Row) => `${row.objectId} ${row.matchedOn}`,
        );
      const rows = new Map((await find(there, 'Accounts')).map((row) => [row.objectId, row]));
      const properties = { PhoneNumber: 'phone', Email: 'email', Name: 'name', CompanyId: 'companyId' };
      let compared = 0;
      for (const [n, id] of ids.entries())
        for (const [field, property] of Object.entries(properties)) {
          const [before, after] = [accounts[n]?.[field], rows.get(id)?.[field]];
          assert.equal(typeof before, typeof after, `${field} of ${n}`);
          if (before === undefined) continue;
          compared++;
          const [own, copied] = [
            await duplicates(service, { [property]: before }),
            await duplicates(there, { [property]: after }),
          ];
          assert.deepEqual(copied, own, `${field} ${before}`);
        }
      assert.ok(compared > 15);
      // The name in one field is that in two.
      const first = rows.get(ids[0]);
      assert.equal(first?.Name, `${first?.F_name} ${first?.L_name}`);
      const [contact] = await find(there, 'Contacts');
      assert.equal(contact?.FirstName, first?.F_name);
      assert.equal(String(contact?.Mobile), String(first?.PhoneNumber).replaceAll('-', ''));
      assert.match(String(first?.PhoneNumber), /^050-\d{3}-\d{4}$/);
      assert.match(String(rows.get(ids[1])?.PhoneNumber), /^\+97250\d{7}$/);
      assert.match(String(rows.get(ids[2])?.Name), /^\p{Script=Hebrew}+$/u);
      // A form recognises the number in another notation.
      const digits = String(first?.PhoneNumber).replaceAll('-', '');
      const url = `${service.url}/functions/${copy.appId}/getlead`;
      const phone = `+972-${digits.slice(1)}`;
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ Name: 'x', PhoneNumber: phone, phone }),
      });
      assert.equal(answer.status, 200, await answer.clone().text());
      const statuses = new Map((await find(there, 'LeadStatuses')).map((row) => [row.objectId, row.SystemKey]));
      const [lead]: Json[] = await find(there, 'Accounts', { order: '-createdAt', limit: 1 });
      assert.equal(statuses.get(lead.LeadStatusId.objectId), 'duplicate');
      await remove(service, copy);
    });

    test('users have other names, and sign in by these with a new password', async () => {
      const { service, folder } = ground;
      const copy = await clone(service, service.appId, 'Users', '--anonymise', await rulesIn(folder, rules), '--with-logins');
      const there = at(service, copy);
      const users = await find(there, '_User', { where: { name: { $exists: true } } });
      const logIn = (username: unknown) => there.call('POST', '/platform/login', { as: 'apiKey', body: { username, password } });
      assert.equal(users.length, 2);
      for (const user of users) {
        assert.equal(user.username, user.email);
        assert.match(String(user.username), /@example\.com$/);
        assert.equal((await logIn(user.username)).status, 200);
        assert.equal((await logIn(String(user.email).toUpperCase())).status, 200);
      }
      assert.equal((await logIn('rosen@denmark.dk')).status, 404);
      const without = await clone(service, service.appId, 'Users-2', '--anonymise', await rulesIn(folder, rules));
      const [name] = (await find(at(service, without), '_User', { where: { name: { $exists: true } } })).map(
        (row) => row.username,
      );
      await done(service, ['user', 'set-password', String(name), '--system', 'Users-2', '--password', password]);
      const signIn = () =>
        at(service, without).call('POST', '/platform/login', { as: 'apiKey', body: { username: name, password } });
      await afterCommand(service, async () => assert.equal((await signIn()).status, 200));
      await remove(service, copy, without);
    });

    test('fields that seem to be about persons and have no rule are listed; --files copy takes the files', async () => {
      const { service, folder } = ground;
      const file = await rulesIn(folder, { Accounts: { Name: 'name', F_name: 'name' } });
      const copy = await clone(service, service.appId, 'Warned', '--anonymise', file, '--files', 'copy');
      assert.match(copy.output, /and 1 file of/);
      assert.match(copy.stderr, /^record-service: values taken as they are, without a rule: [^\n]+\n$/);
      const listed = copy.stderr.split('without a rule: ')[1]?.trim().split(', ') ?? [];
      for (const field of ['Accounts.L_name', 'Accounts.PhoneNumber', 'Accounts.Email', 'Accounts.CompanyId', 'Accounts.Address'])
        assert.ok(listed.includes(field), field);
      for (const field of [
        'Accounts.Comment',
        'Contacts.Mobile',
        'Contacts.FirstName',
        '_User.username',
        '_User.email',
        '_User.phone',
      ])
        assert.ok(listed.includes(field), field);
      // With a rule; without values; a status is no person.
      for (const field of ['Accounts.Name', 'Secrets.Email', 'Accounts.Fax', 'LeadStatuses.Name', 'Secrets.plain'])
        assert.ok(!listed.includes(field), field);
      const json = await run(service, ['system', 'clone', service.appId, '--as', 'Json', '--anonymise', file, '--json']);
      assert.deepEqual(JSON.parse(json.stdout).withoutRule, listed);
      await remove(service, copy, { ...copy, appId: 'Json' });
    });

    test('required fields, defaults and unique indexes stay, and hold for the new values', async () => {
      const { service, folder } = ground;
      const body = {
        className: 'Strict',
        fields: {
          Code: { type: 'String', required: true },
          Phone: { type: 'String' },
          Score: { type: 'Number', defaultValue: 7 },
        },
        uniqueIndexes: { byPhone: { fields: ['Phone'], as: 'phone' }, byCode: { fields: ['Code'], as: 'nocase' } },
      };
      const made = await service.call('POST', '/platform/schemas/Strict', { body });
      assert.equal(made.status, 200, made.text);
      const rows = Array.from({ length: 300 }, (_, n) => ({ Code: `Code ${n}`, Phone: `050-${1_000_000 + n}` }));
      await createMany(service, 'Strict', rows);
      const file = await rulesIn(folder, { Strict: { Code: 'name', Phone: 'phone', Score: 'digits' } });
      const copy = await clone(service, service.appId, 'Strict', '--anonymise', file);
      const there = at(service, copy);
      const schemaOf = async (of: Service) => (await of.call('GET', '/platform/schemas/Strict')).body;
      assert.deepEqual(await schemaOf(there), await schemaOf(service));
      const [first]: Json[] = await find(there, 'Strict');
      const send = async (row: Row) => (await there.call('POST', '/platform/classes/Strict', { body: row })).body.code;
      assert.equal(await send({ Code: 'new', Phone: `+972${first.Phone.replaceAll('-', '').slice(1)}` }), 137);
      assert.equal(await send({ Code: first.Code.toUpperCase() }), 137);
      assert.equal(await send({ Phone: '1' }), 142);
      const none = { Strict: { Code: 'remove' } };
      const clash = { Strict: { Phone: 'text' } };
      for (const [content, says] of [
        [none, /Strict\.Code is required: remove is not possible/],
        [clash, /Strict\.Phone must be unique: text may give two records one value; name, phone, email, digits do not/],
      ] as const)
        await refused(
          service,
          ['system', 'clone', service.appId, '--as', 'No', '--anonymise', await rulesIn(folder, content)],
          says,
        );
      await remove(service, copy);
    });

    test('a rule that fits nothing stops it before anything is made, and names the nearest', async () => {
      const { service, folder } = ground;
      const listed = await done(service, ['system', 'list']);
      for (const [content, says] of [
        [{ Acounts: { Name: 'name' } }, /--anonymise: there is no table Acounts \(perhaps Accounts\)$/m],
        [{ Nowhere: {} }, /there is no table Nowhere$/m],
        [{ Accounts: { PhonNumber: 'phone' } }, /Accounts has no field PhonNumber \(perhaps PhoneNumber\)$/m],
        [{ Accounts: { _phone_key: 'phone' } }, /Accounts has no field _phone_key/],
        [{ _User: { password: 'remove' } }, /_User has no field password/],
        [{ _TriggerQueue: { record: 'remove' } }, /there is no table _TriggerQueue/],
        [{ _Session: { user: 'remove' } }, /_Session takes no rules/],
        [{ _Role: { name: 'name' } }, /_Role takes no rules/],
        [{ Accounts: { Name: 'nmae' } }, /Accounts\.Name: there is no kind "nmae" \(perhaps name\); kinds are name, phone,/],
        [{ Accounts: { Name: 7 } }, /there is no kind 7/],
        [{ Accounts: { Name: null } }, /there is no kind null/],
        [{ Accounts: { createdAt: 'date' } }, /Accounts\.createdAt is a field of the service/],
        [{ Secrets: { flag: 'date' } }, /Secrets\.flag is of the type Boolean: date is not possible, remove are/],
        [{ Secrets: { born: 'text' } }, /Secrets\.born is of the type Date: text is not possible, date, remove are/],
        [{ Secrets: { words: 'date' } }, /Secrets\.words is of the type String: date is not possible/],
        [{ Secrets: { n: 'name' } }, /Secrets\.n is of the type Number: name is not possible, phone, digits, remove are/],
        [{ Accounts: { Comment: 'phone' } }, /Accounts\.Comment is of the type HTML\/XML: phone is not possible/],
        [{ Accounts: { StatusId: 'name' } }, /Accounts\.StatusId is of the type Pointer/],
        [{ _User: { username: 'remove' } }, /_User\.username is required: remove is not possible/],
        [{ _User: { username: 'text' } }, /_User\.username must be unique: text may give two records one value/],
        [{ _User: { email: 'digits' } }, /_User\.email holds e-mail addresses/],
        ['{"Accounts"', /it is no JSON/],
        ['[]', /it is no object: rules are/],
        ['{"Accounts":["Name"]}', /Accounts is no object/],
        ['{"__proto__":{"Name":"name"}}', /there is no table __proto__/],
        ['{"Accounts":{"__proto__":"name"}}', /Accounts has no field __proto__/],
      ] as const)
        await refused(
          service,
          ['system', 'clone', service.appId, '--as', 'No', '--anonymise', await rulesIn(folder, content)],
          says,
        );
      await refused(
        service,
        ['system', 'clone', service.appId, '--as', 'No', '--anonymise', join(folder, 'none')],
        /--anonymise: ENOENT/,
      );
      assert.equal(await done(service, ['system', 'list']), listed);
      // An empty set of rules changes nothing but what goes with it.
      const copy = await clone(service, service.appId, 'Empty', '--anonymise', await rulesIn(folder, {}));
      assert.deepEqual(
        (await find(at(service, copy), 'Accounts')).map(({ Name }) => Name),
        accounts.map(({ Name }) => Name),
      );
      await remove(service, copy);
    });
  });
