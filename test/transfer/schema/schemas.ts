/** Helpers of the suites of schema as code: directories, the commands, and a system with some of everything. Reference: schema-as-code.md. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Run } from '../../edge/process.ts';
import { find, pointer, type Row } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { afterCommand } from '../../support/soon.ts';
import { addSystem, command, serviceOf, succeed } from '../../systems/cli.ts';

export type Json = any;

const directories: string[] = [];
after(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true }))));

/** A directory that is removed after the tests. */
export async function directoryForTest(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rds-schema-'));
  directories.push(directory);
  return directory;
}

/** Adds a system to a service, which then answers for it. */
export async function newSystem(service: Service): Promise<Service> {
  const system = serviceOf(service, await addSystem(service));
  await afterCommand(service, async () => assert.equal((await system.call('GET', '/platform/schemas/_User')).status, 200));
  return system;
}

/** Exports a system to a new directory. */
export async function exported(system: Service, ...args: string[]): Promise<string> {
  const directory = await directoryForTest();
  await succeed(system, 'schema', 'export', '--system', system.appId, '--to', directory, ...args);
  return directory;
}

export const diff = (system: Service, from: string, ...args: string[]): Promise<Run> =>
  command(system, 'schema', 'diff', '--system', system.appId, '--from', from, ...args);

export const apply = (system: Service, from: string, ...args: string[]): Promise<Run> =>
  command(system, 'schema', 'apply', '--system', system.appId, '--from', from, ...args);

/** Returns the lines of a diff. */
export async function changesOf(system: Service, from: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await diff(system, from, ...args);
  assert.ok(code === 0 || code === 2, stderr);
  const lines = stdout.trimEnd().split('\n');
  assert.equal(code === 0, lines.at(-1) === 'no changes', stdout);
  return code === 0 ? [] : lines;
}

/** Applies a directory, which has to succeed. @returns the lines of the changes */
export async function applied(system: Service, from: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await apply(system, from, ...args);
  assert.equal(code, 0, `${stdout}${stderr}`);
  return stdout.trimEnd().split('\n');
}

/** Asserts that a command fails with one line that matches, and returns it. */
export async function assertFails(run: Promise<Run>, says: RegExp): Promise<string> {
  const { code, stdout, stderr } = await run;
  assert.equal(code, 1, `${stdout}${stderr}`);
  assert.match(stderr, says);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  return stderr;
}

/** Returns the texts of all files of a directory by their names. */
export async function filesIn(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.json')).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const)),
  );
}

/** Changes a JSON file of a directory. */
export async function edit(directory: string, name: string, change: (body: Json) => unknown): Promise<void> {
  const path = join(directory, name);
  const body = JSON.parse(await readFile(path, 'utf8').catch(() => '{}'));
  await writeFile(path, `${JSON.stringify(change(body) ?? body, null, 2)}\n`);
}

async function ok(system: Service, method: string, path: string, body: unknown): Promise<Json> {
  const answer = await system.call(method, `/platform/${path}`, { body });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.body;
}

/** Gives a system some of everything that a snapshot describes. */
export async function fillSchema(system: Service): Promise<void> {
  const grants = { 'role:Sales': true, 'role:Dispatcher': true };
  await ok(system, 'POST', 'schemas/Visits', {
    fields: {
      Name: { type: 'String' },
      Notes: { type: 'HTML/XML' },
      Minutes: { type: 'Number' },
      Done: { type: 'Boolean' },
      At: { type: 'Date' },
      AccountId: { type: 'Pointer', targetClass: 'Accounts' },
      VisitorId: { type: 'Pointer', targetClass: '_User' },
      Guests: { type: 'Relation', targetClass: 'Contacts' },
      Photo: { type: 'File' },
      Report: { type: 'PrivateFile' },
      Labels: { type: 'Array' },
      Extra: { type: 'Object' },
    },
    classLevelPermissions: {
      ...{ find: grants, get: { '*': true }, create: { requiresAuthentication: true } },
      ...{ protectedFields: { '*': ['Notes'] }, readUserFields: ['VisitorId'] },
    },
    indexes: { byDay: { At: -1, AccountId: 1 }, byName: { Name: 1 } },
    textIndex: ['Name', 'Notes'],
    timeline: { displayFields: { Name: true, At: true }, index: { AccountId: true } },
  });
  await ok(system, 'PUT', 'schemas/Accounts', { fields: { Score: { type: 'Number' } }, indexes: { byScore: { Score: 1 } } });
  await ok(system, 'PUT', 'schemas/_User', { fields: { Nickname: { type: 'String' } } });
  const role = await ok(system, 'POST', 'roles', { name: 'Dispatcher', ACL: { 'role:Admin': { read: true, write: true } } });
  const [sales] = await find(system, '_Role', { where: { name: 'Sales' } });
  await ok(system, 'PUT', `roles/${sales?.objectId}`, {
    roles: { __op: 'AddRelation', objects: [pointer('_Role', role.objectId)] },
  });
  await ok(system, 'POST', 'classes/_Dictionary', { tblName: 'Visits', value: 'ביקורים' });
  await ok(system, 'POST', 'classes/_Dictionary', { tblName: 'Visits', field: 'Name', value: 'שם הביקור' });
  await ok(system, 'POST', 'classes/_Dictionary', { tblName: '_Terminology', field: 'Sales', value: 'Projects' });
  const [status] = await find(system, 'LeadStatuses', { order: 'Name' });
  await ok(system, 'POST', 'classes/_Trigger', triggerOf(String(status?.objectId)));
  await ok(system, 'POST', 'classes/_DynamicQueries', {
    Name: 'Open visits',
    table: 'Visits',
    keys: ['Name', 'At'],
    where: { Done: { $ne: true }, At: { $gte: { $relativeTime: 'now' } } },
    order: '-At',
    groupBy: [],
    Shared: true,
    ACL: { '*': { read: true } },
  });
  await ok(system, 'POST', 'classes/Config', { Name: 'AcceptWebToTable', Value: { AcceptWebToTable: true } });
  await ok(system, 'POST', 'classes/Config', { Name: 'TimeZone', Value: { TimeZone: 'Asia/Jerusalem' } });
  await ok(system, 'POST', 'classes/Config', { Name: 'Gateway', Value: { Gateway: true, password: 'not in any snapshot' } });
}

const triggerOf = (statusId: string): Row => ({
  Name: 'Visit new leads',
  table: 'Accounts',
  events: ['create', 'update'],
  criteria: { LeadStatusId: pointer('LeadStatuses', statusId), Score: { $gt: 3 } },
  changedFields: ['Score'],
  actions: [
    { type: 'create-object', actionData: { table: 'Visits', fields: { Name: '{{Name}}', Done: false } } },
    { type: 'notification', Active: false, actionData: { user: 'OwnerId', content: 'Go and see {{Name}}' } },
  ],
});
