/** Values at the edges of every wire type, from pools small enough for records, operands and keys to match. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';
import { list, type Made, map, pick, pickWord, weighted } from './draw.ts';
import { MAIN, OTHER } from './request.ts';

/** A byte of the random part of file names, in hexadecimal. */
export const FILE_BYTE = 'a1';

const alike = pickWord(`a A b ab aB 1 1.0 -1 true null [1] {} " \\ o'k % a% a_b $a a.b \\u0000 \\Qa\\E p1 ${OTHER}$p1`);
const spaced = pick('', ' ', 'a b', ' a', '\n', '\t', '\u0001', '\u007f', 'a\nb', 'a\r\nb', '\ufeff', '\u2028');
const sentences = pick(
  'the quick brown fox',
  'Quick-Brown',
  "don't stop",
  'naïve café',
  'fox fox fox',
  '2024-02-29T12:00:00.000Z',
);
// Case, marks and width fold in different ways.
const letters = pickWord('é e\u0301 É ß İ i ı ς Σ ﬁ שלום Дом ǆ 한 \uffee 😀');
/** UTF-8 sorts it after all others, UTF-16 before some. */
const last = pick('\u{10ffff}');
// Words of a text index among them: FTS5 knows only the usual marks of Latin script, and treats unassigned code points as letters.
const random = fc.string({
  unit: fc.oneof(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }), letters),
  maxLength: 6,
});
const long = pick('long word '.repeat(400), 'x'.repeat(5000), 'ש '.repeat(3000));
export const text = weighted([40, alike], [10, spaced], [20, sentences], [30, letters], [2, last], [10, random], [1, long]);

const extremes = [-0, 1e308, -1e308, Number.MAX_VALUE, 5e-324, -5e-324, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e21, 1e20, 1e-7, 1e15];
const edges = [2 ** 31, 2 ** 63, -(2 ** 63), 2 ** 64, 2 ** 63 - 1024, 123456789012345680000, 1e16, 4.35, 2.5, 0.5, 1 / 3];
export const number = weighted(
  [4, pick(0, 1, -1, 2, 10, 1.5, -1.5, 0.1, 0.30000000000000004, 100)],
  [2, pick(...extremes, ...edges)],
  [1, fc.double({ noNaN: true, noDefaultInfinity: true })],
);
export const boolean: Made = fc.boolean();

const instants = pickWord(
  '1970-01-01T00:00:00.000Z 1969-12-31T23:59:59.999Z 2024-02-29T12:00:00.000Z 2024-02-29T12:00:00.001Z 0001-01-01T00:00:00.000Z' +
    ' 9999-12-31T23:59:59.999Z 0000-01-01T00:00:00Z 2024-02-29T14:00:00+02:00 2024-02-29T12:00:00Z 2024-02-29 2024-02-29T12:00' +
    ' 2024-02-29T12:00:00.123456789Z 1969-12-31T23:59:59.9999Z 2024-12-29T00:00:00Z',
);
export const date = instants.map((iso): Json => ({ __type: 'Date', iso }));

/** Ids of records that may exist; `gone` never does. */
export const otherId = pickWord('p1 p2 P1 p10 1 é gone');
export const mainId = pick('a', 'A', 'b', 'B', 'aa', '0', '1', 'z', '-1', 'é', '😀', '\uffee', 'a b', `"o'k\\`, 'gone');
export const pointerTo = (className: string, id: fc.Arbitrary<string>) =>
  id.map((objectId): Json => ({ __type: 'Pointer', className, objectId }));
export const pointer = fc.oneof(pointerTo(OTHER, otherId), pointerTo(MAIN, mainId), pointerTo('_User', pick('master', 'u1')));
/** Files that both services have, with the names that their uploads were given. */
export const files: readonly { fileName: string; name: string }[] = ['f1', 'f2', 'é x'].map((fileName, n) => ({
  fileName,
  name: `${FILE_BYTE.repeat(15)}0${n}_${encodeURIComponent(fileName)}`,
}));
const fileName = weighted([12, pick(...files.map(({ name }) => name))], [1, pick('never')]);
const file = fileName.map((name): Json => ({ __type: 'File', name, url: `http://h/${name}` }));

/** Keys inside Objects: some look like positions, some like reserved words. */
export const label = weighted(
  [4, pickWord('k n s list sub any')],
  [2, pick(' 1', 'a b', ...'0 1 -1 00 +1 9999999999 __x __type iso é"\\ length K \' % [0] *'.split(' '))],
);
export const scalar: Made = fc.oneof(text, number, boolean, date, pointer, fc.constant(null));
const { value: usual } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4, withCrossShrink: true },
    scalar,
    scalar,
    list(tie('value'), 3),
    map(label, tie('value'), 3) as Made,
  ),
}));
const nested = (levels: number, wrap: (inner: Json) => Json): Json => (levels === 0 ? 1 : wrap(nested(levels - 1, wrap)));
const deep = pick(95, 99, 100, 101).chain((levels) =>
  pick(
    nested(levels, (k) => ({ k })),
    nested(levels, (k) => [k]),
  ),
);
/** Any value that an Array or an Object may hold. */
export const anything = weighted([50, usual], [1, deep]);
export const array = list(weighted([3, scalar], [1, anything]), 4);
// `__type` at the top level would name a wire type.
const object = map(label, weighted([2, scalar], [1, anything]), 5).map(({ __type, ...rest }): Json => rest);

const members = (op: string): Made =>
  fc.array(pointerTo(OTHER, otherId), { maxLength: 3 }).map((objects): Json => ({ __op: op, objects }));
const memberChange = fc.oneof(members('AddRelation'), members('RemoveRelation'));
const relation = fc.oneof(
  memberChange,
  list(memberChange, 2).map((ops): Json => ({ __op: 'Batch', ops })),
);

interface Field {
  readonly type: string;
  readonly targetClass?: string;
  readonly of: Made;
}
/** The fields of the main table: every type, and names that differ only in case. */
export const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['s', { type: 'String', of: text }],
  ['S', { type: 'String', of: text }],
  ['h', { type: 'HTML/XML', of: text }],
  ['n', { type: 'Number', of: number }],
  ['m', { type: 'Number', of: number }],
  ['b', { type: 'Boolean', of: boolean }],
  ['d', { type: 'Date', of: date }],
  ['p', { type: 'Pointer', targetClass: OTHER, of: pointerTo(OTHER, otherId) }],
  ['q', { type: 'Pointer', targetClass: MAIN, of: pointerTo(MAIN, mainId) }],
  ['a', { type: 'Array', of: array }],
  ['l', { type: 'Array', of: list(pointer, 3) }],
  ['o', { type: 'Object', of: object }],
  ['f', { type: 'File', of: file }],
  ['r', { type: 'Relation', targetClass: OTHER, of: relation }],
]);
export const fieldName = pick(...fields.keys());

const rights = pick<Json>({}, { read: true }, { read: true, write: true }, { write: true }, { read: false });
/** Fields of a record of the main table. */
export const record = fc.record(
  { ...Object.fromEntries([...fields].map(([name, { of }]) => [name, of])), ACL: map(pickWord('* u1 u2 role:R'), rights, 2) },
  { requiredKeys: [] },
);
