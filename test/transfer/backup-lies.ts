/** Archives that are well-formed but inconsistent, which a restore has to refuse. */
import { type Manifest, type Member, manifestOf, member, partOf } from './backups.ts';

/** A description, the archive, and the expected refusal. */
export type Lie = readonly [what: string, members: readonly Member[], says: RegExp];

type Row = unknown[];
const rowsName = 'rows/Lies.ndjson';
/** Form of a file's id: 32 hexadecimal characters. */
const someId = 'ab'.repeat(16);

/** Makes false variants of an archive. */
class Forger {
  readonly manifest: Manifest;
  readonly rest: readonly Member[];
  readonly rows: readonly Row[];
  readonly columns: readonly string[];

  constructor(members: readonly Member[]) {
    this.manifest = manifestOf(members);
    this.rest = members.slice(1);
    this.rows = String(this.of(rowsName).bytes)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const first = this.rows[0] ?? [];
    // Columns are identified by the values of the first row.
    this.columns = first.map(String);
  }

  of(name: string): Member {
    const found = this.rest.find((one) => one.name === name);
    if (!found) throw new Error(`there is no ${name}`);
    return found;
  }

  /** Changes the manifest only. */
  said(change: Record<string, unknown>): Member[] {
    return [member('manifest.json', { ...this.manifest, ...change }), ...this.rest];
  }

  /** Changes what the manifest says of one part. */
  saidOf(name: string, change: Record<string, unknown>): Member[] {
    return this.said({ parts: this.manifest.parts.map((part) => (part.name === name ? { ...part, ...change } : part)) });
  }

  /** Changes the members, with a manifest that agrees with them. */
  true(rest: readonly Member[], change: Record<string, unknown> = {}): Member[] {
    const parts = rest.map((one) => (this.rest.includes(one) ? this.manifest.parts[this.rest.indexOf(one)] : partOf(one)));
    return [member('manifest.json', { ...this.manifest, ...change, parts }), ...rest];
  }

  /** Replaces the content of one part, with a manifest that agrees. */
  with(name: string, value: unknown): Member[] {
    return this.true(this.rest.map((one) => (one.name === name ? member(name, value) : one)));
  }

  /** Replaces a value in the first row. */
  withValue(old: unknown, value: unknown): Member[] {
    const at = this.columns.indexOf(String(old));
    if (at < 0) throw new Error(`there is no ${old} in ${this.columns}`);
    const [first = [], ...others] = this.rows;
    return this.withRows([first.with(at, value), ...others]);
  }

  withRows(rows: readonly unknown[]): Member[] {
    return this.with(rowsName, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  }

  /** Changes the list of schema changes. */
  withSchema(change: (changes: Record<string, unknown>[]) => unknown): Member[] {
    return this.with('schema.json', change(JSON.parse(String(this.of('schema.json').bytes))));
  }

  withTable(className: unknown, fields: unknown = []): Member[] {
    return this.withSchema((changes) => [...changes, { kind: 'createTable', className, fields }]);
  }
}

const kept = new Set(['Lies', '_StoredFile', '_User']);

/** Reduces an archive to a few tables, because a restore of all tables takes long. */
export function shortened(members: readonly Member[]): Member[] {
  const [manifest, ...rest] = members.flatMap((one): Member[] => {
    const [, table = 'Lies'] = /^(?:rows|members)\/(\w+)/.exec(one.name) ?? [];
    if (!kept.has(table)) return [];
    if (one.name !== 'schema.json') return [one];
    const changes = JSON.parse(String(one.bytes)) as { className?: string }[];
    return [
      member(
        one.name,
        changes.filter(({ className }) => className === undefined || kept.has(className)),
      ),
    ];
  });
  return [member('manifest.json', { ...JSON.parse(String(manifest?.bytes)), parts: rest.map(partOf) }), ...rest];
}

/**
 * Returns false variants of a backup of a system with a table `Lies`. Its first record has `n` 11.5, `s` "text", `b` true, `o` {"a":1}, `list` [1], a date and a file.
 */
export function liesAbout(members: readonly Member[]): Lie[] {
  const forger = new Forger(shortened(members));
  const { rest, rows } = forger;
  const whole = forger.said({});
  const without = (...names: string[]) => rest.filter(({ name }) => !names.includes(name));
  const file = rest.find(({ name }) => name.startsWith('files/')) as Member;
  const [first = [], second = []] = rows;
  const registry = JSON.parse(String(forger.of('registry.json').bytes));
  const notFirst = /no backup of this service/;
  const damaged = /manifest.json is damaged, or the file is no backup/;
  const record = /rows\/Lies[.]ndjson: a line of it is no record/;
  const notTaken = /rows\/Lies[.]ndjson/;
  const schema = /schema[.]json makes no schema/;
  const table = /schema[.]json makes no schema|the engine cannot take a table/;
  const is = (className: string) => (one: Record<string, unknown>) => one.kind === 'createTable' && one.className === className;
  return [
    [
      'a later format',
      forger.said({ format: 2, version: '9.9.9' }),
      /version 9[.]9[.]9 of the service \(format 2\).*reads format 1/,
    ],
    ['an old format', forger.said({ format: 0 }), damaged],
    ['a format that is a text', forger.said({ format: '1' }), damaged],
    ['an engine that there is not', forger.said({ engine: 'oracle' }), damaged],
    ['parts that are none', forger.said({ parts: { a: 1 } }), damaged],
    ['a part without a checksum', forger.saidOf(rowsName, { sha256: null }), damaged],
    ['a part of fewer than no bytes', forger.saidOf(rowsName, { bytes: -1 }), damaged],
    ['no JSON', [member('manifest.json', '{"format":1'), ...rest], damaged],
    ['null', [member('manifest.json', 'null'), ...rest], damaged],
    ['a list', [member('manifest.json', '[1]'), ...rest], damaged],
    ['the manifest last', [...rest, whole[0] as Member], notFirst],
    ['no manifest', rest, notFirst],
    ['nothing', [], notFirst],
    ['more records', forger.saidOf(rowsName, { count: 5 }), /Lies: ends after 3 of 5 records/],
    ['fewer records', forger.saidOf(rowsName, { count: 2 }), /Lies: ends after 3 of 2 records/],
    ['more bytes', forger.saidOf('schema.json', { bytes: 1e12 }), /schema[.]json|no room/],
    ['fewer bytes', forger.saidOf(file.name, { bytes: 1 }), /files\//],
    ['another checksum', forger.saidOf(file.name, { sha256: '0'.repeat(64) }), /files\/.*checksum/],
    [
      'a part that is not there',
      forger.said({ parts: [...forger.manifest.parts, partOf(member('rows/More.ndjson', ''))] }),
      /rows\/More/,
    ],
    ['a part that it does not know', [...whole, member('more', 'x')], /"more"/],
    ['two parts in another order', [...whole.slice(0, 2), ...whole.slice(2).toReversed()], /is not in it/],
    ['a part twice', forger.true([...rest, forger.of(rowsName)]), damaged],
    ['a file twice', forger.true([...rest, file]), damaged],
    ['a schema twice', forger.true([...rest.slice(0, 1), ...rest]), damaged],
    ['a registry twice', forger.true([...rest, forger.of('registry.json')]), damaged],
    ['no schema', forger.true(without('schema.json')), /schema|no table/],
    ['no registry', forger.true(without('registry.json')), /registry[.]json/],
    ['no rows of a table', forger.true(without(rowsName)), /rows\/Lies[.]ndjson is not in the backup/],
    ['the schema after the rows', forger.true([...rest.slice(1), rest[0] as Member]), /no table of its schema/],
    ['rows of no table', forger.true([...rest, member('rows/Other.ndjson', '')]), /rows\/Other[.]ndjson is of no table/],
    ['a way out of the folder', forger.true([...rest, member('files/../../../../evil', 'x')]), /evil/],
    ['a way from the root', forger.true([...rest, member('/tmp/evil', 'x')]), /evil/],
    ['a way out of the rows', forger.true([...rest, member('rows/../../evil.ndjson', '')]), /evil/],
    ['a file of an odd name', forger.true([...rest, member(`files/${someId}.txt`, 'x')]), /files\//],
    ['a line that is no JSON', forger.withRows([first, 'nothing']), record],
    ['a line that is an object', forger.withRows([first, { a: 1 }]), record],
    ['an empty line', forger.withRows([first, '']), record],
    ['a short row', forger.withRows([first.slice(0, -1)]), record],
    ['a long row', forger.withRows([[...first, 1]]), record],
    ['a place that is a text', forger.withRows([first.with(0, '1')]), record],
    ['a place that is no whole number', forger.withRows([first.with(0, 1.5)]), record],
    ['a value that is an object', forger.withValue('text', { a: 1 }), record],
    ['a value that is a Boolean', forger.withValue('text', true), record],
    ['a place twice', forger.withRows([first, second.with(0, first[0])]), notTaken],
    ['places that go back', forger.withRows([second, first]), notTaken],
    ['a record twice', forger.withRows([first, [second[0], ...first.slice(1)]]), notTaken],
    ['a record without an id', forger.withValue(first[1], null), notTaken],
    ['a number for a text', forger.withValue('text', 5), notTaken],
    ['a text for a number', forger.withValue(11.5, 'eleven'), notTaken],
    ['a number that is none', forger.withRows([JSON.stringify(first).replace('11.5', '1e999')]), notTaken],
    ['a text for a date', forger.withValue(1704067200000, 'today'), notTaken],
    ['a number for a Boolean', forger.withValue(1, 7), notTaken],
    ['no JSON for an Object', forger.withValue('{"a":1}', '{"a":'), notTaken],
    ['no list for an Array', forger.withValue('[1]', 'x'), notTaken],
    ['half a character', forger.withRows([JSON.stringify(first).replace('"text"', '"\\ud800"')]), notTaken],
    ['a member that is no pair', forger.with('members/Lies.all.ndjson', '["a"]\n'), /members\/Lies[.]all/],
    ['a member twice', forger.with('members/Lies.all.ndjson', '["a","b"]\n["a","b"]\n'), /members\/Lies[.]all/],
    ['members that go back', forger.with('members/Lies.all.ndjson', '["b","b"]\n["a","b"]\n'), /members\/Lies[.]all/],
    ['a schema that is no list', forger.with('schema.json', '{}'), schema],
    ['a schema that is no JSON', forger.with('schema.json', '[{'), schema],
    ['a table of a hostile name', forger.withTable('x" (a); DROP TABLE "t_Lies'), schema],
    ['a table of a long name', forger.withTable('x'.repeat(200)), schema],
    ['a table without a name', forger.withTable(''), schema],
    ['a table twice', forger.withTable('Lies'), schema],
    ['a hostile field', forger.withTable('More', [{ name: 'a", b', type: 'String' }]), schema],
    [
      'a field twice',
      forger.withTable(
        'More',
        ['a', 'a'].map((name) => ({ name, type: 'String' })),
      ),
      schema,
    ],
    ['a field that every table has', forger.withTable('More', [{ name: 'objectId', type: 'Number' }]), schema],
    ['a type that there is not', forger.withTable('More', [{ name: 'a', type: 'Geo' }]), schema],
    ['a Pointer at nothing', forger.withTable('More', [{ name: 'a', type: 'Pointer' }]), table],
    ['a table that rows are missing of', forger.withTable('More'), /rows\/More[.]ndjson is not in the backup/],
    [
      'an index of no field',
      forger.withSchema((changes) => [
        ...changes,
        { kind: 'setIndex', className: 'Lies', index: { name: 'x', keys: [['nothing', 1]] } },
      ]),
      table,
    ],
    [
      'an index of a Relation',
      forger.withSchema((changes) => [
        ...changes,
        { kind: 'setIndex', className: 'Lies', index: { name: 'x', keys: [['all', 1]] } },
      ]),
      schema,
    ],
    [
      'a text index of no field',
      forger.withSchema((changes) => [...changes, { kind: 'setTextIndex', className: 'Lies', fields: ['nothing'] }]),
      table,
    ],
    [
      'no table of users',
      forger.withSchema((changes) => changes.filter((one) => !is('_User')(one) && one.className !== '_User')),
      /_User|schema/,
    ],
    [
      'a change that there is not',
      forger.withSchema((changes) => [...changes, { kind: 'dropTable', className: 'Lies' }]),
      schema,
    ],
    ['a registry of another', forger.with('registry.json', { ...registry, appId: 'another' }), /registry[.]json/],
    ['a registry without a salt', forger.with('registry.json', { ...registry, salt: '' }), /registry[.]json/],
    [
      'a key of no name',
      forger.with('registry.json', { ...registry, keys: [{ name: '', hash: 'x', createdAt: 1 }] }),
      /registry[.]json/,
    ],
    ['a key twice', forger.with('registry.json', { ...registry, keys: [...registry.keys, ...registry.keys] }), /registry[.]json/],
    ['no registry but a list', forger.with('registry.json', '[]'), /registry[.]json/],
  ];
}
