import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { layerViolations } from './layers.ts';

/** A tree of sources: path → text. */
type Tree = Record<string, string>;

const cases: { title: string; tree: Tree; expected: RegExp[] }[] = [
  {
    title: 'a tree that keeps the rule',
    tree: {
      'src/kernel/ids.ts': 'export const id = 1;',
      'src/records/read.ts': "import { id } from '../kernel/ids.ts';\nexport const read = id;",
      'src/users/index.ts': "import { read } from '../records/read.ts';\nexport const user = read;",
      'src/mail/send.ts': "import { user } from '../users/index.ts';\nexport const send = user;",
      'src/storage/sqlite/engine.ts': "import { DatabaseSync } from 'node:sqlite';\nexport const engine = DatabaseSync;",
      'src/app.ts': "import { engine } from './storage/sqlite/engine.ts';\nimport './mail/send.ts';\nexport const app = engine;",
      'src/main.ts': "import { app } from './app.ts';\nconsole.log(app);",
    },
    expected: [],
  },
  {
    title: 'a lower layer that imports a higher one, as a type',
    tree: {
      'src/kernel/ids.ts': "import type { R } from '../records/read.ts';\nexport type Id = R;",
      'src/records/read.ts': 'export type R = string;',
    },
    expected: [/^layer-kernel: src\/kernel\/ids.ts -> src\/records\/read.ts$/],
  },
  {
    title: 'an engine constructed outside app.ts',
    tree: {
      'src/records/read.ts': "export { engine } from '../storage/sqlite/engine.ts';",
      'src/storage/sqlite/engine.ts': 'export const engine = 1;',
    },
    expected: [/^layer-records: /],
  },
  {
    title: 'services that meet elsewhere than in index.ts',
    tree: {
      'src/mail/send.ts': "import { hash } from '../users/password.ts';\nexport const send = hash;",
      'src/users/password.ts': 'export const hash = 1;',
    },
    expected: [/^layer-mail: /],
  },
  {
    title: 'faces of the service that import each other, by a dynamic import',
    tree: { 'src/http/server.ts': "await import('../cli/print.ts');", 'src/cli/print.ts': 'export {};' },
    expected: [/^layer-http: /],
  },
  {
    title: 'drivers and the framework in the wrong folder',
    tree: {
      'src/records/a.ts': "import 'node:sqlite';",
      'src/storage/sqlite/b.ts': "import 'pg';",
      'src/users/c.ts': "import type { FastifyInstance } from 'fastify';\nexport type F = FastifyInstance;",
    },
    expected: [/^sqlite-driver: .*a.ts/, /^postgres-driver: .*b.ts/, /^http-framework: .*c.ts/],
  },
  {
    title: 'sources that import tests',
    tree: { 'src/kernel/a.ts': "import '../../test/support/b.ts';", 'test/support/b.ts': 'export {};' },
    expected: [/^sources-stand-alone: /],
  },
  {
    title: 'a source that imports a fixture of unit tests',
    tree: {
      'src/query/where.ts': "export { table } from './testing/fixture.ts';",
      'src/query/testing/fixture.ts': 'export const table = 1;',
    },
    expected: [/^no-tests-in-sources: /],
  },
  {
    title: 'a cycle of code',
    tree: {
      'src/kernel/a.ts': "import { b } from './b.ts';\nexport const a = () => b;",
      'src/kernel/b.ts': "import { a } from './a.ts';\nexport const b = () => a;",
    },
    expected: [/^no-cycles: /],
  },
  {
    title: 'folders of a layer that import each other, one of them a type',
    tree: {
      'src/audit/rows.ts': "import { a } from './log/a.ts';\nexport type Row = typeof a;",
      'src/audit/log/a.ts': "import { b } from './b.ts';\nexport const a = b;",
      'src/audit/log/b.ts': "import type { Row } from '../rows.ts';\nexport const b = (row: Row) => row;",
    },
    expected: [/^folders-in-order: src\/audit <-> src\/audit\/log$/],
  },
  {
    title: 'folders that import each other through a third',
    tree: {
      'src/audit/a/one.ts': "import { b } from '../b/one.ts';\nexport const a = b;",
      'src/audit/a/two.ts': 'export const two = 2;',
      'src/audit/b/one.ts': "import { c } from '../c/one.ts';\nexport const b = c;",
      'src/audit/b/two.ts': 'export const two = 2;',
      'src/audit/c/one.ts': "import { two } from '../a/two.ts';\nexport const c = two;",
      'src/audit/c/two.ts': 'export const two = 2;',
    },
    expected: [/^folders-in-order: src\/audit\/a -> src\/audit\/b -> src\/audit\/c -> src\/audit\/a$/],
  },
  {
    title: 'a folder with a single file, but for its tests',
    tree: {
      'src/audit/rows.ts': "import { a } from './log/a.ts';\nexport const row = a;",
      'src/audit/log/a.ts': 'export const a = 1;',
      'src/audit/log/a.test.ts': "import { a } from './a.ts';\nexport const b = a;",
    },
    expected: [/^folder-of-one-file: src\/audit\/log$/],
  },
  {
    title: 'types that refer to each other',
    tree: {
      'src/kernel/a.ts': "import type { B } from './b.ts';\nexport type A = { b: B };",
      'src/kernel/b.ts': "import type { A } from './a.ts';\nexport type B = { a: A };",
    },
    expected: [],
  },
  {
    title: 'a folder without a place',
    tree: { 'src/misc/a.ts': 'export {};' },
    expected: [/^no layer: src\/misc\/a.ts/],
  },
];

describe('the layer rule', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'layers-'));
  });
  after(() => rm(directory, { recursive: true }));

  for (const [index, { title, tree, expected }] of cases.entries()) {
    it(title, async () => {
      const base = join(directory, String(index));
      for (const [path, text] of Object.entries(tree)) {
        await mkdir(dirname(join(base, path)), { recursive: true });
        await writeFile(join(base, path), text);
      }
      const found = (await layerViolations(base)).filter((line) => !line.startsWith('no-unresolvable'));
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const pattern of expected)
        assert.ok(
          found.some((line) => pattern.test(line)),
          `${pattern}\n${found.join('\n')}`,
        );
    });
  }
});
