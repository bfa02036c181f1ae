/** The types of the client: right code compiles, wrong code does not (client.md#types-of-the-client). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedService } from '../support/shared.ts';
import { succeed } from '../systems/cli.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the compiler; returns its exit code and what it reports. */
async function compile(...options: string[]) {
  const args = ['node_modules/@typescript/native/bin/tsc', '--noEmit', ...options];
  const { code = 0, stdout } = await promisify(execFile)(process.execPath, args, { cwd: root }).catch((error) => error);
  return [code, stdout];
}

/** A program for the tables of a new system. */
const program = `
import { client, date, pointer } from '${root}client/src/index.ts';
import type { Schema } from './crm.d.ts';
const crm = client<Schema>({ url: 'http://127.0.0.1:8080', appId: 'APP', apiKey: 'key' });
const user = pointer('_User', 'id');
const { results } = await crm.Accounts.find({
  where: { City: 'Haifa', 'OwnerId.username': 'dana', OwnerId: { $in: [user] } },
  include: ['OwnerId'],
  order: ['-createdAt', 'OwnerId.name'],
});
const username: string | undefined = results[0]?.OwnerId?.username;
const task = await crm.Tasks.get('id', { include: ['AccountId.OwnerId'], keys: ['Name', 'AccountId.Name'] });
const names: (string | undefined)[] = [task.Name, task.AccountId?.Name, task.AccountId?.OwnerId?.username];
await crm.Accounts.create({ Name: 'Dana', Birthday: date('1990-01-31'), OwnerId: user });
await crm.Accounts.update('id', { F_name: null, Birthday: { __op: 'Delete' } }, { ifMatch: results[0] ?? '*' });
await crm.Tasks.find({ where: { AccountId: { $inQuery: { className: 'Accounts', where: { City: 'Haifa' } } } } });
const [made] = await crm.transaction((items) => [items.Accounts.create({ Name: 'Dana' })]);
for await (const { Name } of crm.Accounts.all({ where: { IsAccount: true }, keys: ['Name'] })) names.push(Name);
const me = await crm.users.logIn({ username: 'dana', password: 'secret' });
await crm.users.signUp({ username: 'dana', password: 'secret' });
await crm.Notes.update(made.objectId, { File: await crm.files.upload('a.txt', 'a') });
export const all: unknown[] = [username, names, me.username];
// @ts-expect-error no such field
await crm.Accounts.create({ Name: 'Dana', NoSuch: 1 });
// @ts-expect-error no such field
await crm.Accounts.find({ keys: ['Nmae'] });
// @ts-expect-error a Pointer to another table
await crm.Tasks.update('id', { AccountId: user });
// @ts-expect-error no such field behind the Pointer
await crm.Tasks.find({ where: { 'AccountId.Ctiy': 'Haifa' } });
`;

test('the client has the version of the service', () => {
  const [own, service] = ['client/package.json', 'package.json'].map((file) =>
    JSON.parse(readFileSync(join(root, file), 'utf8')),
  );
  assert.equal(own.version, service.version);
});

test('typed code compiles, for browsers too; each wrong table, field, type and option is an error', async () => {
  assert.deepEqual(await compile('--project', 'client'), [0, '']);
});

test('the client takes the types that record-service types writes for a whole system', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-client-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const service = await sharedService('sqlite');
  await succeed(service, 'types', '--system', service.appId, '--out', join(directory, 'crm.d.ts'));
  writeFileSync(join(directory, 'use.mts'), program);
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--allowImportingTsExtensions'];
  const target = ['--target', 'es2022', '--lib', 'es2022,dom', '--module', 'nodenext', '--moduleDetection', 'force'];
  const found = await compile('--ignoreConfig', ...options, ...target, '--typeRoots', directory, join(directory, 'use.mts'));
  assert.deepEqual(found, [0, '']);
});
