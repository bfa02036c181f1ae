/** `record-service types` and types that openapi-typescript makes compile; wrong code does not. Reference: openapi.md#typescript-types. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { runCommand } from '../support/hosts/run-command.ts';
import { create, defineTable } from '../support/query.ts';
import type { Service } from '../support/service.ts';
import { command, succeed } from '../systems/cli.ts';
import { describedService, directory as functions, requested } from './described.ts';

const tables = 'Accounts,Tasks,_User,_Role,Visits';

/** Code that has to compile. */
const right = [
  `const a: AccountsCreate = { Name: 'Dana', IsAccount: true, OwnerId: user, array_languages_Pointer_Languages: [], dontRunPlatformTriggers: true };`,
  `const a: Schema['Visits']['create'] = { Email: 'a@example.com', When: { __type: 'Date', iso: '2026-01-31' }, Details: { Floor: 1 } };`,
  `const a: VisitsUpdate = { Total: { __op: 'Increment', amount: -1 }, Tags: { __op: 'AddUnique', objects: ['vip'] }, When: null };`,
  `const a: VisitsUpdate = { 'Details.Floor': 3, 'Tags.0': { __op: 'Delete' }, All: { __op: 'AddRelation', objects: [user] } };`,
  `const a: VisitsWhere = { Total: { $gte: 90, $ne: null }, $or: [{ Email: { $regex: '^a', $options: 'i' } }, { Tags: 'vip' }] };`,
  `const a: VisitsWhere = { When: { $gt: { $relativeTime: '3 days ago' } }, createdAt: { $lt: { __type: 'Date', iso: '2026-01-31' } } };`,
  `const a: VisitsWhere = { 'AccountId.City': { $in: ['Haifa', null] }, 'AccountId.OwnerId.name': 'Dana', 'Details.Floor': { $gt: 2 } };`,
  `const a: VisitsWhere = { AccountId: { $inQuery: { className: 'Accounts', where: { City: 'Haifa' } } }, All: user };`,
  `const a: AccountsWhere = { objectId: { $notInQuery: { className: 'Visits', key: 'AccountId', where: { Total: 1 } } } };`,
  `const a: number | undefined = visit.Total; const b: string = visit.Email; const c: '_User' = visit.All.className; const d: string = visit.createdAt;`,
  `const a: Acl = visit.ACL; const b: boolean | undefined = a['*']?.read; const c: Pointer<'Accounts'> | undefined = visit.AccountId;`,
  `const a: Schema[keyof Schema]['where'] = {};`,
];

/** Code that must not compile. */
const wrong = [
  `const a: AccountsCreate = { Nam: 'Dana' };`,
  `const a: AccountsCreate = { Name: 1 };`,
  `const a: AccountsCreate = { OwnerId: { __type: 'Pointer', className: 'Tasks', objectId: 'x' } };`,
  `const a: VisitsCreate = { Total: 1 };`,
  `const a: VisitsCreate = { Email: 'x', When: '2026-01-31' };`,
  `const a: VisitsUpdate = { Email: null };`,
  `const a: VisitsUpdate = { Email: { __op: 'Delete' } };`,
  `const a: VisitsUpdate = { Email: { __op: 'Increment', amount: 1 } };`,
  `const a: VisitsUpdate = { Tags: { __op: 'AddRelation', objects: [user] } };`,
  `const a: VisitsUpdate = { 'Total.x': 1 };`,
  `const a: VisitsWhere = { Totl: 1 };`,
  `const a: VisitsWhere = { Total: { $gte: '90' } };`,
  `const a: VisitsWhere = { Total: { $regex: 'x' } };`,
  `const a: VisitsWhere = { Total: { $above: 1 } };`,
  `const a: VisitsWhere = { $or: [{ Totl: 1 }] };`,
  `const a: VisitsWhere = { 'AccountId.Citi': 'Haifa' };`,
  `const a: VisitsWhere = { AccountId: { $inQuery: { className: 'Accounts', where: { Citi: 'Haifa' } } } };`,
  `const a: VisitsWhere = { AccountId: 'x' };`,
  `const a: string = user1.password;`,
  `const a: Schema['Nowhere'] = undefined as never;`,
];

const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  allowImportingTsExtensions: true,
  types: [],
};

/** Compiles files. @returns the lines of the file `use` with errors, and errors of other files */
function errorsOf(files: readonly string[], use = ''): { lines: Set<number>; others: string[] } {
  const lines = new Set<number>();
  const others: string[] = [];
  for (const { file, start = 0, messageText } of ts.getPreEmitDiagnostics(ts.createProgram([...files], options))) {
    if (file && file.fileName === use) lines.add(file.getLineAndCharacterOfPosition(start).line);
    else others.push(`${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  }
  return { lines, others };
}

describe('types', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-types-'));
  const declared = join(directory, 'crm.d.ts');
  let service: Service;
  after(() => rmSync(directory, { recursive: true }));
  before(async () => {
    service = await describedService();
    const fields = {
      Total: 'Number',
      When: 'Date',
      Tags: 'Array',
      Details: 'Object',
      AccountId: 'Pointer:Accounts',
      All: 'Relation:_User',
    };
    await defineTable(service, 'Visits', fields);
    const body = { fields: { Email: { type: 'String', required: true } } };
    assert.equal((await service.call('PUT', '/platform/schemas/Visits', { body })).status, 200);
    await create(service, '_Dictionary', { tblName: 'Visits', field: 'When', value: 'מועד */ export const stolen = 1;' });
    const out = await succeed(service, 'types', '--system', service.appId, '--tables', tables, '--out', declared);
    assert.equal(out, '');
  });

  test('each type takes what the service takes, and nothing else', () => {
    const use = join(directory, 'use.ts');
    const head =
      `import type { AccountsCreate, AccountsWhere, Acl, Pointer, Schema, VisitsCreate, VisitsRecord, VisitsUpdate, VisitsWhere, _UserRecord } from './crm.d.ts';` +
      ` declare const visit: VisitsRecord; declare const user1: _UserRecord; declare const user: Pointer<'_User'>;`;
    const pieces = [...right, ...wrong];
    writeFileSync(use, [head, ...pieces.map((piece) => `{ ${piece} }`)].join('\n'));
    const { lines, others } = errorsOf([use], use);
    assert.deepEqual(others, []);
    assert.deepEqual(
      pieces.filter((_, index) => lines.has(index + 1) !== index >= right.length),
      [],
    );
  });

  test('labels are comments; the output is the same each time, also on standard output', async () => {
    const text = readFileSync(declared, 'utf8');
    assert.match(text, /\/\*\* מועד \*\\\/ export const stolen = 1; \*\/\n {2}When\?: DateValue;/);
    assert.equal(await succeed(service, 'types', '--system', service.appId, '--tables', tables), text);
  });

  test('the command prints what openapi.json answers', async () => {
    const args = ['openapi', '--system', service.appId, '--tables', 'Tags,Tasks'];
    const env = { ...service.settings, FUNCTIONS_DIR: functions, BASE_URL: service.url };
    const { code, stdout, stderr } = await runCommand(args, env, service.dataDir);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), (await requested(service, 'Tags,Tasks')).body);
  });

  test('wrong arguments are one line', async () => {
    for (const [args, line] of [
      [['types', '--system', service.appId, '--tables', 'Nowhere'], 'record-service: Class Nowhere does not exist.'],
      [['openapi', '--system', service.appId, '--tables', 'Nowhere'], 'record-service: Class Nowhere does not exist.'],
      [['openapi', '--system', 'nobody'], 'record-service: there is no system "nobody"'],
      [['types', '--system', service.appId, '--out', join(directory, 'none/x')], 'record-service: --out: ENOENT'],
    ] as const) {
      const { code, stdout, stderr } = await command(service, ...args);
      assert.deepEqual([code, stdout], [1, ''], args.join(' '));
      assert.match(stderr, new RegExp(`^${line}[^\\n]*\\n$`), args.join(' '));
    }
  });

  test('openapi-typescript makes types of openapi.json that compile', async () => {
    const { body } = await requested(service, tables);
    const made = join(directory, 'made.d.ts');
    writeFileSync(made, astToString(await openapiTypescript(body)));
    const use = join(directory, 'use-made.ts');
    const lines = [
      `import type { components } from './made.d.ts';`,
      `export const right: components['schemas']['VisitsCreate'] = { Email: 'x', Total: 1 };`,
      `export const wrong: components['schemas']['VisitsCreate'] = { Email: 'x', Total: '1' };`,
      `export const where: components['schemas']['VisitsWhere'] = { Total: { $gt: 1, $not: { $gt: 5 } }, createdAt: null };`,
    ];
    writeFileSync(use, lines.join('\n'));
    assert.deepEqual(errorsOf([use], use), { lines: new Set([2]), others: [] });
  });
});
